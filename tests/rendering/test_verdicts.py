"""An answer of `check` as text."""

from messagebody import MessageBodySchema, check

SENDER = MessageBodySchema([(f"/{letter}", "image/*") for letter in "abc"])
TAKER = MessageBodySchema([(f"/taken/{number}", "text/*") for number in range(12)])


def test_the_text_of_an_answer_says_all_that_it_knows() -> None:
    answer = check(SENDER, TAKER)
    lines = str(answer).splitlines()
    assert lines[0] == answer.verdict
    refused = [reason for reason in answer.reasons if reason.rejections]
    for reason in answer.reasons:
        assert f"  {reason.summary}{':' if reason in refused else ''}" in lines
    assert sum(line.endswith("other name and type") for line in lines) == 10 * len(refused)
    assert lines.count("    and 2 more parts") == len(refused) == 3
    assert answer.counterexample is not None
    assert [line.split()[-1] for line in lines[-3:]] == answer.counterexample.names()
    assert repr(answer) == "Compatibility(sometimes, with a counterexample)"


def test_the_text_of_a_yes_is_one_word() -> None:
    assert str(check(SENDER, SENDER)) == "always"
