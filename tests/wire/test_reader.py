"""Decoding and encoding: what is taken, how every refusal reads, what is written."""

import json
from pathlib import Path
from typing import Any

import pytest

from messagebody import Limits, MessageBody, Part
from messagebody.errors import DecodeError, LocalFileNotSent

ZEROS = "sha256:" + "0" * 64
CAPITALS = "sha256:" + "A" * 64
ABC = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
NOT_AN_ARRAY = "a body is an array of parts, got "
EXACTLY_ONE = "exactly one of content and contentUrl is expected, got "
NO_URL = "is not scheme:rest without white space and controls"
SIZE = "part 0: size is an integer from 0 to 2^53-1, got "
DIGEST = "part 0: digest is 'sha256:' and 64 lower-case hex digits, got "
ENCODING_SAYS = "; contentEncoding says base64. If it is text, drop contentEncoding"


def base64_part(content: str) -> str:
    return json.dumps([{"content": content, "contentEncoding": "base64", "contentType": "a/b"}])


def reference(**members: Any) -> str:
    return json.dumps([{"contentUrl": "s3://b/k", **members}])


REFUSALS: list[tuple[str | bytes, str]] = [
    # No JSON
    ("", "not JSON: expecting value at byte 0, got the end"),
    ("[", "not JSON: expecting value at byte 1, got the end"),
    ("nul", "not JSON: expecting value at byte 0, got 'n'"),
    ('"x', "not JSON: unterminated string starting at byte 0, got '\"'"),
    ('["é" x]', "not JSON: expecting ',' delimiter at byte 6, got 'x'"),
    (
        "[{'content':'a'}]",
        "not JSON: expecting property name enclosed in double quotes at byte 2, got '''",
    ),
    ('[{"content":"a"}] x', "not JSON: extra data at byte 18, got 'x'"),
    ('["\x1b"]', "not JSON: invalid control character at byte 2, got '\\x1b'"),
    (b"\xff", "byte 0 is not UTF-8 (0xff)"),
    (b'[{"content":"\xc3"}]', "byte 13 is not UTF-8 (0xc3)"),
    (b'[{"content":"\xed\xa0\x80"}]', "byte 13 is not UTF-8 (0xed)"),
    (b"\xef\xbb\xbf[]", "the document begins with a byte order mark"),
    ("\ufeff[]", "the document begins with a byte order mark"),
    # JSON that a relay could read in two ways
    ('{"parts":[],"parts":[]}', "member 'parts' is repeated in one object"),
    (
        '[{"content":"a","content":"b"}]',
        "part 0: member 'content' is repeated in one object",
    ),
    (
        '[{"content":"a","content":"a"}]',
        "part 0: member 'content' is repeated in one object",
    ),
    (
        '[{"content":"a","metadata":{"x":[{"y":1,"y":2}]}}]',
        "part 0: metadata/x/0: member 'y' is repeated in one object",
    ),
    ('[{"content":"a","x":1,"\\u0078":1}]', "part 0: member 'x' is repeated in one object"),
    (
        '{"parts":[{"content":"a"},{"content":"b","size":NaN}]}',
        "part 1: size: nan is not a JSON number (or overflows one)",
    ),
    (
        '[{"content":"a","metadata":{"x":[1,-Infinity]}}]',
        "part 0: metadata/x/1: -inf is not a JSON number (or overflows one)",
    ),
    (
        '[{"content":"a","metadata":{"x":1e400}}]',
        "part 0: metadata/x: inf is not a JSON number (or overflows one)",
    ),
    ("[NaN]", "part 0: nan is not a JSON number (or overflows one)"),
    (
        '[{"content":"a","metadata":{"x":-' + "1" * 5000 + "}}]",
        "part 0: metadata/x: a number of 5,000 digits is too long",
    ),
    (
        '[{"content":"ab\\ud800"}]',
        "part 0: content: character 2 is the lone surrogate U+D800",
    ),
    ('[{"content":"\ud800"}]', "part 0: content: character 0 is the lone surrogate U+D800"),
    (
        '[{"name":"/a\\udc00","content":"x"}]',
        "part 0: name: character 2 is the lone surrogate U+DC00",
    ),
    (
        '[{"content":"a","x\\ud800":1}]',
        "part 0: member name 'x\\ud800' holds a lone surrogate",
    ),
    # No array of parts
    ("3", NOT_AN_ARRAY + "a number"),
    ('"x"', NOT_AN_ARRAY + "a string"),
    ("null", NOT_AN_ARRAY + "null"),
    ("true", NOT_AN_ARRAY + "true or false"),
    ("{}", NOT_AN_ARRAY + "an object without 'parts'"),
    (
        '{"content":"a"}',
        NOT_AN_ARRAY + "an object without 'parts'; one part is a body too: [ {…} ]",
    ),
    ('{"parts":{}}', NOT_AN_ARRAY + "an object"),
    (
        '{"parts":[],"role":"user","id\\n":1}',
        "an object with 'parts' holds nothing else, got 'role', 'id\\n' too; "
        "if this is another system's envelope, convert it: messagebody.envelopes",
    ),
    ("[1.5]", "part 0: a part is an object, got a number"),
    ("[null]", "part 0: a part is an object, got null"),
    ("[[]]", "part 0: a part is an object, got an array"),
    # Parts
    ("[{}]", "part 0: " + EXACTLY_ONE + "neither"),
    ('[{"content":null}]', "part 0: " + EXACTLY_ONE + "neither"),
    (
        '[{"content":"","name":"/a","contentUrl":"s3://b/k"}]',
        "part 0 '/a': " + EXACTLY_ONE + "both",
    ),
    ('[{"content":1}]', "part 0: content is a string, got a number"),
    ('[{"contentUrl":{}}]', "part 0: contentUrl is a string, got an object"),
    ('[{"content":"a","name":1}]', "part 0: name is a string, got a number"),
    ('[{"content":"a","contentType":[]}]', "part 0: contentType is a string, got an array"),
    (
        '[{"content":"a","contentType":"text"}]',
        "part 0: content type 'text' is not type/subtype, for example 'text/plain'",
    ),
    (
        '[{"content":"a","contentType":""}]',
        "part 0: content type '' is not type/subtype, for example 'text/plain'",
    ),
    (
        '[{"content":"é","name":"/a","contentType":"text/plain; charset=latin-1"}]',
        "part 0 '/a': content type 'text/plain; charset=latin-1' of plain text: its bytes are "
        "UTF-8, so charset is utf-8 or us-ascii; give bytes in the other encoding",
    ),
    (
        '[{"content":"é","contentType":"text/plain; charset=us-ascii"}]',
        "part 0: content of charset us-ascii holds characters outside of it",
    ),
    ('[{"content":"a","metadata":[]}]', "part 0: metadata is an object, got an array"),
    (
        '[{"content":"a","contentEncoding":"gzip"}]',
        "part 0: contentEncoding is 'plain' or 'base64', got 'gzip'",
    ),
    (
        '[{"content":"a","contentEncoding":false}]',
        "part 0: contentEncoding is a string, got true or false",
    ),
    (
        reference(contentEncoding="base64"),
        "part 0: contentEncoding goes with content, not with contentUrl",
    ),
    # Names
    ('[{"content":"a","name":"a"}]', "part 0 'a': a name begins with '/', for example '/a'"),
    (
        '[{"content":"a","name":""}]',
        "part 0 '': a name is /segment one or more times, for example '/report.pdf'",
    ),
    (
        '[{"content":"a","name":"/a/../b"}]',
        "part 0 '/a/../b': no segment may be '.' or '..'; perhaps '/a/b'",
    ),
    (
        '[{"content":"a","name":"/a"},{"content":"b"},{"content":"a","name":"/a"}]',
        "part 2 '/a': the name is taken by part 0",
    ),
    # References
    (reference(contentUrl="nothing"), f"part 0: URL 'nothing' {NO_URL}"),
    (reference(contentUrl="s3:"), f"part 0: URL 's3:' {NO_URL}"),
    (reference(contentUrl="1:x"), f"part 0: URL '1:x' {NO_URL}"),
    (reference(contentUrl=""), f"part 0: URL '' {NO_URL}"),
    (
        reference(contentUrl="https://u:p@h/a b?sig=secret"),
        f"part 0: URL 'https://…@h/a b?…' {NO_URL}",
    ),
    (reference(contentUrl="s3://b/k\u0085"), f"part 0: URL 's3://b/k\\x85' {NO_URL}"),
    (reference(size=-1), SIZE + "-1 (int)"),
    (reference(size="1"), SIZE + "'1'"),
    (reference(size=True), SIZE + "True (bool)"),
    (reference(size=1.0), SIZE + "1.0 (float)"),
    (reference(size=2**53), SIZE + "9007199254740992 (int)"),
    (reference(digest="md5:1"), DIGEST + "'md5:1'"),
    (reference(digest=CAPITALS), f"{DIGEST}'{CAPITALS}'"),
    (reference(digest=3), "part 0: digest is a string, got a number"),
    # Promises about inline content, also where it is disguised as a reference
    ('[{"content":"abc","size":4}]', "part 0: size says 4, the content has 3 bytes"),
    ('[{"content":"é","size":1}]', "part 0: size says 1, the content has 2 bytes"),
    (
        '[{"content":"abc","digest":"' + ZEROS + '"}]',
        f"part 0: digest says {ZEROS}, the content has {ABC}",
    ),
    ('[{"content":"abc","size":3.0}]', SIZE + "3.0 (float)"),
    ('[{"content":"abc","digest":""}]', DIGEST + "''"),
    (reference(contentUrl="data:,abc", size=4), "part 0: size says 4, the content has 3 bytes"),
    (
        reference(contentUrl="DATA:;base64,YWJj", digest=ZEROS),
        f"part 0: digest says {ZEROS}, the content has {ABC}",
    ),
    (
        reference(contentUrl="data:text/plain"),
        "part 0: a data URL is data:[type][;base64],content",
    ),
    (
        reference(contentUrl="data:;base64,A"),
        "part 0: the content of the data URL is not base64",
    ),
    # base64
    (
        '[{"name":"/charts/a.png","content":"AAAAAAAAAAAAAAAAA%AA","contentEncoding":"base64"}]',
        "part 0 '/charts/a.png': content is not base64 (character 17 is '%')" + ENCODING_SAYS,
    ),
    (
        base64_part("AA AA"),
        f"part 0: content is not base64 (character 2 is ' '){ENCODING_SAYS}",
    ),
    (base64_part("AA\n"), f"part 0: content is not base64 (character 2 is '\\n'){ENCODING_SAYS}"),
    (base64_part("AAé="), f"part 0: content is not base64 (character 2 is 'é'){ENCODING_SAYS}"),
    (
        base64_part("A-B/"),
        "part 0: content is not base64 (it mixes the standard and the URL-safe alphabet)"
        + ENCODING_SAYS,
    ),
    (
        base64_part("AAAAA"),
        "part 0: content is not base64 (a length of 5 does not make whole bytes)"
        + ENCODING_SAYS,
    ),
    (
        base64_part("AA="),
        "part 0: content is not base64 (1 '=' at the end, expected 2 or none)" + ENCODING_SAYS,
    ),
    (
        base64_part("===="),
        "part 0: content is not base64 (4 '=' at the end, expected 0 or none)" + ENCODING_SAYS,
    ),
    (
        base64_part("AA=A"),
        f"part 0: content is not base64 (character 2 is '='){ENCODING_SAYS}",
    ),
    # All of it, not the first
    (
        '[{"content":"a"},{"content":1},{"name":"/x"},7]',
        "part 1: content is a string, got a number. part 2 '/x': "
        + EXACTLY_ONE
        + "neither. part 3: a part is an object, got a number",
    ),
]  # fmt: skip

