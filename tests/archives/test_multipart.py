"""Parts of mail: as the standard library reads them, in little memory, and told where damaged."""

import base64
import binascii
import contextlib
import email
import email.policy
import io
import random
from collections.abc import Iterator
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from messagebody import Limits, MessageBody, Part
from messagebody.adapters import adapter
from messagebody.archives import mime
from messagebody.errors import DecodeError, EnvelopeError, InvalidArgument

# Lines that could be taken for headers, delimiters, the ends of content or pieces of it.
LINES = st.sampled_from(
    ["", " ", "Hello!", "--", "--bb", "--b0--", "-- b1", "a: b", "From me", "=", "=41=", "=E9 x",
     "caf\xe9", "x" * 70_000]
)  # fmt: skip
BASE64 = st.sampled_from(["", "SGVsbG8=", "SGVsbA==", "SGVs", "bG8", "_______", "a footer, too"])
ENCODINGS = st.sampled_from(["7bit", "8bit", "Base64", "quoted-printable", "x-unknown", None])
TYPES = st.sampled_from(["text/plain; charset=utf-8", "application/pdf", "message/rfc822", None])


@st.composite
def leaf_lines(draw: st.DrawFn) -> list[str]:
    encoding = draw(ENCODINGS)
    headers = {
        "Content-Type": draw(TYPES),
        "Content-Transfer-Encoding": encoding,
        "X-Folded": draw(st.sampled_from([None, "one\n two"])),
    }
    told = [f"{key}: {value}" for key, value in headers.items() if value is not None]
    return [line for each in told for line in each.split("\n")] + [
        "", *draw(st.lists(BASE64 if encoding == "Base64" else LINES))
    ]  # fmt: skip


@st.composite
def multipart_lines(draw: st.DrawFn, parts: Any) -> list[str]:
    boundary = draw(st.sampled_from(["b", "b0", "b1", "b?(x)", "b b", *map(str, range(9))]))
    kind = draw(st.sampled_from(["mixed", "digest", "alternative"]))
    lines = [f'Content-Type: multipart/{kind}; boundary="{boundary}"', ""]
    lines += draw(st.lists(LINES, max_size=2))
    for part in draw(st.lists(parts, max_size=3)):
        lines += [f"--{boundary}" + draw(st.sampled_from(["", "", " ", "\t"])), *part]
    # The end may be missing, and something may follow it.
    end = [f"--{boundary}--", *draw(st.lists(LINES, max_size=2))]
    return lines + draw(st.sampled_from([end, end, []]))


MESSAGES = multipart_lines(st.recursive(leaf_lines(), multipart_lines, max_leaves=6))


