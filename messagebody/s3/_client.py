"""Clients for S3, made late and made again after a fork."""

import logging
import os
import re
import threading
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal

import attrs
import boto3
from botocore.client import BaseClient
from botocore.config import Config
from botocore.exceptions import ClientError

from messagebody._core import redact_url
from messagebody.errors import StoreError
from messagebody.s3._faults import translated

if TYPE_CHECKING:
    import mypy_boto3_s3

    S3Client = mypy_boto3_s3.S3Client
else:
    S3Client = BaseClient

Session = boto3.session.Session

Checksums = Literal["when_supported", "when_required"]


def _no_secrets(_: object, __: object, url: str | None) -> None:
    if url is not None and ("@" in url or "?" in url):
        raise StoreError(
            f"endpoint_url {redact_url(url)} holds user-info or a query; credentials come from "
            "the environment or a profile"
        )


@attrs.frozen
class Settings:
    """How to reach an S3 service; holds names of credentials, never credentials.

    Arguments:
        profile: a profile of the AWS configuration files; the session's default if None.
        region: the region; the session's if None.
        endpoint_url: an S3-compatible server; AWS, or what the configuration says, if None.
        addressing_style: "path" puts the bucket in the path, "virtual" in the host name.
        attempts: tries a request, the first included (botocore's standard mode).
        max_connections: connections a client keeps open.
        connect_timeout: seconds to wait for a connection.
        read_timeout: seconds to wait for the next bytes of an answer.
        multipart_threshold: bytes from which on an object is sent in parts.
        part_size: bytes a part; more for objects of over 10,000 parts. Four are held at a time.
        request_checksum_calculation: "when_required" for servers that refuse or store the
            checksums sent by default; those of whole objects are the SHA-256 that names them.
        response_checksum_validation: "when_required" for servers that answer a range with the
            checksum of the whole object.
    """

    profile: str | None = None
    region: str | None = None
    endpoint_url: str | None = attrs.field(default=None, validator=_no_secrets)
    addressing_style: Literal["auto", "path", "virtual"] = "auto"
    attempts: int = 3
    max_connections: int = 32
    connect_timeout: float = 10.0
    read_timeout: float = 60.0
    multipart_threshold: int = 64 * 1024 * 1024
    part_size: int = 8 * 1024 * 1024
    request_checksum_calculation: Checksums | None = None
    response_checksum_validation: Checksums | None = None

    def config(self) -> Config:
        """Return these settings as botocore takes them; signatures are always version 4."""
        return Config(
            signature_version="s3v4",
            max_pool_connections=self.max_connections,
            connect_timeout=self.connect_timeout,
            read_timeout=self.read_timeout,
            retries={"mode": "standard", "total_max_attempts": self.attempts},
            s3={"addressing_style": self.addressing_style},
            request_checksum_calculation=self.request_checksum_calculation,
            response_checksum_validation=self.response_checksum_validation,
        )


_SETTINGS: Final = frozenset(attrs.fields_dict(Settings))


@attrs.define(eq=False)
class _State:
    """What one process has: a lock of its own, for a lock held during fork never opens."""

    lock: threading.Lock = attrs.Factory(threading.Lock)
    client: "S3Client | None" = None


