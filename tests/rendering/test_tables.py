"""Rows of parts and lines of changes for people: what is cut, and how narrow a column gets."""

from messagebody import MessageBody, Part
from messagebody.rendering import listing, told_changes


def test_a_row_shows_the_first_words_and_says_if_there_are_more() -> None:
    for text, shown in (
        ("a" * 40, f'"{"a" * 40}"'),
        ("a" * 41, f'"{"a" * 40}…"'),
        ("a \n\t " * 20, f'"{"a " * 20}'.rstrip() + '"'),
        # A text may be very long, so words behind so many spaces are not looked for.
        ("a" + " " * 159 + "b", '"a…"'),
        ("a" + " " * 158 + "b", '"a b"'),
        ("a" + " " * 1_000, '"a"'),
    ):
        (row,) = listing(MessageBody([text]))
        assert row.endswith(f"  {shown}"), (text, row)


def test_columns_keep_four_characters_and_the_last_one_twelve() -> None:
    body = MessageBody([Part("x" * 100, name="/abcdefghij/klmnop.txt"), Part(b"\xff" * 5_000)])
    narrow = listing(body, width=1)
    assert narrow == ["100…  tex…  /abcdefghij…", "4.9…  app…"]
    assert narrow == listing(body, width=24)
    assert max(map(len, listing(body, width=30))) == 30


def test_of_changed_texts_a_few_lines_are_told() -> None:
    log = "".join(f"line {number}\n" for number in range(500))
    told = told_changes(Part(log), Part(log.replace("line", "row\x1b[2J")))
    assert (told[1], told[-1], len(told)) == ("-line 0", "… 942 more lines", 61)
    assert "+row\\x1b[2J 499" not in "".join(told)
    assert told_changes(Part("a\nb"), Part("a\nb\x1b"))[-1] == "+b\\x1b"
    assert told_changes(Part("a"), Part("a")) == told_changes(Part("a"), Part(b"\xff")) == []
    assert "more than 2,000 lines" in told_changes(Part("a\n" * 3_000), Part("b"))[0]
