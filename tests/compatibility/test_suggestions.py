"""What would make a pair fit: proved, and the least first."""

import pytest

from messagebody.compatibility import check, lint, satisfiable, suggest
from messagebody.schema import MessageBodySchema, SchemaPart
from tests.compatibility import generators
from tests.compatibility.test_inclusion import schema
from tests.effort import examples

TEXT = schema((None, "text/*", True))


def dead_parts(parts: MessageBodySchema) -> int:
    return [each.check for each in lint(parts)].count("dead-part")


def first(*sides: MessageBodySchema) -> str:
    return str(suggest(*sides)[0])


class TestKinds:
    def test_rename(self) -> None:
        """A name pattern the consumer spells differently."""
        found = first(schema(("/source/*", "text/*")), schema(("/sources/*", "text/*")))
        assert found == "rename producer part 0 '/source/*' text/* to '/sources/*'"

    def test_drop(self) -> None:
        """A part nobody takes."""
        found = first(schema(*TEXT, ("/debug/**",)), TEXT)
        assert "producer part 1 '/debug/**' */*" in found
        assert "drop producer part 1 '/debug/**' */*" in map(
            str, suggest(schema(*TEXT, ("/debug/**",)), TEXT)
        )

    def test_dropping_all_helps_nobody(self) -> None:
        """An agent that sends nothing fits, and is none."""
        assert suggest(schema(("/out/*", "text/*")), schema(("/in/*", "image/*"))) == []

    def test_convert(self) -> None:
        producer, consumer = (
            schema((None, "image/svg+xml", True)),
            schema((None, "image/png", True)),
        )
        assert first(producer, consumer) == "convert producer part 0 image/svg+xml to image/png"
        converted, taken = suggest(producer, consumer)
        assert converted.producer == schema((None, "image/png", True))
        assert taken.producer == producer

    def test_narrow(self) -> None:
        """The consumer takes some of what is sent."""
        found = first(schema((None, "text/*", True)), schema((None, "text/plain", True)))
        assert found == "narrow producer part 0 text/* to text/plain"

    def test_relabel(self) -> None:
        """A name where none was, and none where one was."""
        named = schema(("/report.md", "text/markdown", True))
        shown = schema((None, "text/markdown", True))
        assert first(shown, named) == "send producer part 0 text/markdown as '/report.md'"
        assert (
            first(named, shown) == "send producer part 0 '/report.md' text/markdown without a name"
        )

    def test_require(self) -> None:
        """What may be sent must be."""
        found = first(schema(("/a", "text/x")), schema(("/a", "text/*", True)))
        assert found == "always send producer part 0 '/a' text/x"

    def test_require_a_part_of_which_the_rest_is_sent_already(self) -> None:
        """It has one more name than is wanted, which another required part takes."""
        sent = [("/b", "image/png", True), ("/{b,z}", "text/*")]
        found = first(schema(*sent), schema(*sent, ("/z", "text/*", True)))
        assert found == "always send producer part 1 '/{b,z}' text/*"


class TestConsumer:
    """The consumer takes more, and nothing less."""

    @pytest.mark.parametrize(
        ("sent", "taken", "then"),
        [
            ("application/ld+json", "application/json", "application/{json,*+json}"),
            ("application/*+json", "application/json", "application/{json,*+json}"),
            ("application/rss+xml", "application/xml", "application/{xml,*+xml}"),
            ("text/markdown", "text/plain", "text/{plain,markdown}"),
            ("text/markdown", "text/{plain,csv}", "text/{plain,csv,markdown}"),
            ("text/*", "text/plain", "text/*"),
            ("image/png", "text/plain", None),
            ("*/*", "text/plain", None),
        ],
    )
    def test_more_types(self, sent: str, taken: str, then: str | None) -> None:
        producer, consumer = schema((None, sent, True)), schema((None, taken, True))
        found = suggest(producer, consumer)
        wider = [each for each in found if each.consumer != consumer]
        if then is None:
            assert not wider
            return
        [only] = wider
        assert only.consumer == schema((None, then, True))
        assert str(only) == f"take {then} as consumer part 0 {taken}"
        assert check(consumer, only.consumer)
        assert only.edits[0].side == "consumer"

    def test_several_types_for_one_part(self) -> None:
        producer = schema(("/a", "text/csv"), ("/b", "text/html"), ("/c", "text/markdown"))
        found = suggest(producer, schema(("/*", "text/plain")))
        [wider] = [each.consumer for each in found if each.producer == producer]
        assert check(producer, wider)
        assert "plain" in wider[0].content_type

    def test_a_requirement_that_nobody_meets(self) -> None:
        producer, consumer = schema(*TEXT), schema(*TEXT, ("/notes", "text/*", True))
        [found] = suggest(producer, consumer)
        assert str(found) == "do not require consumer part 1 '/notes' text/*"
        assert found.consumer == schema(*TEXT, ("/notes", "text/*"))

    def test_what_is_required_is_sent_in_another_type(self) -> None:
        """Then it stays required."""
        producer = schema((None, "application/ld+json", True))
        [found] = suggest(producer, schema((None, "application/json", True)))
        assert [edit.kind for edit in found.edits] == ["widen"]

    def test_names_are_not_widened(self) -> None:
        consumer = schema(("/in/*", "text/plain"))
        found = suggest(schema(("/out/*", "text/html")), consumer)
        assert all(each.consumer == consumer for each in found)

    def test_contents_stay(self) -> None:
        """A part that says what is inside takes no type that has another inside."""
        inside = SchemaPart(None, "application/json", content_schema={"type": "object"})
        consumer = MessageBodySchema([inside])
        for kind in ("application/pdf", "application/*"):
            found = suggest(schema((None, kind)), consumer)
            assert all(each.consumer == consumer for each in found)
        for each in suggest(schema((None, "application/ld+json")), consumer):
            assert check(each.producer, each.consumer)

    def test_a_requirement_is_kept_if_it_can_be_met(self) -> None:
        consumer = schema((None, "text/plain", True), (None, "text/*"))
        wider = [each.consumer for each in suggest(schema((None, "text/csv", True)), consumer)]
        assert schema((None, "text/{plain,csv}", True), (None, "text/*")) in wider

    def test_lenient(self) -> None:
        consumer = schema((None, "text/plain", True))
        producer = schema((None, "text/csv", True), ("/extra", "image/png"))
        found = suggest(producer, consumer, lenient=True)
        [wider] = [each.consumer for each in found if each.consumer != consumer]
        assert wider == schema((None, "text/{plain,csv}", True))


