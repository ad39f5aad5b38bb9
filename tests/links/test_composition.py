"""Moving, mounting and choosing parts: links follow, and everything else stays byte for byte."""

import posixpath
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from random import Random
from typing import Any

import pytest

from messagebody import MessageBody, Part
from messagebody.errors import DuplicateName, InvalidName, InvalidPattern, PartNotFound
from messagebody.links import Link, TextRange
from tests.effort import examples
from tests.links.vectors import body_parts, rows

pytest.importorskip("turbohtml")


@pytest.mark.parametrize("row", rows("moves"), ids=lambda row: row["id"])
def test_moves_of_the_vectors(row: dict[str, Any]) -> None:
    body = MessageBody.from_dicts(body_parts(row))
    body.move(*row["move"], relink=True)
    assert body[0].text == row["after"]


@pytest.mark.parametrize("row", rows("bodies"), ids=lambda row: row["id"])
def test_bodies_of_the_vectors(row: dict[str, Any]) -> None:
    body = MessageBody.from_dicts(row["body"])
    if row["op"] == "move":
        body.move(*row["args"], relink=True)
    elif row["op"] == "mount":
        [prefix] = row["args"]
        other = MessageBody.from_dicts(row["other"])
        body.mount(prefix, other, keep_unnamed=row.get("keep_unnamed", False))
    else:
        body = getattr(body, row["op"])(*row["args"])
    assert body.to_dicts() == row["after"]
    if "dangling" in row:
        found = [[link.part, link.target] for link in body.links(dangling=True)]
        assert found == row["dangling"]


# Random bodies: texts are made of links in all spellings, and of what looks like links

_NAMES = [
    "/sources/1", "/sources/2", "/sources/2026/1", "/a.md", "/a", "/a/b.md", "/a/img/c.png",
    "/a/img/d.png", "/b/a.html", "/b/img/c.png", "/b", "/img/c.png", "/report", "/report/1.md",
]  # fmt: skip
_TYPES = ["text/markdown", "text/markdown", "text/html", "application/xhtml+xml", "text/plain"]


def _url(random: Random, target: str, holder: str | None) -> str:
    directory = "/" if holder is None else posixpath.dirname(holder)
    path = posixpath.relpath(posixpath.dirname(target), directory)
    relative = posixpath.normpath(posixpath.join(path, posixpath.basename(target)))
    spelled = [target, relative, f"./{relative}", f"x/../{relative}"]
    if target.startswith("/sources/"):
        spelled += ["source:" + target.removeprefix("/sources/")] * 3
    url = random.choice(spelled)
    if random.random() < 0.2:
        url = url[:-1] + f"%{ord(url[-1]):02x}"
    return url + random.choice(["", "", "", "#p=3", "?q=1&amp;r#f"])


_MARKDOWN = [
    "[a]({})", "![a]({} 'T')", "[a](<{}> (t))", "<{}>",
    "[r{{n}}]\n\n[r{{n}}]: {} 'T'\n\n", "`[a]({})`", "# head [a]({}) #\n", "<!-- <a href={}> -->",
    "<a href='{}'>x</a>", "> quoted ![p]({})\r\n\r\n", "- item\n  > [a]({}\n  > 'T')\n\n",
    "    [code]({})\n", "\n<img src={}>\n\n", "\\[a]({})", "{} ",
]  # fmt: skip
_HTML = [
    "<a href='{}'>x</a>", '<img alt="é🐈" src="{}"/>', "<p cite=' {} '>q</p>",
    "<!-- <a href='{}'/> -->",
    "<img srcset='{} 1x, /x.png 2x'/>", "{} \r\n", "<video poster='{}' data-x='1'></video>",
]  # fmt: skip


def _text(random: Random, kind: str, holder: str | None) -> str:
    forms = _MARKDOWN if kind == "text/markdown" else _HTML
    made = []
    for number in range(random.randint(0, 6)):
        url = _url(random, random.choice([*_NAMES, "/gone.md", "/sources/9"]), holder)
        form = random.choice(forms).replace("{{n}}", str(number))
        made += [form.format(url), random.choice([" ", "\n\n", " wörds 🐈 "])]
    text = "".join(made)
    return f"<div>{text}</div>" if kind == "application/xhtml+xml" else text


def random_body(random: Random) -> MessageBody:
    """Return a body whose parts link to each other, and to parts that are not there."""
    body = MessageBody()
    names: list[str | None] = [*random.sample(_NAMES, random.randint(2, 9)), None, None]
    random.shuffle(names)
    for name in names:
        kind = random.choice(_TYPES)
        cited = random.choices(_NAMES, k=random.choice([0, 0, 1, 3]))
        citations = [{"part": each, "start": 0, "quote": "x"} for each in cited]
        metadata = {"citations": [*citations, {"url": "https://e.com"}], "é": 1} if cited else None
        body.add(_text(random, kind, name), name=name, content_type=kind, metadata=metadata)
    return body


