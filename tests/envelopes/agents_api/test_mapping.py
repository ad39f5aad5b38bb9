"""Envelopes become bodies and come back; bodies travel in envelopes and come back."""

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given, settings

from messagebody import MessageBody, Part
from messagebody.envelopes import agents_api
from messagebody.errors import (
    EnvelopeError,
    LossyConversion,
    UnsafeReference,
)
from messagebody.storage import Resolver
from tests.effort import examples
from tests.envelopes.shapes import BODIES, ENVELOPES

IMAGE = "https://example.com/a.png"


def envelope(**members: Any) -> dict[str, Any]:
    """Return a canonical envelope."""
    given = {"type": "text", "role": "user", "content": "Hello!", **members}
    return agents_api.normalize({"schema": agents_api.SCHEMA, "version": 1, **given})


class TestEnvelopeToBodyAndBack:
    """`from_body(to_body(x)) == x` for canonical envelopes."""

    @settings(max_examples=examples(300), deadline=None)
    @given(ENVELOPES)
    def test_canonical_envelopes_survive(self, message: dict[str, Any]) -> None:
        """Absent, null and empty stay three things; PHP's form and ours both come back."""
        for php_compatible in (False, True):
            canonical = agents_api.normalize(message, php_compatible=php_compatible)
            body = agents_api.to_body(canonical, rest="part").or_raise()
            back = agents_api.from_body(body).or_raise()
            assert back == canonical
            assert json.dumps(back, sort_keys=True) == json.dumps(canonical, sort_keys=True)

    @pytest.mark.parametrize(
        ("type_", "name"),
        [
            ("tool_call", "/tool/call.json"),
            ("tool_result", "/tool/result.json"),
            ("approval_required", "/approval/request.json"),
            ("error", "/error.json"),
            ("final_result", "/result.json"),
            ("delta", "/payload/delta.json"),
            ("text", "/payload/text.json"),
        ],
    )
    def test_payload_is_a_named_json_part(self, type_: str, name: str) -> None:
        """The payload of every type has its place."""
        body = agents_api.to_body(envelope(type=type_, payload={"a": [1]}), rest="part").value
        assert body[name].content_type == "application/json"
        assert body[name].read_json() == {"a": [1]}

    def test_content_blocks_are_unnamed_parts_in_order(self) -> None:
        """Texts are text, an image_url a picture, a file_path stays data."""
        blocks = [
            {"type": "text", "text": "a"},
            {"type": "image_url", "image_url": {"url": IMAGE, "detail": "low"}},
            "b",
            {"type": "file_path", "file_path": "/etc/passwd"},
            {"type": "image_url", "image_url": "/srv/a.png"},
        ]
        parts = agents_api.to_body(envelope(content=blocks), rest="part").value.unnamed()
        assert [part.content_type for part in parts] == [
            "text/plain",
            "image/png",
            "text/plain",
            "application/json",
            "application/json",
        ]
        assert parts[1].url == IMAGE
        assert parts[3].read_json() == blocks[3]

    def test_attachments_with_absolute_urls_are_reference_parts(self) -> None:
        """A path never becomes a URL; names are positional and legal."""
        attachments = [
            {"url": "/srv/a.png"},
            {"uri": IMAGE, "mimeType": "image/png", "name": "../Q3 report.png", "size": 5},
            {"url": "javascript:alert(1)"},
            {"url": "https://user:pw@example.com/"},
            {"url": IMAGE, "mime_type": "video"},
        ]
        body = agents_api.to_body(
            envelope(metadata={"attachments": attachments}), rest="part"
        ).value
        first, second = body.list("/attachments/**")
        assert (first.name, first.content_type) == ("/attachments/2/Q3_report.png", "image/png")
        assert (first.url, first.size) == (IMAGE, 5)
        assert (second.name, second.content_type) == (
            "/attachments/5/file",
            "video/x-unknown",
        )

    def test_a_host_of_the_senders_network_is_a_reference_that_nothing_opens(self) -> None:
        url = "http://minio:9000/b/a.png"
        message = envelope(metadata={"attachments": [{"url": url, "mime_type": "image/png"}]})
        there = agents_api.to_body(message)
        (part,) = there.value.list("/attachments/**")
        assert (part.url, part.content_type) == (url, "image/png")
        assert agents_api.from_body(there.value, rest=there.rest).value == message
        with pytest.raises(UnsafeReference):
            part.read_bytes(Resolver())

    def test_plain_message_says_what_is_dropped(self) -> None:
        """What normalising drops is a loss of the conversion."""
        row = {"type": "tool_call", "content": "x", "tool_calls": [], "metadata": 5}
        body, losses = agents_api.to_body(row, rest="part")
        assert body.read_text() == "x"
        assert [(loss.kind, loss.where) for loss in losses] == [
            ("omitted", "type"),
            ("omitted", "tool_calls"),
            ("omitted", "metadata"),
        ]
        with pytest.raises(LossyConversion, match="tool_calls"):
            agents_api.to_body(row, rest="part").or_raise()