class TestRanking:
    def test_a_change_of_one_part_may_help_another(self) -> None:
        """Both parts are rejected, and both need the one name, so one type is enough."""
        producer = schema(("/b", "text/*", True), ("/b", "text/html", True))
        consumer = schema(("/b", "text/plain", True))
        assert first(producer, consumer) == ("convert producer part 1 '/b' text/html to text/plain")

    def test_several_edits_and_the_fewest_first(self) -> None:
        """Each suggestion makes the pair fit, and none holds another."""
        producer = schema((None, "text/markdown", True), ("/source/*", "text/*"))
        consumer = schema((None, "text/html", True), ("/sources/*", "text/*"))
        found = suggest(producer, consumer)
        sizes = [len(each.edits) for each in found]
        assert sizes == sorted(sizes)
        assert len(found) > 1
        for each in found:
            assert check(each.producer, each.consumer)

    def test_random_pairs(self) -> None:
        """Whatever is suggested is right, and something is for most failing pairs."""
        helped = failing = 0
        for number in range(examples(600)):
            a, b = map(MessageBodySchema, generators.pair(number))
            found = suggest(a, b, limit=2)
            assert all(check(each.producer, each.consumer) for each in found)
            assert all(check(b, each.consumer) for each in found)
            failing += not check(a, b)
            helped += bool(found)
            assert not (found and check(a, b))
        assert helped > failing / 3

    def test_what_is_suggested_can_be_sent(self) -> None:
        """Two names made one would fit as well: nothing could have both types."""
        producer = schema(("/report", "text/markdown", True), ("/summary", "text/plain", True))
        found = suggest(producer, schema(("/doc", "text/*", True)))
        for each in found:
            assert satisfiable(each.producer)
            assert dead_parts(each.producer) == 0
        for number in range(examples(450)):
            a, b = map(MessageBodySchema, generators.pair(number))
            for each in suggest(a, b):
                assert satisfiable(each.producer)
                assert dead_parts(each.producer) <= dead_parts(a)

    def test_a_requirement_beside_a_rejected_part(self) -> None:
        """Both are mended together."""
        producer = schema((None, "text/plain"), ("/files/*.{json,csv}", "image/*", True))
        found = first(producer, schema((None, "text/plain", True)))
        assert "always send producer part 0" in found
        assert "producer part 1" in found
        agent = schema((None, "text/markdown", True), ("/source/*", "text/*"))
        reader = schema((None, "text/html", True), ("/sources/*", "text/*", True))
        assert first(agent, reader) == (
            "convert producer part 0 text/markdown to text/html; "
            "rename producer part 1 '/source/*' text/* to '/sources/*'; "
            "always send producer part 1 '/sources/*' text/*"
        )

    def test_one_budget_for_all(self) -> None:
        """What it costs does not grow with what is tried."""
        again = [f"/*{c}" + "{a,b}" * n + f"{c}*" for n in (11, 23) for c in "ab"]
        producer = schema(("/" + "{a,b}" * 25,), *[(f"/x{i}", "text/plain") for i in range(6)])
        assert suggest(producer, schema(*[(each,) for each in again]), max_steps=2_000) == []

    def test_nothing_to_suggest(self) -> None:
        """The pair fits, or no change of the kind helps."""
        assert suggest(TEXT, TEXT) == []
        impossible = schema(("/a", "a/b", True), ("/a", "a/c", True))
        assert suggest(TEXT, impossible) == []

    def test_lenient_consumers_need_less(self) -> None:
        """What they ignore needs no edit."""
        producer = schema((None, "text/markdown", True), ("/extra",))
        consumer = schema((None, "text/html", True))
        [strict, *_] = suggest(producer, consumer)
        [lenient, *_] = suggest(producer, consumer, lenient=True)
        assert (len(strict.edits), len(lenient.edits)) == (2, 1)
