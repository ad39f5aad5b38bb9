"""Every answer that was decided can be shown, in time linear in what is shown."""

import pytest

from messagebody import Limits, MessageBody
from messagebody.compatibility import Compatibility, check, disjoint, equivalent, satisfiable
from messagebody.errors import DecodeError
from messagebody.schema import MessageBodySchema
from tests.compatibility.test_inclusion import schema
from tests.effort import calls

LONG = "a" * 1030
"""Of characters more than readers take in a name, and than a content type may have."""


def shown(answer: Compatibility) -> list[str]:
    """Return all texts of an answer."""
    texts = [str(answer), repr(answer), answer._repr_html_()]
    return texts + [str(reason) for reason in answer.reasons]


class TestLongNames:
    """Patterns that match no name that readers take by default."""

    @pytest.mark.leaf("rendering")
    @pytest.mark.dear
    def test_a_counterexample(self) -> None:
        answer = check(schema(("/*" + LONG, "x/q")), schema(("/*" + LONG, "x/z")))
        assert answer.verdict == "sometimes"
        assert answer.counterexample is not None
        [part] = answer.counterexample
        assert len(part.name or "") > 1024
        for text in (str(answer), answer._repr_html_()):
            assert "it has a name of 1,032 characters; readers take 1,024 by default" in text
        written = answer.counterexample.to_json()
        with pytest.raises(DecodeError, match="name_length"):
            MessageBody.from_json(written)
        read = MessageBody.from_json(written, limits=Limits(name_length=2000))
        assert read == answer.counterexample

    def test_examples_and_witnesses(self) -> None:
        long = schema((f"/{LONG}", "x/q", True))
        example = check(long, long).example
        assert example is not None
        assert example.names() == ["/" + LONG]
        assert satisfiable(long).witness == example
        begins, ends = (
            schema(("/" + "a" * 600 + "*", "x/q", True)),
            schema(("/*" + "b" * 600, "x/q", True)),
        )
        both = disjoint(begins, ends).witness
        assert both is not None
        assert 1_200 < len(both.names()[0]) < 1_204
        other = equivalent(long, schema(("/b", "x/q", True)))
        assert other.value is False
        assert other.witness is not None

    @pytest.mark.leaf("rendering")
    def test_another_message_is_shown_where_it_can_be_read(self) -> None:
        """A short name of another part or alternative shows as much."""
        for producer in (
            schema(("/" + LONG, "x/q"), ("/b", "x/q")),
            schema(("/b", "x/q"), ("/" + LONG, "x/q")),
            schema((f"/{{{LONG},b}}", "x/q")),
        ):
            answer = check(producer, schema(("/z", "x/q")))
            assert answer.counterexample is not None
            assert answer.counterexample.names() == ["/b"]
            # The other part is told of all the same.
            told = {each.producer_index for each in answer.reasons if "accepted" in each.code}
            assert told == set(range(len(producer)))
            shown(answer)


class TestLongTypes:
    """Patterns that match no content type that may be written."""

    @pytest.mark.leaf("rendering")
    def test_no_message_shows_it(self) -> None:
        answer = check(schema(("/a", "x/" + LONG)), schema(("/a", "x/b" + LONG)))
        assert (answer.verdict, answer.compatible) == ("sometimes", False)
        assert answer.counterexample is None
        assert answer.counterexample_types == (("/a", "x/" + LONG),)
        assert "no message shows it: the patterns ask for a content type of 1,032" in str(answer)
        shown(answer)

    def test_examples_and_witnesses(self) -> None:
        long = schema(("/a", "x/" + LONG, True))
        assert (check(long, long).verdict, check(long, long).example) == ("always", None)
        assert (satisfiable(long).value, satisfiable(long).witness) == (True, None)
        assert (disjoint(long, long).value, disjoint(long, long).witness) == (False, None)

    def test_another_message_is_shown_where_there_is_one(self) -> None:
        producer = schema(("/a", "x/" + LONG), ("/b", "x/q"))
        answer = check(producer, schema(("/z",)))
        assert answer.counterexample is not None
        assert answer.counterexample.names() == ["/b"]


def strays(count: int) -> tuple[MessageBodySchema, MessageBodySchema]:
    """Return required parts of which none fits any."""
    return (
        schema(*[(f"/a{i}/*", "*/*", True) for i in range(count)]),
        schema(*[(f"/b{i}/*", "*/*", True) for i in range(count)]),
    )


class TestHundredsOfReasons:
    @pytest.mark.leaf("rendering")
    def test_twenty_are_told(self) -> None:
        answer = check(*strays(100))
        assert len(answer.reasons) == 200
        assert [len(reason.rejections) for reason in answer.reasons] == [100] * 100 + [0] * 100
        lines = str(answer).splitlines()
        assert sum("is accepted by no consumer part" in line for line in lines) == 20
        assert lines.count("    and 90 more parts") == 20
        assert "  and 180 more reasons" in lines
        page = answer._repr_html_()
        assert page.count("is accepted by no consumer part") == 20
        assert "and 180 more reasons" in page
        assert page.count("… 90 more") == 20

    @pytest.mark.leaf("rendering")
    def test_twenty_are_not_said_to_be_more(self) -> None:
        answer = check(*strays(10))
        assert len(answer.reasons) == 20
        assert "more reasons" not in str(answer)
        assert "more reasons" not in answer._repr_html_()

    def test_nearest_are_the_first_of_all(self) -> None:
        reason = check(*strays(40)).reasons[7]
        assert reason.nearest(5) == reason.rejections[:5]

    @pytest.mark.leaf("rendering")
    @pytest.mark.dear
    def test_telling_takes_no_longer_than_finding(self) -> None:
        """Its work grows with what is told, not with the square of it."""
        answer = check(*strays(800))
        found = calls(lambda: answer.reasons)
        assert calls(lambda: str(answer)) < 2 * found


def test_an_answer_as_json() -> None:
    sent = MessageBodySchema([("/a.csv", "text/csv", True)])
    found = check(sent, MessageBodySchema([("/b.csv", "text/csv")])).to_dict()
    assert (found["verdict"], found["compatible"], found["example"]) == ("never", False, None)
    assert [part["name"] for part in found["counterexample"]] == ["/a.csv"]
    [reason] = found["reasons"]
    assert (reason["code"], reason["producerIndex"]) == ("part-not-accepted", 0)
    assert check(sent, sent).to_dict()["reasons"] == []