STRICT_REFUSALS = [
    ('[{"content":"a"}]', "part 0: contentType is absent (strict)"),
    (
        '[{"content":"a","contentType":"text/plain","x":1,"y\\n":2}]',
        "part 0: unknown members 'x', 'y\\n' (strict)",
    ),
    (
        '[{"content":"a","contentType":"text/plain","name":null}]',
        "part 0: name is null; leave it out (strict)",
    ),
    (
        '[{"content":"a","contentType":null}]',
        "part 0: contentType is null; leave it out (strict)",
    ),
    (
        base64_part("A-_A"),
        f"part 0: content is not base64 (it is URL-safe base64 (strict)){ENCODING_SAYS}",
    ),
    (
        base64_part("AA"),
        f"part 0: content is not base64 (its padding is missing (strict)){ENCODING_SAYS}",
    ),
]

LIMITED: list[tuple[str, Limits, str]] = [
    ('["é"]', Limits(json_bytes=5), "6 B of JSON; the limit json_bytes is 5 B"),
    ('[{"content":"a"},{"content":"b"}]', Limits(parts=1), "2 parts; the limit parts is 1"),
    (
        '[{"content":"aé"}]',
        Limits(part_bytes=2),
        "part 0: content of 3 B; the limit part_bytes is 2 B",
    ),
    (
        base64_part("AAAA"),
        Limits(part_bytes=2),
        "part 0: content of 3 B; the limit part_bytes is 2 B",
    ),
    (
        reference(contentUrl="data:,abc"),
        Limits(part_bytes=2),
        "part 0: the data URL holds 3 B, the limit is 2 B",
    ),
    (
        '[{"content":"a","metadata":{"a":[]}}]',
        Limits(depth=3),
        "nested more than 3 levels deep (limit depth)",
    ),
    ("[" * 101, Limits(), "nested more than 100 levels deep (limit depth)"),
    (
        "[" * 100_000 + "]" * 100_000,
        Limits(depth=10**6),
        "nested deeper than the parser can follow; lower limit depth",
    ),
    (
        '[{"content":"a","name":"/abc"}]',
        Limits(name_length=3),
        "part 0 '/abc': a name of 4 characters; the limit name_length is 3",
    ),
    (
        json.dumps([{"content": "a", "name": "/" + "x" * 1024}]),
        Limits(),
        f"part 0 '/{'x' * 199}…': a name of 1,025 characters; the limit name_length is 1,024",
    ),
]


