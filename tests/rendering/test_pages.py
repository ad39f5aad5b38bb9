"""The page of a body: what is shown, what is not and why, and that nothing can act."""

import base64
import hashlib
import io
import json
import re
import sys
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from messagebody import (
    MessageBody,
    MessageBodySchema,
    Part,
    Resolver,
)
from messagebody.errors import InvalidArgument, InvalidSize, MissingDependency
from messagebody.rendering import page
from messagebody.samples import example_body, sample
from messagebody.testing.strategies import bodies

CSS = files("messagebody.rendering").joinpath("look.css").read_text("utf-8")


class Elements(HTMLParser):
    """All start tags of a document, with their attributes, and its text."""

    def __init__(self, document: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(document)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.found if name == tag]

    @property
    def text(self) -> str:
        return " ".join(self.words)


def shown(content: Any = None, **arguments: Any) -> Elements:
    """Return the elements of a page about one part."""
    return Elements(page(MessageBody([Part(content, **arguments)])))


def test_a_page_is_one_file_under_a_policy_that_names_its_style() -> None:
    document = page(example_body("multimodal"))
    elements = Elements(document)
    policy = next(each["content"] for each in elements.of("meta") if "http-equiv" in each) or ""
    (style,) = re.findall("<style>(.*?)</style>", document, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'; ")
    assert document.index("http-equiv") < document.index("<style>")
    assert elements.of("script") == []
    assert "url(" not in style
    assert "@import" not in style


def check_that_nothing_acts(document: str) -> None:
    for tag, attributes in Elements(document).found:
        assert tag not in {"script", "iframe", "object", "embed", "form", "base", "input", "svg"}
        assert not [name for name in attributes if name.startswith("on") or name == "style"]
        assert (attributes.get("src") or "data:").startswith("data:")
        if tag != "link":
            assert (attributes.get("href") or "#").startswith(
                ("#", "https://", "data:application/octet-stream")
            )


@given(bodies())
def test_any_body_has_a_page_in_which_nothing_acts(body: MessageBody) -> None:
    check_that_nothing_acts(page(body, title="<script>"))


def test_cells_of_a_table_keep_their_sides() -> None:
    elements = shown("|a|b|c|\n|:-|:-:|-:|\n|1|2|3|", content_type="text/markdown")
    assert [each.get("align") for each in elements.of("td")] == ["left", "center", "right"]


def test_markdown_is_laid_out_and_its_html_is_text() -> None:
    elements = shown("# Cats\n\n*cute* <b onclick=x>b</b>", content_type="text/markdown")
    assert len(elements.of("em")) == 1
    assert elements.of("b") == []
    assert "<b onclick=x>" in elements.text


def test_html_is_sifted_and_its_source_is_there_to_read() -> None:
    source = "<p onclick=x>see <a href='javascript:x'>this</a></p><script>act()</script>"
    elements = shown(source, content_type="text/html")
    assert elements.of("p")[1] == {}
    assert [each for each in elements.of("a") if each.get("href", "").startswith("j")] == []  # type: ignore[union-attr]
    assert source in elements.text


@pytest.mark.parametrize(
    ("target", "leads_to"),
    [
        ("/sources/1", "#part-1"),
        ("sources/1", "#part-1"),
        ("./sources/1", "#part-1"),
        ("source:1", "#part-1"),
        ("https://example.com/a?b=c", "https://example.com/a?b=c"),
        ("http://example.com/", None),
        ("//example.com/", None),
        ("https://user@example.com/", None),
        ("https://[", None),
        ("/sources/2", None),
        ("data:text/html,x", None),
    ],
)
def test_links_in_a_text_lead_to_parts_or_to_the_web(target: str, leads_to: str | None) -> None:
    said = Part(f"[word](<{target}>)", content_type="text/markdown")
    elements = Elements(page(MessageBody([said, Part("x", name="/sources/1")])))
    # The first one: the part that it leads to links back.
    link = next(each for each in elements.of("a") if "download" not in each)
    assert link.get("href") == leads_to


def test_pictures_of_the_body_stand_in_its_text() -> None:
    said = Part(
        "![Rides](/chart.png) ![Far](https://example.com/a.png)", content_type="text/markdown"
    )
    elements = Elements(page(MessageBody([said, Part(sample("chart.png"), name="/chart.png")])))
    near, far = elements.of("img")
    assert base64.b64decode(str(near["src"]).partition(",")[2]) == sample("chart.png")
    assert "src" not in far
    assert far["alt"] == "Far"


@pytest.mark.parametrize("is_first", [True, False])
def test_a_picture_that_a_text_shows_is_shown_once(is_first: bool) -> None:
    said = Part("![](/0.png)", content_type="text/markdown")
    pictures = [Part(sample("chart.png"), name=f"/{number}.png") for number in range(3)]
    elements = Elements(page(MessageBody([said, *pictures] if is_first else [*pictures, said])))
    assert len(elements.of("img")) == 3
    assert "2 pictures" in elements.text
    assert {"href": f"#part-{0 if is_first else 3}"} in elements.of("a")
    # It can be saved where it would be.
    saved = [each["download"] for each in elements.of("a") if "download" in each]
    assert {"0.png", "1.png", "2.png"} < set(saved)


def test_a_picture_in_html_may_be_in_its_url() -> None:
    url = f"data:image/png;base64,{base64.b64encode(sample('chart.png')).decode()}"
    document = f"<img src='{url}'><img src='data:text/html,x'><img src='data:image/png;base64,!'>"
    pictures = shown(document, content_type="text/html").of("img")
    assert [each.get("src") for each in pictures] == [url, None, None]


@pytest.mark.parametrize(
    ("name", "tag"),
    [("chart.png", "img"), ("valley.jpg", "img"), ("bell.wav", "audio"), ("counter.pdf", "a")],
)
def test_media_are_in_the_page(name: str, tag: str) -> None:
    content = sample(name)
    found = shown(content, name=f"/{name}").of(tag)[-1]
    source = found.get("src") or found.get("href") or ""
    assert base64.b64decode(source.partition(",")[2]) == content


def test_bytes_decide_what_a_player_gets() -> None:
    """A list of films names URLs, which browsers ask for."""
    playlist = b"#EXTM3U\n#EXTINF:1,\nhttps://example.com/1.ts\n"
    for content_type in ("video/mp4", "application/vnd.apple.mpegurl", "audio/mpegurl"):
        elements = shown(playlist, content_type=content_type)
        assert elements.of("video") == elements.of("audio") == []
    elements = shown(sample("valley.jpg"), content_type="image/png")
    assert (elements.of("img")[0]["src"] or "").startswith("data:image/jpeg")
    assert "its bytes are image/jpeg" in elements.text


def test_neighbouring_pictures_stand_side_by_side() -> None:
    pictures = [Part(sample("chart.png"), name=f"/{number}.png") for number in range(3)]
    elements = Elements(page(MessageBody(pictures)))
    assert [each["id"] for each in elements.of("figure")] == ["part-0", "part-1", "part-2"]
    assert "3 pictures" in elements.text


@pytest.mark.parametrize(
    ("content", "content_type", "cells"),
    [
        ("a,b\n1,x\n2,\n", "text/csv", ["1", "x", "2"]),
        ("a,b\n1,x\n2,\n", "application/csv", ["1", "x", "2"]),
        ("a\tb\n1\tx\n", "text/tab-separated-values", ["1", "x"]),
        ('[{"a": 1}, {"a": null, "b": [2]}]', "application/json", ["1", "null", "[2]"]),
        ('{"a": 1}\n{"a": true}\n', "application/x-ndjson", ["1", "true"]),
    ],
)
def test_rows_are_tables(content: str, content_type: str, cells: list[str]) -> None:
    document = page(MessageBody([Part(content, content_type=content_type)]))
    assert [each for each in re.findall("<td[^>]*>(.*?)</td>", document) if each] == cells


# JSON and code


def test_json_is_indented_and_in_colours() -> None:
    value = {"name": "scout", "steps": [{"call": "search", "query": "x" * 60}, "done"], "on": True}
    elements = shown(json.dumps(value), content_type="application/json")
    assert json.dumps(value, indent=2) in "".join(elements.words)
    assert {"n", "s", "k"} <= {each.get("class") for each in elements.of("span")}
    short = shown('{"on":[true,1.5,"\\u00e9"]}', name="/a.json")
    assert '{"on": [true, 1.5, "é"]}' in "".join(short.words)


def test_indented_json_is_cut_before_it_takes_room() -> None:
    deep = "[" * 99 + "1," * 50_000 + "1" + "]" * 99
    document = page(MessageBody([Part(deep, content_type="application/json")]))
    assert "…</pre>" in document
    assert len(document) < 300_000


@pytest.mark.parametrize(
    ("part", "word", "look"),
    [
        (Part("x = 1  # one", content_type="text/x-python"), "# one", "c"),
        (Part("const x = 'a';", name="/a.js"), "const", "k"),
        (Part('{"a": "' + "x" * 99 + '"}', name="/a.json"), "&quot;a&quot;", "n"),
        (Part("a: 'b'", name="/a.yml", content_type="text/plain"), "&#x27;b&#x27;", "s"),
        (Part("```py\nreturn 7\n```", content_type="text/markdown"), "7", "m"),
        (Part("<b>bold</b>", name="/a.xml"), "b", "n"),
    ],
)
def test_code_has_colours(part: Part, word: str, look: str) -> None:
    document = page(MessageBody([part]))
    assert f'<span class="{look}">{word}' in document.replace("&lt;b", "b")


@pytest.mark.parametrize("language", ["python", "brainfuck", "", "<b>"])
def test_code_keeps_its_text(language: str) -> None:
    code = "if a < b:\n\tx = '<script>' & 1\n\n\n"
    elements = shown(f"```{language}\n{code}```", content_type="text/markdown")
    assert code in "".join(elements.words)
    assert len(elements.of("script")) == 0
    assert code.rstrip() in "".join(shown(code, name="/a.py").words)


def test_code_without_the_extra_is_read_without_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pygments.lexers", None)
    elements = shown("x = 1", name="/a.py")
    assert "x = 1" in elements.words
    assert "messagebody[view]" in elements.text
    assert "x = 1\n" in shown("```py\nx = 1\n```", content_type="text/markdown").words


def test_code_that_takes_long_has_no_colours() -> None:
    assert "<span class" not in page(MessageBody([Part("'\\" * 10_001, name="/a.js")]))
    body = MessageBody(Part("x = 1" + " " * 14_000, name=f"/{number}.py") for number in range(3))
    assert page(body).count('<span class="m">1') == 1


def test_a_long_table_is_cut_and_says_so() -> None:
    rows = "\n".join(",".join(map(str, range(60))) for _ in range(201))
    body = MessageBody([Part(rows, content_type="text/csv")])
    elements = Elements(page(body, rows=100))
    assert len(elements.of("td")) == 100 * 50
    assert (
        "more than 100 rows, the first 100 shown (more with --rows, in Python rows=); "
        "the first 50 columns shown"
    ) in elements.text
    assert "200 rows; the first" in Elements(page(body)).text


def test_parquet_is_a_table() -> None:
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    file = io.BytesIO()
    parquet.write_table(arrow.table({"city": ["Graz", "Wien"] * 150, "rides": range(300)}), file)
    rides = MessageBody([Part(file.getvalue(), name="/rides.parquet")])
    elements = Elements(page(rides, rows=200))
    assert len(elements.of("td")) == 400
    assert "300 rows, the first 200 shown" in elements.text
    broken = shown(file.getvalue()[:-9], content_type="application/vnd.apache.parquet")
    assert "not readable as a table" in broken.text


def test_parquet_of_several_groups_is_read_as_far_as_it_is_shown() -> None:
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    file = io.BytesIO()
    parquet.write_table(arrow.table({"n": [1, None, 3, 2]}), file, row_group_size=1)
    body = MessageBody([Part(file.getvalue(), name="/n.parquet")])
    for rows in (2, 3, 9):
        document = page(body, rows=rows)
        cells = re.findall('<td class="number">(.*?)</td>', document)
        assert cells == ["1", "null", "3", "2"][:rows]
        assert "4 rows" in document


def test_columns_of_numbers_are_aligned_by_what_they_hold() -> None:
    rows = 'name,n\nb,10\na,-9.5e3\nc,\nd,"1,000"\ne,20%\n'
    document = page(MessageBody([Part(rows, content_type="text/csv")]))
    assert re.findall('<td class="number">(.*?)</td>', document) == [
        "10", "-9.5e3", "", "1,000", "20%",
    ]  # fmt: skip
    words = page(MessageBody([Part(f"{rows}f,x\n", content_type="text/csv")]))
    assert '<td class="number">' not in words


def test_a_page_has_so_many_cells() -> None:
    wide = ",".join("x" * 50) + "\n"
    body = MessageBody(Part(wide * 2, content_type="text/csv") for _ in range(12))
    elements = Elements(page(body, rows=1))
    assert elements.text.count("the page has too many cells (more with --rows") == 2


@pytest.mark.parametrize(
    ("content", "content_type", "note"),
    [
        ("[1, 2", "application/json", "not JSON"),
        ("[1]\n", "application/x-ndjson", "not a table: it is not a list of objects"),
        ("[1\n", "application/x-ndjson", "not a table"),
        ('a"' + "b" * 200_000, "text/csv", "more characters"),
        (b"\xff\xfe", "text/plain", "not readable as text"),
        (b"\x00\x01", "application/octet-stream", "binary content, 2 B"),
        (b"", "image/png", "empty"),
        (b"MZ\x90\x00", "application/pdf", "binary content"),
        (b"PAR1", "application/vnd.apache.parquet", "not readable as a table"),
    ],
)
def test_what_is_not_shown_says_why(content: str | bytes, content_type: str, note: str) -> None:
    assert note in shown(content, content_type=content_type).text


def test_marks_of_direction_are_written_out() -> None:
    for content_type in ("text/plain", "text/html", "text/markdown"):
        elements = shown("safe&#x202e;\u202efdp.exe", content_type=content_type, name="/a")
        assert "\u202e" not in elements.text
        assert "\\u202e" in elements.text


# References


def test_nothing_is_fetched_without_a_resolver(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("fetched")
    resolver = Resolver(allow=[tmp_path])
    part = Part(url=(tmp_path / "a.txt").as_uri(), content_type="text/plain", name="/a")
    body = MessageBody([part.with_resolver(resolver)])
    assert "not fetched" in Elements(page(body)).text
    assert "fetched" in Elements(page(body, resolver=resolver)).words
    assert "not readable" in Elements(page(body, resolver=Resolver())).text


def test_a_reference_is_a_link_without_its_secrets() -> None:
    body = MessageBody()
    body.add(url="https://example.com/cat.png?sig=s3cret#s3cret", content_type="image/png")
    body.add(url="s3://bucket/key?versionId=s3cret", content_type="image/png", name="/b",
             metadata={"made from": "https://example.com/dog.png?sig=s3cret"})  # fmt: skip
    body.add(url="https://me:s3cret@example.com/", content_type="text/plain", name="/c")
    document = page(body)
    assert "s3cret" not in document
    links = [each["href"] for each in Elements(document).of("a")]
    assert links == ["#part-0", "#part-1", "#part-2", "https://example.com/cat.png"]


def test_a_data_url_is_content() -> None:
    elements = shown(url="data:text/markdown,*cute*", content_type="text/markdown")
    assert len(elements.of("em")) == 1


# Limits


def test_a_large_part_is_named_with_its_size(tmp_path: Path) -> None:
    large = Part(b"\0" * 3_000, name="/large")
    text = Part("x" * 200_000, name="/text")
    elements = Elements(page(MessageBody([large, text]), most=2_000))
    assert "2.9 KiB: too large to show here (more with --most, in Python most=)" in elements.text
    assert "195 KiB: too large to lay out here (more with --most, in" in elements.text
    assert "Save: too large for this page (more with --most" in elements.text
    assert elements.text.count("x" * 2_000) == 1
    assert "x" * 2_001 not in elements.text
    (tmp_path / "a").write_bytes(b"x" * 3_000)
    far = MessageBody([Part(url=(tmp_path / "a").as_uri(), content_type="text/plain")])
    resolver = Resolver(allow=[tmp_path])
    assert "too large" in Elements(page(far, resolver=resolver, most="2 KiB")).text


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("/a.csv", "a,b\n" + "1,é\n" * 5_000),
        ("/a.json", json.dumps([{"a": number} for number in range(5_000)])),
        ("/a.jsonl", '{"a": 1}\n' * 5_000),
        ("/a.md", "*a* " * 5_000),
        ("/a.txt", "é" * 20_000),
    ],
)
def test_the_most_of_a_part_bounds_its_page(name: str, content: str) -> None:
    body = MessageBody([Part(content, name=name)])
    empty = len(page(MessageBody([Part("", name=name)])))
    document = page(body, most=1_000)
    assert len(document.encode()) - empty < 4_000
    assert "too large to lay out here (more with --most" in document
    assert "too large" not in page(body)