class TestEditedBody:
    """What was edited in a body is in the envelope."""

    def test_more_parts_travel_whole(self) -> None:
        """A body that no longer fits its sidecar loses nothing, and says what it said."""
        body = agents_api.to_body(
            envelope(id="m1", metadata={"k": 1, "attachments": [{"url": IMAGE}, 5]}), rest="part"
        ).value
        body.add(b"GIF89a", name="/cats.gif", metadata={"a": 1})
        body.add("Look!", content_type="text/markdown")
        carried = agents_api.from_body(body).or_raise()
        assert (carried["id"], carried["role"], carried["metadata"]["k"]) == ("m1", "user", 1)
        again = agents_api.to_body(carried, rest="part").or_raise()
        assert again.names() == [*(name for name in body.names() if "meta" not in name),
                                 "/meta/agents-api.json"]  # fmt: skip
        assert [part for part in again if part.name != "/meta/agents-api.json"] == [
            part for part in body if part.name != "/meta/agents-api.json"
        ]
        assert agents_api.from_body(again).or_raise() == carried

    @pytest.mark.parametrize("name", ["/tool/call.json", 0])
    def test_removed_parts_are_no_error(self, name: str | int) -> None:
        """A body without its text or payload still makes an envelope."""
        body = agents_api.to_body(
            envelope(type="tool_call", payload={"tool_name": "t"}), rest="part"
        ).value
        del body[name]
        assert agents_api.from_body(body).or_raise()["type"] == "tool_call"


class TestAnyBodyInAnEnvelope:
    """A body travels in an envelope and comes back whole."""

    @settings(max_examples=examples(150), deadline=None)
    @given(BODIES)
    def test_bodies_survive_php(self, body: MessageBody) -> None:
        """Also through PHP, which mangles nested objects, with other things said besides."""
        message = agents_api.from_body(body).or_raise()
        mangled = agents_api.normalize(message, php_compatible=True)
        assert agents_api.to_body(mangled).or_raise() == body
        message = agents_api.from_body(body, role="user").or_raise()
        mangled = agents_api.normalize({**message, "id": "m1"}, php_compatible=True)
        again = agents_api.to_body(mangled, rest="part").or_raise()
        assert again[: len(body)] == list(body)
        assert again.names()[len(body.names()) :] == ["/meta/agents-api.json"]
        assert agents_api.from_body(again).or_raise() == mangled

    @pytest.mark.parametrize("url", ["data:,", "data:,a%20b", "data:text/plain;base64,YSBi"])
    def test_data_urls_stay_references(self, url: str) -> None:
        """With what they state about their content, and no more."""
        bare = Part(url=url, content_type="text/plain")
        content = bare.read_bytes()
        digest = "sha256:" + hashlib.sha256(content).hexdigest()
        body = MessageBody([Part("0"), bare, bare.evolve(size=len(content), digest=digest)])
        assert agents_api.to_body(agents_api.from_body(body).or_raise()).or_raise() == body

    def test_manifest_is_json_text(self) -> None:
        """It is that of the body, as text."""
        body = MessageBody([Part("a"), Part(b"b", name="/b", content_type="text/css; a=b")])
        message = agents_api.from_body(body).or_raise()
        assert json.loads(message["metadata"]["messagebody"]) == body.manifest()
        assert message["metadata"]["attachments"] == [
            {
                "mime_type": "text/css; a=b",
                "url": "data:text/css;base64,Yg==",
                "filename": "b",
                "size": 1,
            }
        ]

    @pytest.mark.parametrize(
        "manifest", ["", "{", "[]", "[5]", '[{"contentType":5}]', "{}", "[" * 9999]
    )
    def test_wrong_manifest_is_data(self, manifest: str) -> None:
        """A manifest that does not fit is kept like any other member."""
        message = envelope(metadata={"messagebody": manifest})
        body = agents_api.to_body(message, rest="part").or_raise()
        assert body.read_text() == "Hello!"
        assert agents_api.from_body(body).or_raise() == message

    @pytest.mark.parametrize("content", [{}, {"a": 1}, ["a"], [5], [{"text": 5}], []])
    def test_manifest_beside_other_content_is_data(self, content: Any) -> None:
        """Content that no body was carried in is kept as it is."""
        carried = agents_api.from_body(MessageBody([Part("a")])).value
        message = agents_api.normalize({**carried, "content": content})
        assert (
            agents_api.from_body(agents_api.to_body(message, rest="part").or_raise()).value
            == message
        )

    def test_numbers_of_another_kind_are_kept(self) -> None:
        """True is not 1, wherever it stands."""
        carried = agents_api.from_body(MessageBody([Part(b"\0", name="/a")])).value
        carried["metadata"]["attachments"][0]["size"] = True
        back = agents_api.from_body(agents_api.to_body(carried, rest="part").or_raise()).value
        assert back["metadata"]["attachments"][0]["size"] is True

    def test_edited_carrier_is_read_as_it_is(self) -> None:
        """Text that an intermediary changed is not what the manifest describes."""
        message = agents_api.from_body(MessageBody([Part("Hello!")])).value
        changed = {**message, "content": "Hello?"}
        body = agents_api.to_body(changed, rest="part").or_raise()
        assert body.read_text() == "Hello?"
        assert agents_api.from_body(body).or_raise() == changed