def refusal(data: Any, **options: Any) -> DecodeError:
    with pytest.raises(DecodeError) as caught:
        MessageBody.from_json(data, **options)
    return caught.value


class TestRefusals:
    @pytest.mark.parametrize(("document", "text"), REFUSALS)
    def test_say_where_and_what(self, document: str | bytes, text: str) -> None:
        assert str(refusal(document)) == text

    @pytest.mark.parametrize(("document", "text"), STRICT_REFUSALS)
    def test_of_strict_reading_only(self, document: str, text: str) -> None:
        assert str(refusal(document, strict=True)) == text
        MessageBody.from_json(document)

    @pytest.mark.parametrize(("document", "limits", "text"), LIMITED)
    def test_of_what_is_past_a_limit(self, document: str, limits: Limits, text: str) -> None:
        assert str(refusal(document, limits=limits)) == text

    @pytest.mark.parametrize("data", [3, None, [], {}])
    def test_of_what_is_neither_text_nor_bytes(self, data: Any) -> None:
        assert str(refusal(data)).startswith("JSON is text or bytes, got ")

    def test_show_twenty_flaws_at_most(self) -> None:
        error = refusal("[" + ",".join("1" * 50) + "]")
        assert (error.index, len(error.others)) == (0, 19)
        assert str(error).endswith("part 19: a part is an object, got a number")

    def test_carry_index_name_and_cause(self) -> None:
        error = refusal('[{"content":"a"},{"name":"/a","content":"a","contentType":"x"}]')
        assert (error.index, error.name) == (1, "/a")
        assert type(error.__cause__).__name__ == "InvalidContentType"

    def test_of_parsed_json(self) -> None:
        for value, text in [
            ([{"content": b"x"}], "part 0: content: a bytes is not a JSON value"),
            ([{1: "x"}], "part 0: an object's member names are strings, got 1 (int)"),
            ({"parts": [{"content": "\ud800"}]},
             "part 0: content: character 0 is the lone surrogate U+D800"),
            ("[]", NOT_AN_ARRAY + "a string; MessageBody.from_json(…) reads JSON text"),
            (b"[]", NOT_AN_ARRAY + "bytes; MessageBody.from_json(…) reads JSON text"),
            (object, "a type is not a JSON value"),
            ([{"content": "a", "metadata": {"x": float("nan")}}],
             "part 0: metadata/x: nan is not a JSON number (or overflows one)"),
        ]:  # fmt: skip
            with pytest.raises(DecodeError) as caught:
                MessageBody.from_dicts(value)
            assert str(caught.value) == text

    def test_of_parsed_json_past_a_limit(self) -> None:
        value: Any = []
        value.append(value)
        with pytest.raises(DecodeError) as caught:
            MessageBody.from_dicts(value)
        assert str(caught.value).endswith("nested more than 100 levels deep (limit depth)")