@pytest.mark.parametrize(
    ("limits", "error"),
    [
        ({"rows": 0}, InvalidArgument),
        ({"parts": "many"}, InvalidArgument),
        ({"parts": True}, InvalidArgument),
        ({"most": "much"}, InvalidSize),
    ],
)
def test_a_limit_is_a_number(limits: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        page(MessageBody(), **limits)


def test_limits_can_be_lifted() -> None:
    body = MessageBody([Part("x" * 9_000, name="/long.txt"), Part("y", name="/b")])
    assert "1 more part (" in page(body, parts=1)
    assert "too large" in page(body, most="8 KiB")
    assert "more with" not in page(body, parts=2)


def test_a_page_has_room_for_ten_of_the_largest_parts() -> None:
    parts = [Part(sample("chart.png"), name=f"/{number}.png") for number in range(12)]
    elements = Elements(page(MessageBody(parts), most=len(sample("chart.png"))))
    assert len(elements.of("img")) == 10
    assert len([each for each in elements.of("a") if "download" in each]) == 10
    assert elements.text.count("the page has no more room (more with --most") == 2


def test_a_text_can_not_repeat_a_picture_without_end() -> None:
    said = Part("![](/a.png)" * 5_000, content_type="text/markdown")
    body = MessageBody([said, Part(sample("chart.png"), name="/a.png")])
    assert len(page(body, most="100 KiB")) < 3 * 1024 * 1024


def test_markup_that_takes_long_stays_as_it_is() -> None:
    body = MessageBody([Part("a " * 50_000, content_type="text/markdown")] * 5)
    elements = Elements(page(body))
    assert len([each for each in elements.of("div") if each.get("class") == "prose"]) == 3
    assert len([each for each in elements.of("summary") if "fold" not in each]) >= 5
    assert elements.words.count("Raw") == 3


@pytest.mark.dear
def test_many_parts_are_folded() -> None:
    body = MessageBody([Part("x", name=f"/{number}") for number in range(5_010)])
    elements = Elements(page(body))
    runs = 50
    # Each is in the list and on the page.
    assert len(elements.of("details")) == 5_000 + 2 * runs
    assert not any("open" in each for each in elements.of("details"))
    assert "10 more parts (more with --parts, in Python parts=)" in elements.text
    assert "/100 … /199" in elements.words


def test_a_directory_is_said_once_and_its_many_parts_are_folded() -> None:
    body = MessageBody([Part("Why?"), *(Part("x", name=f"/logs/0/{i:03}.txt") for i in range(30))])
    body.add("y", name="/alone/in/here.txt")
    body.add("z", name="/logs/about.txt")
    elements = Elements(page(body))
    assert [each for each in elements.words if re.match(r"/\w", each)] == [
        *["/logs/", "/alone/in/here.txt"] * 2,
    ]
    assert elements.words.count("0/") == elements.words.count("029.txt") == 2
    (whole,) = {each["title"] for each in elements.of("bdi") if "029" in (each.get("title") or "")}
    assert whole == "/logs/0/029.txt"
    directories = [each for each in elements.of("details") if "directory" in str(each.get("class"))]
    assert [("open" in each) for each in directories] == [False, False]
    # What is beside the directories stays open.
    assert sum("open" in each for each in elements.of("details")) == 3


def test_small_directories_begin_open_as_far_as_there_are_few_parts() -> None:
    body = MessageBody(Part("x", name=f"/{i // 10}/{i % 10}") for i in range(50))
    directories = re.findall('<details class="part directory".*?>', page(body))
    assert [" open" in each for each in directories] == [True, True, False, False, False]


def test_a_directory_tells_what_is_new_in_it_and_opens() -> None:
    old = MessageBody(Part("x", name=f"/logs/{number}") for number in range(30))
    new = MessageBody([*old, Part("y", name="/logs/new")])
    document = page(new, against=old, schema=MessageBodySchema([("/logs/*", "image/*")]))
    assert "1 new</span><span" in document
    assert "31 not accepted" in document
    document = page(new, against=old)
    (directory,) = re.findall('<details class="part directory".*?>', document)
    assert "open" in directory
    (listed,) = re.findall("<nav.*?</nav>", document)
    assert listed.startswith('<nav aria-label="Parts"><ol><li><details open>')
    # The directory says it, and the part.
    assert [listed.count(f'title="{word}"') for word in ("new", "changed")] == [2, 0]


# What is kept


@pytest.mark.parametrize(
    ("part", "name", "raw"),
    [
        (Part("day,rides\nMon,2\n", name="/a/rides.csv"), "rides.csv", "day,rides\nMon,2\n"),
        (Part("*cute*", content_type="text/markdown"), "part-0.md", "*cute*"),
        (Part(sample("chart.png"), name="/chart"), "chart.png", None),
        (Part(b"\0\1", name="/a.bin"), "a.bin", None),
        (Part("said"), "part-0.txt", None),
        (Part("x = 1", name="/a.py"), "a.py", None),
    ],
)
def test_each_part_can_be_saved_and_seen_as_it_came(part: Part, name: str, raw: str | None) -> None:
    elements = Elements(page(MessageBody([part])))
    (link,) = [each for each in elements.of("a") if "download" in each]
    assert link["download"] == name
    address = link["href"] or ""
    # No type that a browser would open.
    assert address.startswith("data:application/octet-stream;base64,")
    assert base64.b64decode(address.partition(",")[2]) == part.read_bytes()
    assert ("Raw" in elements.words) is (raw is not None)
    assert raw is None or raw in elements.text


def test_what_is_not_read_can_not_be_saved() -> None:
    elements = shown(url="https://example.com/a.png", content_type="image/png")
    assert not [each for each in elements.of("a") if "download" in each]
    assert "Raw" not in elements.words


# Schemas and older bodies


def test_violations_stand_at_their_parts() -> None:
    schema = MessageBodySchema([("/a", "text/*"), ("/summary.md", "text/markdown", True)])
    body = MessageBody([Part("x", name="/a"), Part(b"\0", name="/b")])
    document = page(body, schema=schema)
    elements = Elements(document)
    part_missing, part_refused = reversed([str(each) for each in schema.iter_violations(body)])
    assert part_missing in elements.text
    assert part_refused in elements.text
    assert "✗ 2 violations" in elements.text
    assert document.index("part 1 (&#x27;/b&#x27;") > document.index('id="part-1"')
    assert "✓ valid" in page(MessageBody(), schema=MessageBodySchema())
    # The list of parts, which is left out where there are few, marks the same part.
    body.add("y", name="/c/d")
    (listed,) = re.findall("<nav.*</nav>", page(body, schema=schema))
    marked = [entry for entry in listed.split("</li>") if "✗" in entry]
    assert [re.findall("<bdi>(.*?)</bdi>", entry) for entry in marked] == [["/b"], ["/c/d"]]


def test_a_diff_shows_what_came_and_went_and_changed() -> None:
    old = MessageBody([Part("one\ntwo", name="/a"), Part("x", name="/gone"), Part("said")])
    new = MessageBody([Part("one\n2", name="/a"), Part("y", name="/new"), Part("said")])
    elements = Elements(page(new, against=old))
    assert "1 new, 1 changed, 1 removed" in elements.text
    assert len(elements.of("ins")) == len(elements.of("del")) == 1
    assert {"+2", "-two", "/gone", "new", "changed"} <= set(elements.words)
    assert "no changes" in page(old, against=old)


@pytest.mark.parametrize("others", [[], ["valley.jpg"]])
def test_a_diff_shows_the_old_picture_and_the_new_one(others: list[str]) -> None:
    """Also where pictures stand side by side."""
    old, new = sample("valley.jpg"), sample("chart.png")
    more = [Part(sample(name), name=f"/{name}") for name in others]
    body = MessageBody([Part(new, name="/a.png"), *more])
    older = MessageBody([Part(old, name="/a.png", content_type="image/jpeg"), *more])
    pictures = [each.get("src") or "" for each in Elements(page(body, against=older)).of("img")]
    assert sum("image/jpeg" in each for each in pictures) == 1 + len(others)
    assert sum("image/png" in each for each in pictures) == 1
    assert "before: image/jpeg" in page(body, against=older)
    gone = MessageBody([Part("no picture", name="/a.png", content_type="text/plain"), *more])
    assert len(Elements(page(body, against=gone)).of("img")) == 1 + len(others)


# Misuse


@pytest.mark.parametrize(
    "arguments",
    [{"schema": MessageBody()}, {"against": []}, {"resolver": "s3://bucket"}, {"body": "text"}],
)
def test_wrong_arguments_are_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument):
        page(arguments.pop("body", MessageBody()), **arguments)


