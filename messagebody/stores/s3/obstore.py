"""Fast path for whole objects through obstore; this module is its only importer.

It decides nothing: where it fails, boto3 does the same once more and reports the error. Parts,
ranges, listings and links stay with boto3: obstore can't abort an upload, nor create one that must
not replace an object.
"""

import contextlib
import os
from collections.abc import Iterator
from typing import Any

from messagebody.errors import MissingDependency
from messagebody.stores.s3.client import Clients
from messagebody.stores.s3.faults import NativeFailure

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
    """Puts and gets whole objects.

    Arguments:
        clients: where settings and session come from; credentials are the session's own.
    """

    def __init__(self, clients: Clients) -> None:
        self._clients = clients
        self._stores: dict[str, NativeStore] = {}

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
        if bucket not in self._stores:
            self._stores[bucket] = self._open(bucket)
        return self._stores[bucket]

    def _open(self, bucket: str) -> NativeStore:
        settings, session = self._clients.settings, self._clients.session()
        endpoint = settings.endpoint_url or ""
        options: dict[str, Any] = {"endpoint": endpoint} if endpoint else {}
        return NativeStore(
            bucket,
            # Servers that are not AWS have no region, and signatures need some.
            region=settings.region or session.region_name or "us-east-1",
            credential_provider=Boto3CredentialProvider(session),
            virtual_hosted_style_request=settings.addressing_style == "virtual",
            client_options={
                "allow_http": endpoint.startswith("http://"),
                "connect_timeout": f"{settings.connect_timeout:.0f}s",
                # obstore takes whole seconds.
                "timeout": f"{max(1, settings.read_timeout):.0f}s",
            },
            retry_config={"max_retries": settings.attempts - 1},
            **options,
        )


@contextlib.contextmanager
def _failures() -> Iterator[None]:
    try:
        yield
    except _FAILURES as error:
        raise NativeFailure(type(error).__name__) from error