class TestLimits:
    def test_take_what_they_allow_exactly(self) -> None:
        exact = [
            ('[{"content":"a"}]', Limits(json_bytes=17, parts=1, part_bytes=1, depth=2)),
            ('[{"content":"é"}]', Limits(json_bytes=18, part_bytes=2)),
            (base64_part("AAAA"), Limits(part_bytes=3)),
            ('[{"content":"a","name":"/ab"}]', Limits(name_length=3)),
            ('[{"content":"a","metadata":{"a":[]}}]', Limits(depth=4)),
            (reference(contentUrl="data:,abc"), Limits(part_bytes=3)),
        ]
        for document, limits in exact:
            assert len(MessageBody.from_json(document, limits=limits)) == 1

    def test_of_depth_can_be_raised(self) -> None:
        metadata = '{"a":' * 300 + "1" + "}" * 300
        document = f'[{{"contentType":"text/plain","content":"a","metadata":{metadata}}}]'
        body = MessageBody.from_json(document, limits=Limits(depth=302))
        assert body.to_json() == document
        unknown = document.replace("metadata", "unknown")
        assert MessageBody.from_json(unknown, limits=Limits(depth=302)).to_json() == unknown

    def test_are_values(self) -> None:
        assert Limits() == Limits(
            json_bytes=256 * 2**20, parts=1_000_000, part_bytes=192 * 2**20, depth=100,
            name_length=1024,
        )  # fmt: skip