# What stands around an autolink, which becomes a link of another form when its part moves away.
_AROUND = [
    "[q]", "[q][]", "[z]", "<source:1>", "<source:1?x`#_y_>", "<source:2>", "![a](source:1)",
    "[b](source:2)", "\n\n[q]: /z\n\n", "\n\n[q]: source:1\n\n", "`", "\\", "[", "]", "!", "*", "_",
    " ", "a", "\n", "> ", "(/x)", "**", "<b>", "</b>", "<a href='/p'>", "</a>", "<!--", "-->",
    "<source:1", "&amp;", "\n\n",
]  # fmt: skip


@pytest.mark.parametrize("new", ["/sources/9", "/z9", "/d/e.md"])
def test_autolinks_keep_what_stands_around_them(new: str) -> None:
    random = Random(new)
    for _ in range(examples(1000)):
        text = "".join(random.choices(_AROUND, k=random.randint(1, 12)))
        body = MessageBody([Part(text, content_type="text/markdown")])
        for name in ("/sources/1", "/sources/2"):
            body.add("x", name=name)
        before = [link.target for link in body.links()]
        body.move("/sources/1", new, relink=True)
        moved = [link.target for link in body.links()]
        assert moved == [new if name == "/sources/1" else name for name in before], text
        body.move(new, "/sources/1", relink=True)
        assert [link.target for link in body.links()] == before, text


@pytest.mark.parametrize("before", ["[q]", "[r][q][q]", "!", "[q][]", "[q](("])
def test_an_autolink_is_never_read_together_with_what_is_before_it(before: str) -> None:
    """Uses of definitions that lead to no part of the body are kept as well."""
    pytest.importorskip("markdown_it")
    from markdown_it import MarkdownIt

    body = MessageBody([Part(f"[q]: /z\n\n{before}<source:1>", content_type="text/markdown")])
    body.add("x", name="/sources/1")

    def shown() -> tuple[int, int]:
        page = MarkdownIt().render(body[0].text or "")
        return page.count("<a "), page.count("<img")

    expected = shown()
    body.move("/sources/1", "/a", relink=True)
    assert shown() == expected


def test_a_link_that_brackets_would_change_is_written_in_html() -> None:
    body = MessageBody([Part("[q]<source:1>\n\n[q]: /z", content_type="text/markdown")])
    body.add("x", name="/sources/1")
    body.move("/sources/1", "/a", relink=True)
    assert body[0].text == '[q]<a href="/a">source:1</a>\n\n[q]: /z'


def _pairs(body: MessageBody, rename: Callable[[str], str] = str) -> list[tuple[Any, str]]:
    """Return holders and existing targets, in order, both renamed."""
    return [
        (rename(body[link.part].name or "") or link.part, rename(link.target))
        for link in body.links()
        if link.exists
    ]


def _around(body: MessageBody, index: int, links: list[Link]) -> list[str]:
    """Return the pieces of a text between its links; autolinks have no room to become paths."""
    text, pieces, position = body[index].read_text(), [], 0
    for link in links:
        if link.part == index and isinstance(link.where, TextRange):
            start, end = link.where
            if text[start - 1] == "<" and text[end] == ">":
                start, end = start - 1, end + 1
            elif text[position:start].endswith(f"[source:{link.text.removeprefix('source:')}]("):
                start, end = text.rindex("[", 0, start), end + 1
            pieces.append(text[position:start])
            position = end
    return [*pieces, text[position:]]


def _check_move(seed: int) -> None:
    random = Random(seed)
    body = random_body(random)
    before = body.copy()
    old = random.choice([*body.names(), "/a/", "/img", "/b/", "/sources"])
    new = random.choice(["/sources/7", "/moved/x.md", "/a/new", "/z", "/sources/deep/er/2"])
    try:
        body.move(old, new, relink=True)
    except (PartNotFound, DuplicateName):
        assert body == before
        return
    is_part = old in before and not old.endswith("/")
    start = old if is_part else f"{old.rstrip('/')}/"

    def renamed(name: str) -> str:
        if is_part:
            return new if name == old else name
        return f"{new}/{name.removeprefix(start)}" if name.startswith(start) else name

    assert [part.name and renamed(part.name) for part in before] == [part.name for part in body]
    assert _pairs(body) == _pairs(before, renamed)
    mine, theirs = before.links(), body.links()
    for index, (was, part) in enumerate(zip(before, body, strict=True)):
        assert _around(before, index, mine) == _around(body, index, theirs)
        assert was.content_type == part.content_type
        assert (was.metadata is None) == (part.metadata is None)
        if was.metadata is not None and part.metadata is not None:
            assert part.metadata == {**was.metadata, "citations": part.metadata["citations"]}
            for first, second in zip(
                was.metadata["citations"], part.metadata["citations"], strict=True
            ):
                named = {"part": renamed(first["part"])} if "part" in first else {}
                assert {**first, **named} == second
    # Back again: every link is at the part that it named.
    back = (new, old) if is_part else (f"{new}/", start)
    if is_part or not any(name.startswith(back[0]) for name in before.names()):
        body.move(*back, relink=True)
        assert body.names() == before.names()
        assert _pairs(body) == _pairs(before)


