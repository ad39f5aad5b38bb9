"""Cards of agents: modes are what messages of their protocol become, and odd ones stop nothing."""

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from messagebody import MessageBody, Resolver, put_content
from messagebody.adapters import adapter
from messagebody.agents import Agent, Registry
from messagebody.compatibility import check
from messagebody.errors import InvalidArgument, InvalidCard, MessageBodyError
from messagebody.findings import Severity
from messagebody.schema import MessageBodySchema
from messagebody.storage import open_store
from tests.effort import examples

VECTORS = Path(__file__).parents[1] / "vectors" / "agreement" / "cards.jsonl"
ROWS: list[dict[str, Any]] = [json.loads(line) for line in VECTORS.read_text("utf-8").splitlines()]
READABLE = [row for row in ROWS if "unreadable" not in row]
UNREADABLE = [row for row in ROWS if "unreadable" in row]
ADAPTERS = {"a2a-1.0": "a2a", "a2a-0.3": "a2a-0.3", "acp": "acp"}
MANIFEST = {"name": "worker", "description": "", "metadata": {}}

Sides = set[tuple[str | None, str]]


def sides(schema: MessageBodySchema) -> Sides:
    assert not any(part.required for part in schema)
    return {(part.name, part.content_type) for part in schema}


def expected(listed: list[list[str | None]]) -> Sides:
    return {(name, str(kind)) for name, kind in listed}


def card(taken: Any, sent: Any, **more: Any) -> dict[str, Any]:
    return {"name": "a", "defaultInputModes": taken, "defaultOutputModes": sent, **more}


class TestVectors:
    @pytest.mark.parametrize("row", READABLE, ids=lambda row: row["id"])
    def test_schemas(self, row: dict[str, Any]) -> None:
        agent = Agent.from_card(row["card"])
        assert Agent.from_dict(row["card"]) == agent
        for way in ("input", "output"):
            if row[way] is not None:
                assert sides(getattr(agent, way)) == expected(row[way])
        for skill, stated in row["skills"].items():
            used = Agent.from_card(row["card"], skill=skill)
            for way in ("input", "output"):
                if stated[way] is not None:
                    assert sides(getattr(used, way)) == expected(stated[way])

    @pytest.mark.parametrize("row", READABLE, ids=lambda row: row["id"])
    def test_findings(self, row: dict[str, Any]) -> None:
        """Each stands at its place on the card, and none at a proper mode."""
        found = {finding.where for finding in Agent.from_card(row["card"]).findings}
        wanted = {finding["pointer"] for finding in row["findings"]}
        assert wanted <= found <= wanted | {each["pointer"] for each in row["may_find"]}

    @pytest.mark.parametrize("row", READABLE, ids=lambda row: row["id"])
    def test_messages(self, row: dict[str, Any]) -> None:
        agent = Agent.from_card(row["card"])
        for each in row["messages"]:
            body = adapter(ADAPTERS[row["protocol"]]).to_body(each["message"]).value
            assert agent.input.is_valid(body) is each["valid"], each

    @pytest.mark.parametrize("row", UNREADABLE, ids=lambda row: row["id"])
    def test_unreadable(self, row: dict[str, Any]) -> None:
        with pytest.raises(MessageBodyError) as caught:
            Agent.from_card(row["card"])
        assert isinstance(caught.value, InvalidCard)
        assert caught.value.where == row["unreadable"]
        assert row["unreadable"] in str(caught.value)

    def test_all_in_a_directory(self, tmp_path: Path) -> None:
        """A registry leaves out what can't be read, says so, and answers about the others."""
        for row in ROWS:
            # Some cards have one name: of those only the first stays.
            named = {**row["card"], "name": row["id"]}
            (tmp_path / f"{row['id']}.json").write_text(json.dumps(named))
        registry = Registry.from_directory(tmp_path)
        assert set(registry) == {row["id"] for row in READABLE}
        left_out = [each for each in registry.findings if each.severity is Severity.ERROR]
        assert [(each.place, each.where) for each in left_out] == [
            (f"{row['id']}.json{row['unreadable']}", row["unreadable"])
            for row in sorted(UNREADABLE, key=lambda row: row["id"])
        ]
        odd = {each.place for each in registry.findings if each.severity is Severity.WARNING}
        for row in READABLE:
            for finding in row["findings"]:
                assert f"{row['id']}.json{finding['pointer']}" in odd
        assert ("card-00", "card-01") in set(registry.pairs())


# Legal messages


