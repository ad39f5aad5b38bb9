"""Fast path for whole objects through obstore; this module is its only importer.

It decides nothing: where it fails, boto3 does the same once more and reports the error. Parts,
ranges, listings and links stay with boto3: obstore can't abort an upload, nor create one that must
not replace an object. Neither does it tell the content type of an object it does not read.
"""

import contextlib
import os
import threading
from collections.abc import Iterator
from typing import Any

from messagebody.errors import MissingDependency
from messagebody.s3._client import Clients
from messagebody.s3._faults import NativeFailure

try:
    import obstore
    from obstore.auth.boto3 import Boto3CredentialProvider
    from obstore.exceptions import AlreadyExistsError, BaseError
    from obstore.store import S3Store as NativeStore
except ImportError as error:
    raise MissingDependency('transport="obstore"', "obstore") from error


_FAILURES = (BaseError, OSError, ValueError)
# Smaller objects come in one piece; a stream costs more calls.
_STREAM = 4 * 1024 * 1024
# obstore's threads don't survive a fork: the process that loaded it is the one that may use it.
_HOME = os.getpid()


class Native:
    """Puts and gets whole objects, and asks whether one is there.

    Arguments:
        clients: where settings and session come from; credentials are the session's own.
    """

    def __init__(self, clients: Clients) -> None:
        self._clients = clients
        self._stores: dict[str, NativeStore] = {}
        self._lock = threading.Lock()

    @property
    def is_usable(self) -> bool:
        """Whether this is the process that loaded obstore."""
        return os.getpid() == _HOME

    def put(
        self, bucket: str, key: str, data: bytes, content_type: str | None, *, if_absent: bool
    ) -> bool:
        """Write an object; return whether it was written."""
        attributes: Any = {"Content-Type": content_type} if content_type else None
        mode: Any = "create" if if_absent else "overwrite"
        with _failures():
            try:
                obstore.put(
                    self._store(bucket),
                    key,
                    data,
                    mode=mode,
                    attributes=attributes,
                    use_multipart=False,
                )
            except AlreadyExistsError:
                return False
        return True

    def head(self, bucket: str, key: str) -> dict[str, Any] | None:
        """Return what a listing says of an object, None if there is none."""
        with _failures():
            try:
                found = obstore.head(self._store(bucket), key)
            except FileNotFoundError:  # obstore raises the system's own for it
                return None
        return {
            "name": f"{bucket}/{key}",
            "size": found["size"],
            "type": "file",
            "LastModified": found["last_modified"],
            "ETag": found["e_tag"],
        }

    def stream(self, bucket: str, key: str) -> Iterator[bytes]:
        """Yield an object from its first byte to its last."""
        with _failures():
            answer = obstore.get(self._store(bucket), key)
            if answer.meta["size"] <= _STREAM:
                yield bytes(answer.bytes())
                return
            for chunk in answer.stream(min_chunk_size=_STREAM):
                yield bytes(chunk)

    def _store(self, bucket: str) -> NativeStore:
        # Opening one loads certificates, which takes longer than many a request.
        with self._lock:
            if bucket not in self._stores:
                self._stores[bucket] = self._open(bucket)
            return self._stores[bucket]

    def _open(self, bucket: str) -> NativeStore:
        settings, session = self._clients.settings, self._clients.session()
        # Where boto3 sends requests: a profile or the environment may name the server too.
        endpoint = self._clients.get().meta.endpoint_url
        is_virtual = settings.addressing_style == "virtual"
        if is_virtual:  # obstore takes the first segment of the key for the bucket otherwise
            endpoint = endpoint.replace("://", f"://{bucket}.", 1)
        has_tls = endpoint.startswith("https://")
        return NativeStore(
            bucket,
            endpoint=endpoint,
            # Servers that are not AWS have no region, and signatures need some.
            region=settings.region or session.region_name or "us-east-1",
            credential_provider=Boto3CredentialProvider(session),
            virtual_hosted_style_request=is_virtual,
            # As boto3 does: TLS vouches for content on its way, and hashing it for the signature
            # would take as long as all the rest of a put.
            unsigned_payload=has_tls,
            client_options={
                "allow_http": not has_tls,
                "connect_timeout": f"{settings.connect_timeout:.0f}s",
                # obstore takes whole seconds.
                "timeout": f"{max(1, settings.read_timeout):.0f}s",
            },
            retry_config={"max_retries": settings.attempts - 1},
        )


@contextlib.contextmanager
def _failures() -> Iterator[None]:
    try:
        yield
    except _FAILURES as error:
        raise NativeFailure(type(error).__name__) from error