class Clients:
    """One client a process, made when it is first asked for; thread- and fork-safe.

    Arguments:
        session: a boto3 session to take credentials from. Without it, one is made from `profile`
            and the environment. Clients of a session object can't be pickled.
        **settings: the arguments of `Settings`.

    Raises:
        StoreError: there is no such setting.
    """

    def __init__(self, *, session: Session | None = None, **settings: Any) -> None:
        if unknown := sorted(settings.keys() - _SETTINGS):
            raise StoreError(
                f"s3:// stores take no option {', '.join(unknown)}; they take "
                f"{', '.join(sorted(_SETTINGS | {'session'}))}. Keys and secrets come from the "
                "environment or a profile"
            )
        self.settings = Settings(**settings)
        self.is_conditional = True
        """Whether the server knows conditional writes, as far as is known."""
        self._given = session
        self._states: dict[int, _State] = {}

    def __reduce__(self) -> Any:
        if self._given is not None:
            raise TypeError("a store over a boto3 session can't travel; give a profile's name")
        # Another process makes clients of its own.
        return partial(Clients, **attrs.asdict(self.settings)), ()

    def get(self) -> "S3Client":
        """Return this process's client."""
        # By process: connections and locks must not be shared with a child.
        state = self._states.setdefault(os.getpid(), _State())
        if state.client is None:
            with state.lock:
                if state.client is None:
                    state.client = self._make()
        return state.client

    def session(self) -> Session:
        """Return the session given, or a new one: sessions are not shared between threads."""
        if self._given is not None:
            return self._given
        with translated(f"profile {self.settings.profile}"):
            return boto3.session.Session(
                profile_name=self.settings.profile, region_name=self.settings.region
            )

    def _make(self) -> "S3Client":
        arguments: dict[str, Any] = {"config": self.settings.config()}
        if self.settings.endpoint_url is not None:
            # Passed on only when given, so that the environment's own setting counts otherwise.
            arguments["endpoint_url"] = self.settings.endpoint_url
        if self.settings.region is not None:
            arguments["region_name"] = self.settings.region
        _keep_secrets_out_of_logs()
        with translated("s3"):
            client = self.session().client("s3", **arguments)
        _sign_checksums_only(client)
        client.meta.events.register("after-call.s3", _refuse_empty_answer)
        return client


# Members of which every server states at least one. A broken proxy, or a network that asks for a
# login, may answer 200 and do nothing, and what was never stored would count as stored.
_STATED: Final = {
    "PutObject": {"ETag"},
    "UploadPart": {"ETag"},
    "CreateMultipartUpload": {"UploadId"},
    "CompleteMultipartUpload": {"ETag"},
    "ListObjectsV2": {"Name", "IsTruncated", "KeyCount", "MaxKeys"},
    "ListMultipartUploads": {"Bucket", "IsTruncated", "MaxUploads"},
}


def _refuse_empty_answer(http_response: Any, parsed: Any, model: Any, **_: Any) -> None:
    """Refuse an answer of success that no S3 server gives."""
    stated = _STATED.get(model.name, set())
    if stated and http_response.status_code < 300 and stated.isdisjoint(parsed):
        lacks = " or ".join(map(repr, sorted(stated)))
        message = f"the answer lacks {lacks}: perhaps a proxy gave it, and not the server"
        answer: Any = {"Error": {"Code": "NoAnswer", "Message": message}}
        raise ClientError(answer, model.name)


def sends_checksums(client: "S3Client") -> bool:
    """Return whether requests carry checksums; some servers refuse or store them."""
    config: Any = client.meta.config
    return bool(config.request_checksum_calculation != "when_required")


def _sign_checksums_only(client: "S3Client") -> None:
    """Let signatures cover the checksum of a payload, where requests carry one.

    The header is signed and the server holds the payload against it. To plain http endpoints
    botocore would hash every payload once more for the signature, which tells nothing new.
    """
    if sends_checksums(client):
        config: Any = client.meta.config
        config.s3 = {**(config.s3 or {}), "payload_signing_enabled": False}


class _Redacting(logging.Filter):
    """A filter that takes signatures and session tokens out of botocore's debug messages."""

    _SECRET = re.compile(
        r"((?:security-token|signature)['\"]?\s*[:=]\s*b?['\"]?)[^'\"&,\s}]+", re.IGNORECASE
    )

    def filter(self, record: logging.LogRecord) -> bool:
        """Let every record pass, its text without secrets."""
        # The whole line at once: a secret can stand in the arguments as well.
        record.msg, record.args = self._SECRET.sub(r"\1…", record.getMessage()), ()
        return True


_redacting = _Redacting()


def _keep_secrets_out_of_logs() -> None:
    """Have the loggers redacted that print whole requests; adding a filter twice does nothing."""
    for name in ("botocore.auth", "botocore.endpoint"):
        logging.getLogger(name).addFilter(_redacting)
