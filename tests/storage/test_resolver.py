"""The resolver's own: entries, addresses, data URLs, secrets."""

import ipaddress
import os
import pickle
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from messagebody import Part, Resolver
from messagebody._model.content import Reference
from messagebody._wire import data_urls
from messagebody.errors import (
    DecodeError,
    DigestMismatch,
    LimitExceeded,
    ObjectNotFound,
    StoreError,
    UnsafeReference,
)
from messagebody.storage import Bytes, FetchLimits, open_store
from messagebody.storage._references.url import Malformed, is_closed_name, is_public, parse
from messagebody.storage._stores.directory import FileStore

MIB = 1024 * 1024


PRIVATE = ["169.254.169.254", "127.0.0.1", "[::1]", "[::ffff:10.0.0.1]", "10.1.2.3",
           "metadata.google.internal", "x.localhost", "db.svc", "a.cluster.local"]  # fmt: skip


class TestEntries:
    @pytest.mark.parametrize(
        ("entry", "url", "allowed"),
        [
            ("s3://bucket/a/", "s3://bucket/a/x", True),
            ("s3://bucket/a", "s3://bucket/a/x", True),
            ("s3://bucket/a", "S3://bucket/a/x", True),
            ("s3://bucket/a", "s3://bucket/ab", False),
            ("s3://bucket", "s3://bucket/x", True),
            ("s3://bucket", "s3://bucket2/x", False),
            ("s3://bucket/a", "s3://bucket/a/b c", False),
            ("https://cdn.example.com/", "https://CDN.example.com/x?y=1", True),
            ("https://cdn.example.com", "https://cdn.example.com.evil.org:444/", False),
            ("https://cdn.example.com:8443/", "https://cdn.example.com:8443/x", True),
            ("https://cdn.example.com:443/a", "https://cdn.example.com/a", True),
            ("https://127.0.0.1/", "https://127.0.0.1/x", True),
            ("http://10.0.0.1:8000/files", "http://10.0.0.1:8000/files/x", True),
            ("http://10.0.0.1:8000/files", "http://10.0.0.1:8000/filesx", False),
            ("memory://a/b", "memory://a/b/c", True),
            ("memory://", "memory:///c", True),
            ("memory://", "memory://a/c", False),
        ],
    )
    def test_match_whole_segments(self, entry: str, url: str, allowed: bool) -> None:
        assert Resolver(allow=[entry], public_https=False).allows(url) is allowed

    @pytest.mark.parametrize("host", PRIVATE)
    def test_private_hosts_are_refused_by_name_and_address(self, host: str) -> None:
        """The verdict alone says no: others act on it, such as fsspec's reference filesystem."""
        url = f"https://{host}/latest/meta-data"
        assert not Resolver().allows(url)
        assert Resolver(allow=f"https://{host}/").allows(url)

    def test_the_longest_prefix_wins(self) -> None:
        short, long = open_store("memory://a"), open_store("memory://a/b")
        for entries in ([short, long], [long, short]):
            resolver = Resolver(allow=entries)
            assert resolver.store_of("memory://a/b/c") == (long, "c")
            assert resolver.store_of("memory://a/c") == (short, "c")

    @pytest.mark.parametrize(
        "entry",
        ["https://user:s3cr3t@example.com/", "https://example.com/?s3cr3t", "https://localhost/",
         "https://example.com/a/../b", "nonsense", "s3://k:s3cr3t@bucket/", 3,
         "https://example.com/%2e%2e/"],
    )  # fmt: skip
    def test_what_is_no_entry(self, entry: Any) -> None:
        with pytest.raises(UnsafeReference, match="allow entry") as caught:
            Resolver(allow=[entry])
        assert "s3cr3t" not in str(caught.value)

    def test_localhost_is_told_its_address(self) -> None:
        with pytest.raises(UnsafeReference, match=r"localhost; write 127\.0\.0\.1"):
            Resolver(allow="http://localhost:8000/")

    def test_one_entry_needs_no_list(self, tmp_path: Path) -> None:
        store = open_store(tmp_path)
        store.put("x", Bytes(b"hello"), content_type="a/b")
        for entry in (tmp_path, store, tmp_path.as_uri(), [tmp_path]):
            assert Resolver(allow=entry).fetch(store.url_of("x")).read() == b"hello"

    def test_signing_needs_an_entry_with_a_store(self) -> None:
        with pytest.raises(UnsafeReference, match="not below an allowed store"):
            Resolver(allow="https://cdn.example.com/").sign("https://cdn.example.com/x")
        with pytest.raises(UnsafeReference, match="not below an allowed store"):
            Resolver(public_https=True).sign("https://example.com/x")