class TestDecoding:
    def test_takes_an_array_or_an_object_with_parts(self) -> None:
        bare = MessageBody.from_json('[{"content":"a"}]')
        assert MessageBody.from_json('{"parts":[{"content":"a"}]}') == bare
        assert MessageBody.from_dicts({"parts": [{"content": "a"}]}) == bare
        assert MessageBody.from_dicts(({"content": "a"},)) == bare

    @pytest.mark.parametrize("kind", [str, bytes, bytearray, memoryview])
    def test_takes_text_and_bytes(self, kind: Any) -> None:
        text = '[{"content":"é"}]'
        data = text if kind is str else kind(text.encode())
        assert MessageBody.from_json(data)[0].text == "é"

    def test_takes_null_for_absent(self) -> None:
        members = {
            "name": None, "contentType": None, "contentEncoding": None, "contentUrl": None,
            "size": None, "digest": None, "metadata": None,
        }  # fmt: skip
        body = MessageBody.from_dicts([{"content": "a", **members}])
        assert body.to_dicts() == [{"contentType": "text/plain", "content": "a"}]

    @pytest.mark.parametrize(
        ("members", "kind"),
        [
            ({"content": "a"}, "text/plain"),
            ({"content": "a", "contentEncoding": "plain"}, "text/plain"),
            ({"content": "", "contentEncoding": "base64"}, "application/octet-stream"),
            ({"contentUrl": "https://h/a.png", "name": "/a.png"}, "application/octet-stream"),
        ],
    )
    def test_fills_in_absent_content_types(self, members: dict[str, str], kind: str) -> None:
        document = json.dumps([members])
        for body in (MessageBody.from_json(document), MessageBody.from_dicts([members])):
            assert body[0].content_type == kind

    @pytest.mark.parametrize(
        ("written", "content"),
        [
            ("", b""),
            ("AA==", b"\0"),
            ("AB==", b"\0"),
            ("AAF=", b"\0\1"),
            ("AA", b"\0"),
            ("+/+/", b"\xfb\xff\xbf"),
            ("-_-_", b"\xfb\xff\xbf"),
            ("-_8", b"\xfb\xff"),
            ("-_8=", b"\xfb\xff"),
        ],
    )
    def test_takes_base64_of_either_alphabet_padded_or_not(
        self, written: str, content: bytes
    ) -> None:
        part = MessageBody.from_json(base64_part(written))[0]
        assert part.read_bytes() == content
        assert (
            MessageBody([part]).to_json() == MessageBody([part.evolve(content=content)]).to_json()
        )

    def test_keeps_members_nobody_defined(self) -> None:
        document = '[{"contentType":"text/plain","content":"a","x":{"y":[null,1.0]},"id":7}]'
        body = MessageBody.from_json(document)
        assert body[0].extra == {"x": {"y": [None, 1.0]}, "id": 7}
        assert body.to_json() == document

    def test_derives_size_and_digest_of_inline_content(self) -> None:
        body = MessageBody.from_json('[{"content":"abc","size":3,"digest":"' + ABC + '"}]')
        assert (body[0].size, body[0].digest) == (3, ABC)
        assert body.to_json() == '[{"contentType":"text/plain","content":"abc"}]'
        assert body == MessageBody([Part("abc")])

    def test_takes_size_as_an_integer_literal(self) -> None:
        assert MessageBody.from_json(reference(size=2**53 - 1))[0].size == 2**53 - 1
        assert MessageBody.from_json('[{"contentUrl":"s3://b/k","size":-0}]')[0].size == 0

    def test_opens_no_file_named_in_json(self, tmp_path: Path) -> None:
        secret = tmp_path / "secret"
        secret.write_text("secret")
        part = MessageBody.from_json(json.dumps([{"content": str(secret)}]))[0]
        assert part.read_text() == str(secret)