TYPES = [
    "text/plain", "text/markdown", "application/json", "application/pdf", "image/png", "image/jpeg",
    "image/svg+xml", "audio/mpeg", "video/mp4", "application/octet-stream",
]  # fmt: skip
FILENAMES = [
    "a.png", "report.pdf", "x", ".hidden", "../up.txt", "notes/today.md", "Ü b?.txt", "a\\b", "..",
    "/etc/passwd", "{a,b}", "*", "CON", "a" * 300, " ", "line\nbreak", "",
]  # fmt: skip


def as_part(kind: str, rng: random.Random, *, is_old: bool) -> dict[str, Any]:
    """Return a part of a type, in one of the ways that the protocol has."""
    dice = rng.random()
    if kind == "text/plain" and dice < 0.4:
        if is_old:
            return {"text": "words", "kind": "text"}
        # A text may have a file name, and then states no type more than without one.
        return {"text": "words", **({"filename": rng.choice(FILENAMES)} if dice < 0.2 else {})}
    if kind == "application/json" and dice < 0.4:
        return {"data": {"k": [1, None]}, **({"kind": "data"} if is_old else {})}
    spelled = rng.choice((kind, kind.upper(), f"{kind}; charset=utf-8", f'{kind};x="a;b"'))
    content = rng.choice((("raw", "Ynl0ZXM="), ("url", "https://example.com/f/1")))
    name = rng.choice(FILENAMES) if rng.random() < 0.7 else None
    if is_old:
        member = {"raw": "bytes", "url": "uri"}[content[0]]
        file = {"mimeType": spelled, member: content[1]}
        return {"kind": "file", "file": file if name is None else {**file, "name": name}}
    part = {"mediaType": spelled, content[0]: content[1]}
    return part if name is None else {**part, "filename": name}


# The rule, apart from all code of the package: which message keeps to which modes.

WORDS = {"text": "text/plain", "file": "*/*", "data": "application/json", "image": "image/*"}


def keeps_to(modes: list[str], kinds: list[str]) -> bool:
    for kind in kinds:
        main = kind.split("/")[0]
        fits = {"*/*", f"{main}/*", kind}
        if not any(WORDS.get(mode, mode) in fits for mode in modes):
            return False
    return True


CARDS = [
    ["text"], ["text/plain"], ["text", "file"], ["file"], ["data"], ["text", "data"], ["image"],
    ["image/*"], ["text", "image/png"], ["*/*"], ["application/json"], ["audio/*", "video/*"],
    ["application/pdf", "text/*"], ["text/markdown"], ["image/png", "image/jpeg"], ["text/*"],
    ["application/octet-stream"], ["audio/mpeg", "text"], ["application/*"], ["video/mp4", "data"],
]  # fmt: skip


@pytest.mark.parametrize("modes", CARDS, ids=",".join)
def test_legal_messages(modes: list[str]) -> None:
    """A message is valid exactly if each of its parts keeps to a mode."""
    rng = random.Random(",".join(modes))
    taken = Agent.from_card(card(modes, ["text"])).input
    kept = 0
    for number in range(examples(2_000)):
        pool = TYPES
        if number % 2:
            pool = [kind for kind in TYPES if keeps_to(modes, [kind])]
        kinds = [rng.choice(pool) for _ in range(rng.randint(1, 4))]
        is_old = rng.random() < 0.5
        message = {
            "messageId": "m", "role": "user" if is_old else "ROLE_USER",
            **({"kind": "message"} if is_old else {}),
            "parts": [as_part(kind, rng, is_old=is_old) for kind in kinds],
        }  # fmt: skip
        body = adapter("a2a-0.3" if is_old else "a2a").to_body(message).value
        assert taken.is_valid(body) is keeps_to(modes, kinds), message
        kept += keeps_to(modes, kinds)
    assert kept >= examples(2_000) // 2


def as_acp_part(kind: str, rng: random.Random) -> dict[str, Any]:
    """Return a part of ACP, in which text/plain need not be stated."""
    name = {"name": rng.choice(FILENAMES)} if rng.random() < 0.5 else {}
    typed = {} if kind == "text/plain" and rng.random() < 0.7 else {"content_type": kind}
    content: list[dict[str, Any]] = [
        {"content_url": "https://example.com/f/1"},
        {"content": "d29yZHM=", "content_encoding": "base64"},
    ]
    if kind.startswith("text/"):
        content += [{"content": "words"}, {"content": "words", "content_encoding": "plain"}]
    return {**name, **typed, **rng.choice(content)}