class TestHostileInput:
    """The documented error or result, never a crash."""

    @pytest.mark.parametrize("levels", [513, 10_000, 100_000])
    def test_deep_nesting(self, levels: int) -> None:
        """More than 512 levels are refused, as values and as text."""
        value: Any = []
        for _ in range(levels):
            value = [value]
        for php_compatible in (False, True):
            with pytest.raises(EnvelopeError, match="JSON serializable"):
                agents_api.normalize({"metadata": {"k": value}}, php_compatible=php_compatible)
        with pytest.raises(EnvelopeError, match="nested more than 512 levels"):
            agents_api.to_body('{"content":' + "[" * levels + "]" * levels + "}", rest="part")

    def test_deepest_legal_nesting_survives(self) -> None:
        """512 levels are legal and come back."""
        value: Any = 1
        for _ in range(509):
            value = {"k": value}
        message = envelope(metadata={"k": value})
        assert agents_api.from_body(agents_api.to_body(message, rest="part").value).value == message

    def test_huge_integers(self) -> None:
        """Integers past 64 bits survive; PHP makes floats of them; past 4,300 digits is refused."""
        message = envelope(payload={"n": 10**4000})
        assert agents_api.from_body(agents_api.to_body(message, rest="part").value).value == message
        php = agents_api.normalize({"metadata": {"n": -(2**63) - 1}}, php_compatible=True)
        assert php["metadata"] == {"n": -9.223372036854775808e18}
        for most in (2**63 - 1, -(2**63)):
            row = {"metadata": {"n": most}}
            kept = agents_api.normalize(row, php_compatible=True)["metadata"]["n"]
            assert (type(kept), kept) == (int, most)
        with pytest.raises(EnvelopeError, match="JSON serializable"):
            agents_api.normalize({"metadata": {"n": 10**4000}}, php_compatible=True)
        with pytest.raises(EnvelopeError, match="4,300 digits"):
            agents_api.normalize({"metadata": {"n": 10**5000}})
        with pytest.raises(EnvelopeError, match="too long"):
            agents_api.to_body('{"content":"","metadata":{"n":' + "9" * 5000 + "}}", rest="part")

    @pytest.mark.parametrize("where", ["content", "metadata", "key", "role"])
    def test_lone_surrogates(self, where: str) -> None:
        """They are no Unicode: refused, but for PHP's bytes, which they stand for."""
        bad = "a\ud800"
        row = {
            "content": {"content": bad},
            "metadata": {"metadata": {"k": [bad]}},
            "key": {"metadata": {bad: 1}},
            "role": {"role": bad},
        }[where]
        with pytest.raises(EnvelopeError, match="lone surrogate"):
            agents_api.normalize(row)
        assert agents_api.normalize(row, php_compatible=True)["type"] == "text"

    @pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
    def test_numbers_that_are_none(self, number: str) -> None:
        """As values and as text."""
        with pytest.raises(EnvelopeError):
            agents_api.to_body('{"content":"","metadata":{"n":' + number + "}}", rest="part")
        for php_compatible in (False, True):
            row = {"metadata": {"n": float(number)}}
            with pytest.raises(EnvelopeError, match="JSON serializable"):
                agents_api.normalize(row, php_compatible=php_compatible)

    @pytest.mark.parametrize("value", [object(), {1, 2}, b"x", {1: 2}])
    def test_foreign_values(self, value: Any) -> None:
        """What is no JSON is refused by kind."""
        with pytest.raises(EnvelopeError, match="JSON serializable"):
            agents_api.normalize({"metadata": {"k": value}})
