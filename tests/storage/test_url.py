"""URLs from somebody who means harm: every one is refused, and nobody is asked for it."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from messagebody import MessageBody, Part, Resolver, inline, present, verify
from messagebody.errors import InvalidPart, UnsafeReference
from tests.storage.network import Network, WebServer

HOSTILE: list[dict[str, Any]] = json.loads(
    Path(__file__).with_name("hostile_urls.json").read_text("ascii")
)
PUBLIC_ENOUGH = re.compile(r"https://cdn\.example\.com\.evil\.example/")


@pytest.fixture(scope="module")
def allowing() -> Resolver:
    return Resolver(
        allow=[
            "s3://acme-messages/agents/",
            "https://cdn.example.com/files/",
            "file:///srv/objects/",
            "memory://shared/a/",
        ],
        public_https=True,
    )


def test_the_battery_is_large_and_has_no_repetitions() -> None:
    urls = [case["url"] for case in HOSTILE]
    assert len(urls) == len(set(urls)) >= 150


@pytest.mark.parametrize("which", ["closed", "open", "allowing"])
def test_is_refused_and_nobody_is_asked(
    which: str, allowing: Resolver, network: Network, web: WebServer, subtests: pytest.Subtests
) -> None:
    resolver = allowing if which == "allowing" else Resolver(public_https=which == "open")
    for case in HOSTILE:
        # Without the entry, some are one more public URL.
        if case.get("only", which) == which:
            with subtests.test(case["url"]):
                check_that_it_is_refused(case, resolver, network, web)


def check_that_it_is_refused(
    case: dict[str, Any], resolver: Resolver, network: Network, web: WebServer
) -> None:
    host = case["url"].split("/")[2] if "dns" in case else ""
    network.names = {host: case["dns"]} if host else {}
    network.lookups.clear()
    for use in (resolver.fetch, resolver.size, resolver.sign):
        with pytest.raises(UnsafeReference) as caught:
            use(case["url"], subject="part '/video/talk.mp4'")
        assert str(caught.value).startswith("part '/video/talk.mp4' ")
    with pytest.raises(UnsafeReference):
        resolver.read_range(case["url"], 0, 10)
    assert network.connections == []
    assert set(network.lookups) <= {host}
    assert web.requests == []


def test_no_operation_on_a_body_opens_it(
    allowing: Resolver, network: Network, subtests: pytest.Subtests
) -> None:
    names = network.names
    for case in HOSTILE:
        network.names = {case["url"].split("/")[2]: case["dns"]} if "dns" in case else names
        with subtests.test(case["url"]):
            check_that_nobody_opens_it(case, allowing, network)


def check_that_nobody_opens_it(case: dict[str, Any], allowing: Resolver, network: Network) -> None:
    try:
        body = MessageBody([Part(url=case["url"], name="/a", content_type="image/png", size=3)])
    except InvalidPart:
        return  # a part can't even carry it
    assert repr(body)
    assert body.list("/**") == body.list("/a")
    with pytest.raises(UnsafeReference):
        inline(body, resolver=allowing, all=True)
    assert not verify(body, resolver=allowing)
    assert not verify(body, resolver=allowing, digest=False)
    if not case["url"].lower().startswith(("https:", "http:", "data:")):
        with pytest.raises(UnsafeReference):
            present(body, resolver=allowing)
    assert network.connections == []


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        (
            "s3://acme-messages/agents/talk.mp4",
            ("points to s3://acme-messages/…, which no resolver allows. If the store is yours: "
            'Resolver(allow=["s3://acme-messages/agents/"])'),
        ),
        ("https://127.1/", ("points to https://127.1/, which has a host that is a number, but not "
         "a dotted quad in its usual form")),
        ("https://10.0.0.1/x", ("points to https://10.0.0.1/x, whose host has an address that is "
         "not public")),
        ("https://u:secret@example.com/?sig=secret", ("points to https://…@example.com/?…, which "
         "holds user-info")),
        ("http://example.com/a/b", ("points to http://example.com/a/b, which is not encrypted. If "
         'you trust this server, use Resolver(allow=["http://example.com/a/"])')),
        ("https://example.com:22/", ("points to https://example.com:22/, whose port is not "
         "the default port of https. If you trust this server, use "
         'Resolver(allow=["https://example.com:22/"])')),
        ("simplecache::file:///etc/passwd", ("points to simplecache::file:///etc/passwd, which "
         "chains filesystems by '::'")),
    ],
)  # fmt: skip
def test_says_why_and_how_to_allow(url: str, problem: str, network: Network) -> None:
    with pytest.raises(UnsafeReference) as caught:
        Resolver().fetch(url, subject="part '/video/talk.mp4'")
    assert str(caught.value) == f"part '/video/talk.mp4' {problem}"
    # A model reads the statement, and must not be told which permission to ask for.
    assert "Resolver" not in caught.value.statement
    assert caught.value.statement.startswith("part '/video/talk.mp4' points to ")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    ["http://169.254.169.254/x", "https://169.254.169.254/x", "http://[fd00:ec2::254]/x",
     "http://100.100.100.200/x", "http://168.63.129.16/x", "http://metadata.google.internal/x",
     "http://[::ffff:169.254.169.254]/", "http://169.254.170.2:80/", "http://192.0.0.192/"],
)  # fmt: skip
def test_never_advises_to_open_a_metadata_service(url: str) -> None:
    with pytest.raises(UnsafeReference) as caught:
        Resolver().fetch(url)
    assert caught.value.advice == ""
    assert "Resolver" not in str(caught.value)


def test_public_https_is_closed_unless_it_is_opened(network: Network) -> None:
    with pytest.raises(UnsafeReference) as caught:
        Resolver().fetch("https://example.com/a/b")
    assert str(caught.value) == (
        "a reference points to https://example.com/a/b, which no resolver allows. "
        'If you trust this server, use Resolver(allow=["https://example.com/a/"]), '
        "or Resolver(public_https=True) for all public https servers"
    )
    assert network.lookups == []
    assert Resolver(public_https=True).allows("https://example.com/a/b")