@pytest.mark.parametrize("modes", CARDS, ids=",".join)
def test_legal_messages_of_acp(modes: list[str]) -> None:
    modes = [WORDS.get(mode, mode) for mode in modes]
    rng = random.Random(",".join(modes))
    manifest = {"name": "a", "description": "", "input_content_types": modes,
                "output_content_types": ["text/plain"]}  # fmt: skip
    taken = Agent.from_card(manifest).input
    for number in range(examples(400)):
        pool = [kind for kind in TYPES if not number % 2 or keeps_to(modes, [kind])]
        kinds = [rng.choice(pool) for _ in range(rng.randint(1, 4))]
        message = {"role": "user", "parts": [as_acp_part(kind, rng) for kind in kinds]}
        body = adapter("acp").to_body(message).value
        assert taken.is_valid(body) is keeps_to(modes, kinds), message


def test_an_output_is_named_or_not() -> None:
    """What an agent sends may have a name, so a taker of unnamed parts alone does not fit."""
    painter = Agent.from_card(card(["text"], ["image/png"]))
    assert not check(painter.output, MessageBodySchema([(None, "image/*")]))
    assert check(painter.output, MessageBodySchema([(None, "image/*"), ("/**", "image/*")]))


# Odd modes


class TestOddModes:
    @pytest.mark.parametrize(
        ("mode", "meant"),
        [
            ("text", "text/plain"), (" TEXT ", "text/plain"), ("file", "*/*"), ("Files", "*/*"),
            ("data", "application/json"), ("json", "application/json"), ("image", "image/*"),
            ("structured", "application/json"), ("audio", "audio/*"), ("video", "video/*"),
        ],
    )  # fmt: skip
    def test_words_with_a_meaning(self, mode: str, meant: str) -> None:
        agent = Agent.from_card(card([mode], [mode]))
        assert sides(agent.input) == sides(agent.output) == {(None, meant), ("/**", meant)}
        assert [each.where for each in agent.findings] == [
            "/defaultInputModes/0", "/defaultOutputModes/0",
        ]  # fmt: skip
        assert all(each.severity is Severity.WARNING for each in agent.findings)
        assert meant in agent.findings[0].problem

    @pytest.mark.parametrize(
        "mode",
        [
            "MESSAGES", "", "/", "text/", "*", "**", "*/json", "image/p*", "image/{png,jpeg}",
            "text/plain, text/html", "a/b/c", "a b/c", "\x1b[31m", "t\u00e9xt/plain",
            "x/" + "a" * 2000, "{" * 50,
        ],
    )  # fmt: skip
    def test_unknown_words(self, mode: str) -> None:
        """No yes can be wrong: anything may be sent, and nothing more is taken."""
        agent = Agent.from_card(card([mode, "text/plain"], [mode, "text/plain"]))
        assert sides(agent.input) == {(None, "text/plain"), ("/**", "text/plain")}
        assert {(None, "*/*"), ("/**", "*/*")} <= sides(agent.output)
        assert [each.where for each in agent.findings] == [
            "/defaultInputModes/0", "/defaultOutputModes/0",
        ]  # fmt: skip
        assert "\x1b" not in str(agent.findings[0])

    @pytest.mark.parametrize("mode", ["Text/Plain", "text/plain; charset=utf-8", " text/plain\t"])
    def test_spellings_of_types(self, mode: str) -> None:
        agent = Agent.from_card(card([mode], ["image/*", "*/*"]))
        assert sides(agent.input) == {(None, "text/plain"), ("/**", "text/plain")}
        assert agent.findings == ()

    def test_all_types_are_patterns(self) -> None:
        """No legal type is too odd for a schema."""
        for mode in ("a/b!#$&^_.+-c", "a/" + "b" * 1022):
            assert sides(Agent.from_card(card([mode], ["*/*"])).input) == {
                (None, mode),
                ("/**", mode),
            }

    def test_nothing_stated(self) -> None:
        """A card without modes says nothing: it sends anything, and takes nothing."""
        for silent in ({"name": "a", "skills": []}, card(None, []), card([], None, skills=None)):
            agent = Agent.from_card(silent)
            assert sides(agent.input) == set()
            assert sides(agent.output) == {(None, "*/*"), ("/**", "*/*")}
            assert len(agent.findings) == 2

    def test_skills_that_state_all(self) -> None:
        """Defaults that nobody uses may be missing."""
        skills: list[Any] = [{"id": "x", "inputModes": ["text/plain"], "outputModes": ["image/*"]}]
        agent = Agent.from_card({"name": "a", "skills": skills})
        assert sides(agent.output) == {(None, "image/*"), ("/**", "image/*")}
        assert agent.findings == ()
        silent = Agent.from_card({"name": "a", "skills": [*skills, {"id": "y"}]})
        assert (None, "*/*") in sides(silent.output)

    def test_manifests(self) -> None:
        """Those of ACP state content types; one that states none takes and sends all."""
        stated = {**MANIFEST, "input_content_types": ["text", "x"], "output_content_types": []}
        agent = Agent.from_dict(stated)
        assert sides(agent.input) == {(None, "text/plain"), ("/**", "text/plain")}
        assert sides(agent.output) == set()
        assert [each.where for each in agent.findings] == [
            "/input_content_types/0", "/input_content_types/1",
        ]  # fmt: skip
        assert sides(Agent.from_dict(MANIFEST).output) == {(None, "*/*"), ("/**", "*/*")}