class TestFiles:
    def test_are_judged_after_links_are_resolved(self, tmp_path: Path) -> None:
        root, outside = tmp_path / "a b" / "store", tmp_path / "secret"
        root.mkdir(parents=True)
        outside.write_text("secret")
        (root / "inside").write_text("fine")
        (root / "good").symlink_to("inside")
        (root / "bad").symlink_to(outside)
        (root / "out").symlink_to(tmp_path)
        (tmp_path / "link").symlink_to(root)
        resolver = Resolver(allow=tmp_path / "link")

        def read(path: Path) -> bytes:
            return resolver.fetch(path.as_uri()).read()

        assert read(root / "inside") == b"fine"
        assert read(root / "good") == b"fine"
        assert read(tmp_path / "link" / "inside") == b"fine"
        for path in (root / "bad", root / "out" / "secret", outside, root):
            with pytest.raises(UnsafeReference):
                read(path)
        with pytest.raises(ObjectNotFound):
            read(root / "missing")

    def test_a_fifo_does_not_hold_the_reader(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "fifo")
        with pytest.raises(StoreError):
            Resolver(allow=tmp_path).fetch((tmp_path / "fifo").as_uri())


class TestStores:
    def test_limits_hold_for_stores_too(self) -> None:
        store = open_store("memory://limits")
        store.put("x", Bytes(bytes(3_000_000)), content_type="a/b")
        tight = Resolver(allow=store, limits=FetchLimits(part_bytes=1_000_000))
        for read in (lambda: tight.fetch(store.url_of("x")),
                     lambda: tight.read_range(store.url_of("x"), 0, 2_000_000)):  # fmt: skip
            with pytest.raises(LimitExceeded, match="part_bytes"):
                read()
        slow = Resolver(allow=store, limits=FetchLimits(part_seconds=0))
        with pytest.raises(LimitExceeded, match="part_seconds"):
            slow.fetch(store.url_of("x"))
        assert tight.size(store.url_of("x")) == 3_000_000

    def test_a_missing_object_has_no_size(self) -> None:
        with pytest.raises(ObjectNotFound, match="part '/a'"):
            Resolver(allow="memory://limits").size("memory://limits/none", subject="part '/a'")

    def test_no_secret_in_what_it_shows(self) -> None:
        resolver = Resolver(allow=["memory://a", "https://cdn.example.com/x"])
        assert repr(resolver) == (
            "Resolver(allow=['memory://a', 'https://cdn.example.com/x'], public_https=False)"
        )
        part = Part(url="https://u:s3cr3t@example.com/?sig=s3cr3t", content_type="a/b")
        with pytest.raises(UnsafeReference) as caught:
            part.read_bytes()
        assert "s3cr3t" not in repr(caught.value) + str(caught.value)
        assert "s3cr3t" not in repr(pickle.dumps(caught.value))


class TestMemory:
    """What is kept of content that was read."""

    @pytest.fixture(autouse=True)
    def traced(self) -> Iterator[None]:
        tracemalloc.start()
        yield
        tracemalloc.stop()

    def test_large_content_waits_on_disk(self, tmp_path: Path) -> None:
        store = FileStore(tmp_path)
        store.put("x", Bytes(bytes(9 * MIB)), content_type="")
        spool = Resolver(allow=store).fetch(store.url_of("x"))
        held, _ = tracemalloc.get_traced_memory()
        assert held < MIB
        assert spool.read() == bytes(9 * MIB)

    def test_an_error_holds_nothing_of_what_was_refused(self, tmp_path: Path) -> None:
        store = FileStore(tmp_path)
        store.put("x", Bytes(bytes(4 * MIB)), content_type="")
        with pytest.raises(DigestMismatch) as caught:
            Resolver(allow=store).fetch(Reference(store.url_of("x"), digest=f"sha256:{0:064}"))
        held, _ = tracemalloc.get_traced_memory()
        assert held < 3 * MIB
        assert caught.value.__traceback__ is not None  # with the frames that read it