class TestEncoding:
    @pytest.mark.parametrize(
        ("content", "kind", "written"),
        [
            ("a", "image/png", {"content": "a"}),
            (b"a", "text/csv", {"content": "a"}),
            (b"a", "application/json", {"content": "a"}),
            (b"a", "application/ld+json; x=y", {"content": "a"}),
            (b"a", "text/plain; charset=UTF-8", {"content": "a"}),
            (b"a", "text/plain; charset=us-ascii", {"content": "a"}),
            (b"a", "text/plain; charset=latin-1", {"content": "YQ==", "contentEncoding": "base64"}),
            (b"a", "image/png", {"content": "YQ==", "contentEncoding": "base64"}),
            (b"\xff", "text/plain", {"content": "/w==", "contentEncoding": "base64"}),
            (
                "é".encode(),
                "text/plain; charset=us-ascii",
                {"content": "w6k=", "contentEncoding": "base64"},
            ),
        ],
    )
    def test_chooses_plain_where_it_can(
        self, content: str | bytes, kind: str, written: dict[str, str]
    ) -> None:
        body = MessageBody([Part(content, content_type=kind)])
        assert body.to_dicts() == [{"contentType": kind, **written}]
        assert MessageBody.from_json(body.to_json()) == body

    def test_writes_members_in_one_order_and_only_what_is_there(self) -> None:
        part = Part(
            url="s3://b/k", name="/a", content_type="a/b", size=0, digest=ZEROS, metadata={}
        ).evolve(extra={"x": None})
        assert MessageBody([part, Part("é\n")]).to_json() == (
            '[{"name":"/a","contentType":"a/b","contentUrl":"s3://b/k","size":0,'
            f'"digest":"{ZEROS}","metadata":{{}},"x":null}},'
            '{"contentType":"text/plain","content":"é\\n"}]'
        )

    def test_of_nothing_is_an_empty_array(self) -> None:
        assert MessageBody().to_json() == "[]"
        assert MessageBody().to_dicts() == []
        assert MessageBody().to_json_bytes() == b"[]"

    def test_indents(self) -> None:
        assert MessageBody([Part("a")]).to_json(indent=2) == (
            '[\n  {\n    "contentType": "text/plain",\n    "content": "a"\n  }\n]'
        )

    def test_refuses_local_files(self, tmp_path: Path) -> None:
        file = tmp_path / "talk\x1b.mp4"
        file.write_bytes(b"x" * 2048)
        body = MessageBody([Part("a"), Part(file)])
        for write in (body.to_json, body.to_dicts, body.to_json_bytes):
            with pytest.raises(LocalFileNotSent) as caught:
                write()
            assert str(caught.value) == (
                "part 1 is still the local file talk\\x1b.mp4 (2 KiB), which JSON can't carry. "
                'Offload it: offload(body, "s3://…"), or read it in: inline(body)'
            )
        named = MessageBody([Part(file, name="/video/talk.mp4")])
        with pytest.raises(LocalFileNotSent, match=r"^part '/video/talk\.mp4' is still the local"):
            named.to_json()

    def test_writes_what_json_can_of_odd_python_values(self) -> None:
        from enum import IntEnum, StrEnum

        class Color(StrEnum):
            RED = "red"

        class Level(IntEnum):
            HIGH = 3

        metadata = {Color.RED: Color.RED, "level": Level.HIGH, "pair": (1, True), "big": 2**80}
        part = Part(Color.RED, name="/a", content_type="text/plain", metadata=metadata)
        body = MessageBody([part])
        assert body.to_json() == (
            '[{"name":"/a","contentType":"text/plain","content":"red","metadata":'
            '{"red":"red","level":3,"pair":[1,true],"big":1208925819614629174706176}}]'
        )
        assert MessageBody.from_json(body.to_json()) == body


# The four examples of the proposal that defines the format.
EXAMPLES = {
    "chat": '[{"contentType":"text/plain","content":"Hello, world!"}]',
    "multimodal": (
        '[{"contentType":"text/plain","content":"This is a cute cat:"},'
        '{"contentType":"image/png","contentUrl":"https://s3.example.com/1234/image.png"},'
        '{"contentType":"text/plain","content":"Nice, huh?"}]'
    ),
    "software": (
        '[{"contentType":"text/plain","content":"I have created a hello world project in Python."},'
        '{"name":"/files/hello_world.py","contentType":"text/x-python",'
        '"contentUrl":"https://s3.example.com/1234/hello_world.py"}]'
    ),
}


class TestTheExamplesOfTheFormat:
    @pytest.mark.parametrize("example", EXAMPLES.values(), ids=EXAMPLES)
    def test_are_written_as_they_were_read(self, example: str) -> None:
        assert MessageBody.from_json(example, strict=True).to_json() == example

    def test_chat_has_the_published_digest(self) -> None:
        assert MessageBody.from_json(EXAMPLES["chat"]).digest == (
            "sha256:d369dd6be4f55dd1a835128ebc375cda59e75319f5dff2751f78206e008100c7"
        )