class TestUnreadable:
    @pytest.mark.parametrize(
        ("data", "where"),
        [
            (card({}, []), "/defaultInputModes"),
            (card([], 3), "/defaultOutputModes"),
            (card([], [["text"]]), "/defaultOutputModes/0"),
            (card([], [], skills={}), "/skills"),
            (card([], [], skills=["x"]), "/skills/0"),
            (card([], [], skills=[{}, {"outputModes": "x"}]), "/skills/1/outputModes"),
            (card([], [], skills=[{"inputModes": [None]}]), "/skills/0/inputModes/0"),
            ({**MANIFEST, "input_content_types": "text/plain"}, "/input_content_types"),
            ({**MANIFEST, "output_content_types": [0]}, "/output_content_types/0"),
        ],
    )
    def test_places(self, data: dict[str, Any], where: str) -> None:
        with pytest.raises(InvalidCard) as caught:
            Agent.from_dict(data)
        assert caught.value.where == where

    @pytest.mark.parametrize(
        ("data", "where"),
        [
            (card(["x"] * 20_001, []), "/defaultInputModes"),
            (card(["text"] * 12_000, ["text"] * 12_000), "/defaultOutputModes"),
            (card(["text"], ["text"], skills=[{}] * 20_001), "/skills"),
            (card(["text"], [f"text/{each}" for each in range(5_001)]), ""),
            ({**MANIFEST, "input_content_types": ["x"] * 20_001}, "/input_content_types"),
            ({**MANIFEST, "input_content_types": [f"text/{n}" for n in range(5_001)]}, ""),
        ],
        ids=range(6),
    )
    def test_there_are_not_too_many(self, data: dict[str, Any], where: str) -> None:
        with pytest.raises(InvalidCard, match="more than") as caught:
            Agent.from_card(data)
        assert caught.value.where == where

    def test_unknown_skill(self) -> None:
        for data in (card(["text"], ["text"], skills=[{"id": "x"}]), MANIFEST):
            with pytest.raises(InvalidCard):
                Agent.from_card(data, skill="y")

    def test_others_are_answered(self, tmp_path: Path) -> None:
        """Files of any kind: what can't be read is named with its place."""
        (tmp_path / "a.json").write_text("{")
        many = [card(["text"], [7]), {**card(["text"], ["text"]), "name": "b"}, {"inputs": []}]
        (tmp_path / "b.json").write_text(json.dumps(many))
        (tmp_path / "c.json").write_text(json.dumps({**card(["text"], ["text"]), "name": "b"}))
        found = Registry.from_directory(tmp_path)
        assert [*found] == ["b"]
        errors = [each for each in found.findings if each.severity is Severity.ERROR]
        assert [(each.place, each.where) for each in errors] == [
            ("a.json", ""), ("b.json/0/defaultOutputModes/0", "/0/defaultOutputModes/0"),
            ("b.json/2", "/2"), ("c.json", ""),
        ]  # fmt: skip
        assert "another agent is called 'b'" in errors[-1].problem

    def test_files_that_can_not_be_opened(self, tmp_path: Path) -> None:
        """They are named, but one that is asked for by name is an error."""
        (tmp_path / "good.json").write_text(json.dumps(card(["text/plain"], ["text/plain"])))
        (tmp_path / "gone.json").symlink_to(tmp_path / "nowhere")
        (tmp_path / "loop.json").symlink_to("loop.json")
        (tmp_path / "place.json").mkdir()
        found = Registry.from_cards(tmp_path)
        assert len(found) == 1
        assert [each.place for each in found.findings] == ["gone.json", "loop.json", "place.json"]
        for name in ("nothing", "nothing.json", "gone.json"):
            with pytest.raises(FileNotFoundError):
                Registry.from_cards(tmp_path / name)

    def test_a_mode_is_read_once(self) -> None:
        """The schema is as long as the modes are different."""
        agent = Agent.from_card(card(["text/plain"] * 50, ["text"] * 50))
        assert (len(agent.input), len(agent.findings)) == (2, 50)
        assert agent.input.is_valid(MessageBody.from_json("[]"))


