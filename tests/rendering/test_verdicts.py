"""An answer of `check` as text."""

from messagebody import MessageBodySchema, check
from messagebody.rendering import explanation

SENDER = MessageBodySchema([(f"/{letter}", "image/*") for letter in "abc"])
TAKER = MessageBodySchema([(f"/taken/{number}", "text/*") for number in range(12)])


def test_the_text_of_an_answer_says_all_that_it_knows() -> None:
    answer = check(SENDER, TAKER)
    lines = str(answer).splitlines()
    assert lines[0] == answer.verdict
    refused = [reason for reason in answer.reasons if reason.rejections]
    for reason in answer.reasons:
        assert f"  {reason.summary}{':' if reason in refused else ''}" in lines
    assert sum("other name and type  '/taken/" in line for line in lines) == 10 * len(refused)
    assert lines.count("    and 2 more parts") == len(refused) == 3
    assert answer.counterexample is not None
    assert [line.split()[-1] for line in lines[-3:]] == answer.counterexample.names()


def test_lines_keep_to_a_width() -> None:
    longer = MessageBodySchema([(f"/{letter * 30}", "image/*", True) for letter in "abc"])
    answer = check(longer, TAKER)
    lines = explanation(answer, width=40)
    assert max(map(len, lines)) == 40
    assert sum(line.endswith("…") for line in lines[-3:]) == 3
    wide = explanation(answer)
    assert answer.counterexample is not None
    assert [line.split()[-1] for line in wide[-3:]] == answer.counterexample.names()
    assert max(map(len, wide)) > 80


def test_the_text_of_a_yes_is_one_word() -> None:
    assert str(check(SENDER, SENDER)) == "always"


class TestWords:
    """What a reader who does not know the tool could misread."""

    def test_a_message_without_parts(self) -> None:
        answer = check(MessageBodySchema([("/a",)]), MessageBodySchema([("/a", "*/*", True)]))
        assert str(answer).splitlines()[-1] == (
            "the producer may send a message without parts, which the consumer refuses"
        )
        assert "The producer may send a message without parts" in answer._repr_html_()

    def test_a_part_of_other_messages_is_named(self) -> None:
        sent = MessageBodySchema([("/a", "text/plain"), ("/a", "image/png")])
        text = str(check(sent, MessageBodySchema([(None,)])))
        said = "in other messages, producer part 1 '/a' image/png allows part '/a' image/png, which"
        assert f"{said} no consumer part accepts" in text

    def test_what_the_shown_message_has(self) -> None:
        """It has `/c`, where other messages have `/d`; none has `/e`."""
        sent = MessageBodySchema([("/{c,d}", "text/plain", True), ("/x", "a/b", True)])
        taken = MessageBodySchema([("/*", "text/*"), ("/c", "*/*", True), ("/e", "*/*", True)])
        answer = check(sent, taken)
        assert answer.counterexample is not None
        assert "/c" in answer.counterexample
        other, shown = [each.text for each in answer.reasons if "missing" in each.code]
        assert other.endswith("is required, and another valid body may lack it")
        assert shown.endswith("is required, and a valid body may lack it")

    def test_that_nothing_useful_fits_comes_first(self) -> None:
        assert str(check(SENDER, TAKER)).splitlines()[1] == (
            "  only the empty body is valid for both"
        )

    def test_unnamed_parts_are_called_so(self) -> None:
        answer = check(MessageBodySchema([("/a",)]), MessageBodySchema([(None, "text/*")]))
        assert "other name  unnamed text/*  part 0" in str(answer)
        answer = check(MessageBodySchema([(None,)]), MessageBodySchema([("/a", "text/*")]))
        assert "  an unnamed " in str(answer)
        assert "part an unnamed" not in str(answer)


def inside(content: object) -> MessageBodySchema:
    return MessageBodySchema([
        {"name": "/r.json", "contentType": "application/json", "required": True,
         "contentSchema": content},
        {"name": "/other.json", "contentType": "application/json", "required": True},
    ])  # fmt: skip


def test_json_that_is_refused_is_printed() -> None:
    level = {"type": "object", "required": ["level"], "properties": {"level": {"type": "string"}}}
    taken = {"properties": {"level": {"enum": ["high"]}}}
    lines = str(check(inside(level), inside(taken))).splitlines()
    # Only where what is inside decides.
    assert lines[-2:] == ["  12 B  application/json  /r.json", '    {"level":""}']


def test_json_that_is_refused_is_cut_and_safe() -> None:
    hostile = {"const": {"\x1b[31m\u202e": "a" * 5_000}}
    line = str(check(inside(hostile), inside(False))).splitlines()[-1]
    assert line.startswith("    {")
    assert line.isprintable()
    assert line.endswith("a…")
    assert len(line) < 400