def _check_mount(seed: int) -> None:
    random = Random(seed)
    guest, host = random_body(random), MessageBody([Part("x", name="/other"), Part("y")])
    keep = random.random() < 0.5
    prefix = random.choice(["/research", "/sources/team", "/a/deep/er"])
    was = [(link.part, link.target, link.exists) for link in guest.links()]
    host.mount(prefix, guest, keep_unnamed=keep)
    found = [(link.part - 2, link.target, link.exists) for link in host.links()]
    assert found == [(part, prefix + target, exists) for part, target, exists in was]
    if not keep:
        chosen = host.select(f"{prefix}/**")
        assert [(link.part, link.target, link.exists) for link in chosen.links()] == [
            (part, prefix + target, exists) for part, target, exists in was
        ]


def test_links_follow_random_moves() -> None:
    for seed in range(examples(1_500)):
        _check_move(seed)


def test_links_stay_right_in_random_mounts() -> None:
    for seed in range(examples(1_000)):
        _check_mount(seed)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_links_follow_random_moves_at_length() -> None:
    for seed in range(300, 10_300):
        _check_move(seed)


@pytest.mark.slow
def test_links_stay_right_in_random_mounts_at_length() -> None:
    for seed in range(200, 2_000):
        _check_mount(seed)


# Moves


def body_with(text: str, **others: str) -> MessageBody:
    named = [Part(content, name=f"/{name}") for name, content in others.items()]
    return MessageBody([Part(text, content_type="text/markdown"), *named])


def test_an_autolink_whose_target_leaves_the_sources_becomes_a_link_with_its_words() -> None:
    body = MessageBody([Part("see <source:1#p>.", content_type="text/markdown")])
    body.add("x", name="/sources/1")
    body.move("/sources/1", "/cats.md", relink=True)
    assert body.text == "see [source:1#p](/cats.md#p)."
    body.move("/cats.md", "/sources/2", relink=True)
    assert body.text == "see [source:1#p](/sources/2#p)."


def test_dangling_relative_links_of_a_holder_that_moves_are_mended() -> None:
    body = MessageBody([Part("[a](gone.md)", name="/a/b.md"), Part("x", name="/a/c.md")])
    body.move("/a/b.md", "/d/e/b.md", relink=True)
    assert body["/d/e/b.md"].text == "[a](../../a/gone.md)"


def test_a_link_to_a_name_that_is_also_a_directory() -> None:
    body = body_with("[a](a) [b](/a/b)", **{"a": "A", "a/b": "B"})
    body.move("/a", "/x/y", relink=True)
    assert (body.text, body.names()) == ("[a](x/y) [b](/a/b)", ["/x/y", "/a/b"])
    body.move("/a/", "/x", relink=True)
    assert (body.text, body.names()) == ("[a](x/y) [b](/x/b)", ["/x/y", "/x/b"])


def test_a_part_above_its_holder() -> None:
    body = MessageBody([Part("[a](b.md)", name="/a/c.md"), Part("x", name="/a/b.md")])
    body.move("/a/b.md", "/a", relink=True)
    assert body["/a/c.md"].text == "[a](../a)"


def test_text_in_another_charset_stays_in_it() -> None:
    kind = "text/markdown; charset=iso-8859-1"
    body = MessageBody([Part("é [a](/b)".encode("latin-1"), content_type=kind)])
    body.add("x", name="/b")
    body.move("/b", "/c", relink=True)
    assert body[0].read_bytes() == "é [a](/c)".encode("latin-1")
    assert body[0].content_type == kind