def test_without_the_extra_an_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nh3", None)
    with pytest.raises(MissingDependency, check=lambda error: error.extra == "view"):
        page(MessageBody([Part("*cute*", content_type="text/markdown")]))
    assert "cute" in page(MessageBody([Part("cute")]))


# The look


def _palettes() -> list[dict[str, str]]:
    roots = re.findall(r":root \{(.*?)\}", CSS, re.DOTALL)[:2]
    light, dark = (dict(re.findall(r"(--[\w-]+): (#[0-9a-f]{6})", root)) for root in roots)
    return [light, {**light, **dark}]


def _luminance(colour: str) -> float:
    channels = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("palette", _palettes(), ids=["light", "dark"])
@pytest.mark.parametrize(
    ("words", "grounds"),
    [
        ("--ink", ("--paper", "--card", "--wash")),
        ("--quiet", ("--paper", "--card", "--wash")),
        ("--accent", ("--paper", "--card", "--wash")),
        ("--key", ("--card", "--wash")),
        ("--word", ("--card", "--wash")),
        ("--string", ("--card", "--wash")),
        ("--number", ("--card", "--wash")),
        ("--good", ("--good-wash",)),
        ("--bad", ("--bad-wash",)),
    ],
)
def test_all_text_has_contrast(
    palette: dict[str, str], words: str, grounds: tuple[str, ...]
) -> None:
    """WCAG 2.2, 1.4.3: at least 4.5 to 1."""
    for ground in grounds:
        low, high = sorted((_luminance(palette[words]), _luminance(palette[ground])))
        assert (high + 0.05) / (low + 0.05) >= 4.5, (words, ground)