class TestDataUrls:
    @pytest.mark.parametrize(
        ("url", "decoded"),
        [
            ("data:,", ("text/plain;charset=US-ASCII", b"")),
            ("data:,a%20b%ff", ("text/plain;charset=US-ASCII", b"a b\xff")),
            ("DATA:text/html,<p>", ("text/html", b"<p>")),
            ("data:;charset=utf-8,x", ("text/plain;charset=utf-8", b"x")),
            ("data:image/png;base64,aGVsbG8=", ("image/png", b"hello")),
            ("data:image/png;BASE64,aGVsbG8", ("image/png", b"hello")),
            ("data:a/b;base64,_-8%3D", ("a/b", b"\xff\xef")),
            ("data:,a#fragment", ("text/plain;charset=US-ASCII", b"a")),
        ],
    )
    def test_decode(self, url: str, decoded: tuple[str, bytes]) -> None:
        assert data_urls.decode(url) == decoded
        assert Resolver().fetch(url).read() == decoded[1]
        assert Resolver().size(url) == len(decoded[1])
        assert Resolver().read_range(url, 1, 3) == decoded[1][1:3]

    @pytest.mark.parametrize(
        "url", ["data:", "data:text/plain", "data:,%", "data:,%4", "data:,%zz", "data:;base64,%%",
                "data:;base64,a", "data:;base64,a=b", "data:;base64,é", "data:x" + "y" * 2000 + ","]
    )  # fmt: skip
    def test_refuse(self, url: str) -> None:
        with pytest.raises(DecodeError):
            data_urls.decode(url)
        with pytest.raises(StoreError, match="part 3"):
            Resolver().fetch(url, subject="part 3")

    def test_limits(self) -> None:
        assert data_urls.decode("data:,12345", max_bytes=5)[1] == b"12345"
        for url in ("data:,123456", "data:;base64," + "A" * 1000):
            with pytest.raises(LimitExceeded):
                data_urls.decode(url, max_bytes=5)
        with pytest.raises(LimitExceeded):
            Resolver(limits=FetchLimits(part_bytes=5)).fetch("data:,123456")

    @pytest.mark.timeout(60)  # less than quadratic time takes
    @pytest.mark.parametrize("text", ["%00", "a%00", "%", "A"])
    def test_time_is_linear(self, text: str) -> None:
        try:
            data_urls.decode("data:," + text * 1_000_000)
        except DecodeError:
            assert text == "%"

    @given(st.binary(max_size=200))
    def test_every_content_comes_back(self, content: bytes) -> None:
        from base64 import b64encode
        from urllib.parse import quote_from_bytes

        assert data_urls.decode("data:a/b;base64," + b64encode(content).decode())[1] == content
        assert data_urls.decode("data:a/b," + quote_from_bytes(content))[1] == content


class TestAddresses:
    @given(st.ip_addresses(v=4))
    def test_no_ipv4_that_python_calls_private_is_public(
        self, address: ipaddress.IPv4Address
    ) -> None:
        if is_public(str(address)):
            assert address.is_global
            assert not address.is_multicast

    @given(st.ip_addresses(v=6))
    def test_no_ipv6_that_python_calls_private_is_public(
        self, address: ipaddress.IPv6Address
    ) -> None:
        if is_public(str(address)) and address.sixtofour is None:
            assert (
                address in ipaddress.IPv6Network("2000::/3")
                or address.ipv4_mapped
                or (address in ipaddress.IPv6Network("64:ff9b::/96"))
            )

    @given(st.ip_addresses(v=4))
    def test_an_embedded_ipv4_decides(self, address: ipaddress.IPv4Address) -> None:
        for prefix in ("::ffff:", "64:ff9b::"):
            assert is_public(f"{prefix}{address}") is is_public(str(address))

    @pytest.mark.parametrize(
        "address", ["8.8.8.8", "1.1.1.1", "93.184.216.34", "168.63.129.15", "168.63.129.17",
                    "100.63.255.255", "100.128.0.0", "172.15.255.255", "172.32.0.0",
                    "198.17.255.255", "198.20.0.0", "223.255.255.255", "2606:4700::1111",
                    "2001:4860::8888", "2001:200::1", "2003::1", "::ffff:8.8.8.8"]
    )  # fmt: skip
    def test_the_neighbours_of_closed_ranges_are_public(self, address: str) -> None:
        assert is_public(address)

    def test_a_scope_is_never_public(self) -> None:
        assert not is_public("2606:4700::1111%eth0")

    def test_private_zones(self) -> None:
        assert is_closed_name("a.b.local")
        assert is_closed_name("home.arpa")
        assert not is_closed_name("local.example.com")
        assert not is_closed_name("notlocal.example")


class TestGrammar:
    @pytest.mark.parametrize(
        ("text", "pieces"),
        [
            ("HTTPS://Example.COM/A?b#c", ("https", "example.com", 443, "/A", "?b")),
            ("https://example.com", ("https", "example.com", 443, "", "")),
            ("https://xn--b-ka.example:8443/", ("https", "xn--b-ka.example", 8443, "/", "")),
            ("http://1.2.3.4/", ("http", "1.2.3.4", 80, "/", "")),
            ("https://[2606:4700:0:0:0:0:0:1111]/", ("https", "[2606:4700::1111]", 443, "/", "")),
            ("s3://bucket/key@x:y", ("s3", "bucket", None, "/key@x:y", "")),
            ("file:///a%20b", ("file", "", None, "/a%20b", "")),
        ],
    )  # fmt: skip
    def test_pieces(self, text: str, pieces: tuple[Any, ...]) -> None:
        url = parse(text)
        assert (url.scheme, url.host, url.port, url.path, url.query) == pieces

    @given(st.text(max_size=40))
    def test_anything_else_is_malformed_and_nothing_worse(self, text: str) -> None:
        for url in (text, f"https://{text}", f"https://example.com/{text}", f"s3://{text}"):
            try:
                assert parse(url).scheme
            except Malformed as error:
                assert str(error)  # noqa: PT017 - either way is right


def test_an_entry_that_is_no_url_is_named_once() -> None:
    with pytest.raises(UnsafeReference) as caught:
        Resolver(allow="not a url")
    assert str(caught.value).startswith("allow entry 'not a url' is not a store; a directory is")