def test_links_in_local_files_follow_and_the_file_stays(tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_text("[a](/b)", encoding="utf-8")
    body = MessageBody([Part(file), Part("x", name="/b")])
    body.move("/b", "/c", relink=True)
    assert (body[0].text, file.read_text("utf-8")) == ("[a](/c)", "[a](/b)")


def test_links_that_stay_right_keep_their_spelling() -> None:
    text = "[a](./b.md) [b](/%61/x/../b.md) [c](<b.md#x> 't') [d](../a/b.md)"
    body = MessageBody([Part(text, name="/a/a.md")])
    body.add("x", name="/a/b.md")
    body.add("x", name="/c")
    body.move("/c", "/d", relink=True)
    assert body["/a/a.md"].text == text
    body.move("/a", "/e", relink=True)
    assert body["/e/a.md"].text == "[a](./b.md) [b](/e/b.md) [c](<b.md#x> 't') [d](b.md)"


@pytest.mark.parametrize(
    ("kind", "text", "after"),
    [
        ("text/html", "<a href='/a&num;x'>", "<a href='/b/c&num;x'>"),
        ("text/html", "<a href='/a?&num'>", "<a href='/b/c?&num'>"),
        ("text/markdown", r"[x](/a\#y)", r"[x](/b/c\#y)"),
        ("text/markdown", "[x](/a&quest;y#z)", "[x](/b/c&quest;y#z)"),
        ("text/markdown", r"[x](/\a#y)", r"[x](/\a#y)"),
    ],
)
def test_what_follows_a_path_stays_as_it_is_written(kind: str, text: str, after: str) -> None:
    body = MessageBody([Part(text, content_type=kind), Part("x", name="/a")])
    body.move("/a", "/b/c", relink=True)
    assert body[0].text == after


def test_other_metadata_of_a_citing_part_stays() -> None:
    citations = [{"part": "/a"}, {"url": "https://e.com"}]
    body = MessageBody([Part("x", metadata={"note": "keep me", "citations": citations})])
    body.add("y", name="/a")
    body.move("/a", "/b", relink=True)
    assert body[0].metadata == {
        "note": "keep me", "citations": [{"part": "/b"}, {"url": "https://e.com"}],
    }  # fmt: skip


def test_without_relink_no_text_changes() -> None:
    body = body_with("[a](/a)", a="A")
    body.move("/a", "/b")
    assert (body.text, body.links()[0].exists) == ("[a](/a)", False)


def test_paths_are_names() -> None:
    body = body_with("[a](/a)", a="A")
    assert body.move(PurePosixPath("/a"), PurePosixPath("/b"), relink=True).name == "/b"
    assert [link.text for link in body.links(to=PurePosixPath("/b"))] == ["a"]


# Mounts


def test_a_clash_changes_nothing() -> None:
    body = MessageBody([Part("x", name="/r/1.txt")])
    with pytest.raises(DuplicateName):
        body.mount("/r", MessageBody([Part("a", name="/z"), Part("b")]))
    assert body.names() == ["/r/1.txt"]


@pytest.mark.parametrize("prefix", ["", "/", "r", "/a/../b"])
def test_a_prefix_is_a_name(prefix: str) -> None:
    with pytest.raises(InvalidName):
        MessageBody().mount(prefix, MessageBody())


def test_a_guest_keeps_its_dangling_links_and_stays_as_it_is() -> None:
    guest = body_with("[a](source:9) [b](c.md)")
    body = MessageBody().mount("/research/", guest, keep_unnamed=True)
    assert body.text == "[a](/research/sources/9) [b](research/c.md)"
    assert guest.text == "[a](source:9) [b](c.md)"


def test_a_body_may_be_mounted_in_itself() -> None:
    body = body_with("[a](/a)", a="A")
    body.mount("/copy", body)
    assert body.names() == ["/a", "/copy/1.md", "/copy/a"]
    assert [(link.part, link.target) for link in body.links()] == [(0, "/a"), (2, "/copy/a")]


def test_numbers_have_the_extension_of_their_type() -> None:
    kinds = ["text/plain", "image/jpeg", "text/xml", "application/x-unknown", "Text/HTML",
             "application/x-ndjson", "application/octet-stream"]  # fmt: skip
    guest = MessageBody(Part(b"x", content_type=kind) for kind in kinds)
    names = MessageBody().mount("/r", guest).names()
    assert names == ["/r/1.txt", "/r/2.jpg", "/r/3.xml", "/r/4", "/r/5.html", "/r/6.ndjson", "/r/7"]


# Chosen parts


def test_patterns_match_no_unnamed_part() -> None:
    body = body_with("x", a="A", b="B")
    assert body.select(["/**"]).names() == ["/a", "/b"]
    assert len(body.select(["/a", None])) == 2
    assert len(body.drop(["/**"])) == 1
    assert body.drop([None, "/a"]).names() == ["/b"]
    assert len(body) == 3


def test_a_pattern_that_can_match_nothing_is_refused() -> None:
    for choose in (MessageBody().select, MessageBody().drop):
        with pytest.raises(InvalidPattern):
            choose("a.md")