def by_the_library(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield type and content of each part as Python's parser of mail finds them."""

    def leaves(message: Any) -> Iterator[Any]:
        for part in message.get_payload() if message.is_multipart() else ():
            # The library reads mail in base64 as if it were plain, which destroys it.
            is_coded = str(part["Content-Transfer-Encoding"]).lower() == "base64"
            assume(not (is_coded and part.get_content_type() == "message/rfc822"))
            yield from leaves(part) if part.is_multipart() else (part,)

    for part in leaves(email.message_from_bytes(data, policy=email.policy.compat32)):
        # To it, a message of parts that has none is a part itself.
        if part.get_content_maintype() != "multipart":
            yield part.get_content_type(), part.get_payload(decode=True) or b""


@given(MESSAGES, st.sampled_from(["\n", "\r\n"]))
def test_parts_are_those_that_the_library_finds(lines: list[str], end: str) -> None:
    stated = [line for line in lines if "boundary=" in line]
    assume(len({line.partition("boundary=")[2] for line in stated}) == len(stated))
    data = end.join([*lines, ""]).encode("latin-1")
    try:
        body = mime.to_body(data).value
    except DecodeError as error:
        # What it takes for text, or for nothing, is refused here.
        is_damaged = isinstance(error.__cause__, binascii.Error)
        if not is_damaged and "boundary is not in it" not in str(error):
            raise
        return
    mine = [(part.content_type.split(";")[0], part.read_bytes()) for part in body]
    assert mine == [*by_the_library(data)]


class Trickle(io.BytesIO):
    """A file that gives a few bytes at a time, as a pipe may."""

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(3)


@given(MESSAGES, st.sampled_from(["\n", "\r\n"]))
def test_a_message_is_the_same_in_any_pieces(lines: list[str], end: str) -> None:
    data = end.join([*lines, ""]).encode("latin-1")

    def outcome(source: Any) -> Any:
        try:
            read = mime.to_body(source)
        except DecodeError as error:
            return str(error)
        return read.value, read.losses

    assert outcome(Trickle(data)) == outcome(data)


HEAD = b"Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n"


def read(part: bytes, **options: Any) -> Any:
    return mime.to_body(HEAD + part + b"\r\n--b--\r\n", **options)


def test_a_message_that_ends_too_early_says_so() -> None:
    whole = mime.from_body(MessageBody([Part("Look."), Part("Cats.")])).value
    assert mime.to_body(whole).losses == ()
    cut = mime.to_body(whole[: whole.rindex(b"\r\n--")])
    assert len(cut.value) == 2
    assert "omitted the message: its end is missing" in str(cut.losses[0])
    with pytest.raises(DecodeError, match="its boundary is not in it"):
        mime.to_body(HEAD[:-5] + b"Hello!")


def test_what_mailing_lists_put_after_base64_is_a_loss() -> None:
    done = read(b"Content-Transfer-Encoding: base64\n\nSGVsbG8=\n___\nunsubscribe")
    assert done.value[0].read_text() == "Hello"
    assert [str(loss) for loss in done.losses] == [
        "omitted part 0: the text after its base64 is not content"
    ]


def test_a_line_of_a_mailbox_begins_the_content() -> None:
    body = read(b"a: b\nFrom \xe9\n\nx").value
    assert body[0].read_bytes() == b"From \xe9\nx"


MAIL = b"From: a@b\r\nSubject: hi\r\n\r\nThe contract.\r\n"


@pytest.mark.parametrize(
    "kind", ["message/rfc822", "message/global", "multipart/mixed; boundary=b"]
)
@pytest.mark.parametrize("subtype", mime.SUBTYPES)
def test_a_part_that_is_mail_comes_back_whole(kind: str, subtype: str) -> None:
    body = MessageBody([Part("see", name="/a.txt"), Part(MAIL, name="/m.eml", content_type=kind)])
    data, losses = mime.from_body(body, subtype=subtype)
    assert [(loss.where, loss.affects) for loss in losses] == [("part 1 /m.eml", "labels")]
    back = mime.to_body(data).value
    assert [part.read_bytes() for part in back] == [b"see", MAIL]
    assert back.names() == body.names()


def test_attached_mail_is_a_file_and_mail_within_tells_what_it_loses() -> None:
    head = b"Content-Type: message/rfc822\r\n"
    file = b"Content-Disposition: attachment; filename=m.eml\r\n"
    coded = b"Content-Transfer-Encoding: base64\r\n\r\n" + base64.b64encode(MAIL)
    parts = [head + file + b"\r\n" + MAIL, head + b"\r\n" + MAIL, head + coded]
    found = mime.to_body(b"".join([
        b"Content-Type: multipart/mixed; boundary=x\r\n\r\n",
        *(b"--x\r\n" + part + b"\r\n" for part in parts), b"--x--\r\n",
    ]))  # fmt: skip
    assert [(part.name, part.content_type, part.read_bytes()) for part in found.value] == [
        ("/m.eml", "message/rfc822", MAIL), (None, "text/plain", b"The contract.\r\n"),
        (None, "message/rfc822", MAIL),
    ]  # fmt: skip
    assert [(loss.where, loss.kind) for loss in found.losses] == [("part 1", "omitted")]


def test_content_in_an_unknown_encoding_stays_as_it_came_with_a_loss() -> None:
    done = read(b"Content-Transfer-Encoding: x-uuencode\n\nbegin 644 a.txt")
    assert done.value[0].read_bytes() == b"begin 644 a.txt"
    assert "part 0: its encoding 'x-uuencode' is not known" in str(done.losses[0])


@pytest.mark.parametrize(
    ("part", "why"),
    [
        (b"Content-Transfer-Encoding: base64\n\nSGVsb", "part 0 can't be read"),
        (b"Content-Type: a/b; x=" + b";" * 200 + b"\n\nx", "more than 100 parameters"),
        (b"a: " + b"x" * 2_000_000 + b"\n\nx", "more than 1,048,576 bytes"),
    ],
)
def test_damaged_parts_are_refused(part: bytes, why: str) -> None:
    with pytest.raises(DecodeError, match=why):
        read(part)


def test_nothing_stays_of_a_message_that_is_refused(tmp_path: Path) -> None:
    parts = b"\r\n\r\nx\r\n--b\r\n" * 3
    with pytest.raises(DecodeError, match="part 3 can't be read"):
        read(parts + b"Content-Transfer-Encoding: base64\n\nSGVsb", into=tmp_path)
    assert [*tmp_path.iterdir()] == []
    (tmp_path / "00000000").write_text("somebody's")
    with pytest.raises(FileExistsError):
        read(b"\r\nx", into=tmp_path)
    assert (tmp_path / "00000000").read_text() == "somebody's"


def test_limits_hold_for_a_part_and_the_whole(tmp_path: Path) -> None:
    with pytest.raises(DecodeError, match="part 0 has more than 9 bytes"):
        read(b"\r\n" + b"x" * 10, limits=Limits(part_bytes=9))
    assert read(b"\r\n" + b"x" * 10, limits=Limits(part_bytes=9), into=tmp_path).value[0].size == 10
    with pytest.raises(DecodeError, match="the message has more than 60 bytes"):
        read(b"\r\n" + b"x" * 10, max_bytes=60)
    with pytest.raises(DecodeError, match="more than 2 parts"):
        read(b"\r\n\r\nx\r\n--b\r\n" * 3, limits=Limits(parts=2))


@pytest.mark.parametrize(
    ("part", "why"),
    [
        pytest.param(b"--b\n" * 50_001, "more than 50,000 parts", id="delimiters"),
        pytest.param(
            b"--b\n\nx\n" * 50_001, "more than 50,000 parts", id="parts", marks=pytest.mark.slow
        ),
        pytest.param(
            (b"a:\n" * 200_000 + b"\nx\n--b\n") * 3,
            "more than 500,000 lines of headers",
            id="headers",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_what_would_take_minutes_is_refused(part: bytes, why: str) -> None:
    with pytest.raises(DecodeError, match=why):
        read(part)


def test_a_body_of_more_parts_than_readers_take_is_not_written() -> None:
    with pytest.raises(InvalidArgument, match="at most 50,000 parts"):
        mime.from_body(MessageBody([Part("x")] * 50_001))


def test_a_file_name_that_is_too_long_stays_as_metadata() -> None:
    stated = "x" * 5_000 + ".txt"
    told = f'Content-Disposition: attachment; filename="{stated}"'.encode()
    part = read(told + b"\n\nHello!").value[0]
    assert part.name == "/" + "x" * 96 + ".txt"
    assert part.metadata == {"filename": stated}


@pytest.mark.parametrize("end", [b"\n", b""])
def test_content_needs_no_lines(end: bytes) -> None:
    """Pieces of a long line are put together again, whatever is cut."""
    chance = random.Random(3)
    for size in (65_535, 65_536, 65_537, 200_000):
        content = chance.randbytes(size).replace(b"\n", b"\r") + end
        assert read(b"\r\n" + content).value[0].read_bytes() == content
        quoted = b"=41" * (size // 3)
        told = b"Content-Transfer-Encoding: quoted-printable\r\n\r\n"
        assert read(told + quoted).value[0].read_bytes() == b"A" * (size // 3)


@pytest.mark.parametrize(
    "header",
    [
        b"".join(b"a%d:\xe9\n" % index for index in range(110_000)),
        b'Content-Disposition: a; filename="' + b"=?utf-8?q?" * 100_000 + b'"\n',
        b"Content-Type: a" + b"\n b" * 300_000 + b"\n",
    ],
    ids=["headers with raw text", "encoded words", "folded lines"],
)
def test_long_headers_are_read_or_refused(header: bytes) -> None:
    """Where the library looks from each place to the end, these would take many minutes."""
    with contextlib.suppress(DecodeError):
        assert len(read(header + b"\nx").value) == 1


def mail() -> bytes:
    message = EmailMessage()
    message["Subject"] = "Cats"
    message["From"] = "a@example.com"
    message["X-Id"] = "7"
    message.set_content("Hello")
    message.add_alternative("<p>Hello</p>", subtype="html")
    message.add_attachment(
        b"%PDF", maintype="application", subtype="pdf", filename="r\u00e9sum\u00e9.pdf"
    )
    return message.as_bytes()


def test_mail_keeps_its_headers_and_file_names() -> None:
    there = mime.to_body(mail())
    assert [str(loss) for loss in there.losses] == [
        "converted the message: its parts of multipart/alternative stand among the others"
    ]
    made = mime.from_body(there.value, rest=there.rest)
    assert made.losses == ()
    back = email.message_from_bytes(made.value, policy=email.policy.default)
    assert (back["Subject"], back["From"], back["X-Id"]) == ("Cats", "a@example.com", "7")
    assert [part.get_filename() for part in back.iter_attachments()][-1] == "r\u00e9sum\u00e9.pdf"
    again = mime.to_body(made.value)
    assert (again.value, again.rest, again.losses) == (there.value, there.rest, ())


def test_another_format_says_which_headers_stay_behind() -> None:
    there = mime.to_body(mail())
    said = adapter("gemini").from_body(there.value, rest=there.rest).losses
    assert [loss.where for loss in said if loss.where[0] != "p"] == ["From", "Subject"]


def test_the_members_of_another_message_are_losses() -> None:
    rest = {"format": "gemini", "role": "user", "missed": ["isError"]}
    assert [loss.where for loss in mime.from_body(MessageBody(), rest=rest).losses] == ["isError"]
    for name in ("zip", "tar"):
        done = adapter(name).from_body(MessageBody(), rest=rest)
        assert [loss.where for loss in done.losses] == ["isError"]


@pytest.mark.parametrize(
    "headers",
    [
        "x", [["Subject"]], [["Subject", 5]], [["A: b\r\nBcc", "x"]],
        [["Content-Type", "text/html"]], [["", "x"]],
    ],
)  # fmt: skip
def test_headers_that_are_none_are_refused(headers: Any) -> None:
    with pytest.raises(EnvelopeError, match="rest is not what to_body returned"):
        mime.from_body(MessageBody(), rest={"format": "mime", "headers": headers})


def test_a_header_never_begins_another() -> None:
    rest = {"format": "mime", "headers": [["Subject", "x\r\nBcc: everybody@example.com"]]}
    made = mime.from_body(MessageBody(), rest=rest)
    assert b"Bcc" not in made.value
    assert [loss.where for loss in made.losses] == ["Subject"]