class TestAnswersBetweenCards:
    SENDER = Agent.from_card(card(["text"], ["text", "image/png"]))
    TAKER = Agent.from_card({**card(["text/plain", "sketch"], ["text/plain"]), "name": "b"})

    def test_each_fact_is_said_once(self) -> None:
        answer = check(self.SENDER, self.TAKER)
        assert [each.part.name for each in answer.reasons if each.part] == [None]
        assert str(answer).count("is accepted by no consumer part") == 1
        schemas = check(self.SENDER.output, self.TAKER.input)
        assert (answer.verdict, len(schemas.reasons)) == (schemas.verdict, 2)

    def test_other_facts_stay(self) -> None:
        """A named part of a type that is only taken unnamed has a reason of its own."""
        taker = Agent("c", MessageBodySchema([(None, "*/*")]), MessageBodySchema())
        answer = check(self.SENDER, taker)
        assert {each.part.name is None for each in answer.reasons if each.part} == {False}

    def test_the_findings_of_both_cards(self) -> None:
        answer = check(self.SENDER, self.TAKER)
        places = [finding.place for finding in answer.findings]
        assert places == ["a/defaultInputModes/0", "a/defaultOutputModes/0",
                          "b/defaultInputModes/1"]  # fmt: skip
        assert "the mode 'sketch' is no content type" in str(answer)


PUBLIC = Path(__file__).parents[1] / "vectors" / "agreement" / "public_cards.jsonl"


def _modes(value: Any, where: str = "") -> Iterator[tuple[str, str]]:
    """Yield all modes of a card, each with its place."""
    for member, listed in value.items():
        for at, each in enumerate(listed if isinstance(listed, list) else ()):
            if isinstance(each, dict):
                yield from _modes(each, f"{where}/{member}/{at}")
            elif member.endswith("Modes"):
                yield f"{where}/{member}/{at}", each


def test_public_cards(tmp_path: Path) -> None:
    """None is refused, and each mode that is no content type is a finding."""
    cards = [json.loads(line) for line in PUBLIC.read_text("utf-8").splitlines()]
    for number, each in enumerate(cards):
        text = json.dumps({"name": f"agent{number:02}", **each})
        (tmp_path / f"{number:02}.json").write_text(text)
    registry = Registry.from_cards(tmp_path)
    assert len(registry) == len(cards) > 50
    odd = [
        (f"agent{number:02}", place)
        for number, each in enumerate(cards)
        for place, mode in _modes(each)
        if not re.fullmatch(r"[\w.+-]+/[\w.+-]+|[\w*]+/\*", mode)
    ]
    found = {(agent.name, each.where) for agent in registry.values() for each in agent.findings}
    assert {*odd} == {each for each in found if each[1]}
    assert len(odd) > 50


class TestCardsAtUrls:
    def test_cards_are_references(self, tmp_path: Path) -> None:
        """Those that the resolver does not allow, or that can't be read, are findings."""
        store = open_store(f"file://{tmp_path}")
        other = {**card(["image/*"], ["text"]), "name": "b"}
        urls = [
            put_content(store, json.dumps(each).encode()).url
            for each in (card(["text"], ["image/png"]), other, 3, card([], []))
        ]
        refused = "https://example.com/card.json?signature=secret"
        registry = Registry.from_cards([*urls, refused], resolver=Resolver(allow=[store]))
        assert [*registry] == ["a", "b"]
        places = [finding.place for finding in registry.findings]
        assert places[-1] == "https://example.com/card.json"
        assert len(places) > 3
        assert "secret" not in " ".join(map(str, registry.findings))

    def test_a_directory(self, tmp_path: Path) -> None:
        (tmp_path / "a.json").write_text(json.dumps(card(["text/plain"], ["text/plain"])))
        assert [*Registry.from_cards(tmp_path)] == ["a"]

    def test_a_resolver_is_needed(self) -> None:
        with pytest.raises(InvalidArgument):
            Registry.from_cards(["https://example.com/card.json"])
