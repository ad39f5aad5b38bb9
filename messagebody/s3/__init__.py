"""S3 and compatible services through boto3; this package is the only importer of boto3."""

from typing import Any

from messagebody.s3._client import Clients
from messagebody.s3._store import S3Store

__all__ = ["S3Store", "open_url"]


def open_url(url: str, **options: Any) -> S3Store:
    """Open a prefix of a bucket.

    Arguments:
        url: `s3://bucket/prefix`; a tenant's prefix keeps its objects apart from another's.
        **options: `session`, and the arguments of `messagebody.s3._client.Settings`.
    """
    bucket, _, prefix = url.partition("://")[2].partition("/")
    return S3Store(Clients(**options), bucket, prefix.strip("/"))
