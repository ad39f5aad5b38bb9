"""Copies of bodies with references that a browser or a model provider can open."""

from messagebody._base.guards import require_body, require_resolver
from messagebody._base.hints import guided
from messagebody._base.media_types import is_shown_inline
from messagebody._model.access import resolver_of
from messagebody._model.body import MessageBody
from messagebody._model.part import Part
from messagebody.errors import MessageBodyError, UnsafeReference
from messagebody.storage._offloading._jobs import raise_for, subject_of
from messagebody.storage._references.resolver import Resolver

_OPEN = ("https:", "http:", "data:")


@guided
def present(
    body: MessageBody, *, expires: int = 3600, resolver: Resolver | None = None
) -> MessageBody:
    """Return a copy of a body whose references to your stores are signed https URLs.

    Only references below an explicit allow entry are signed; otherwise a sender could get signed
    URLs of your private objects. Other https, http and data references are kept. A signed URL is a
    credential: anyone who has it can read the object until it expires.

    Arguments:
        body: the body, which is not changed.
        expires: the lifetime of the URLs in seconds, at most seven days.
        resolver: its allow entries decide which references may be signed; by default the body's
            resolver.

    Raises:
        UnsafeReference: a reference to a store is not allowed.
        LimitExceeded: `expires` is over seven days.
        StoreError: the store can't sign.
    """
    require_body(body)
    require_resolver(resolver)
    result = body.copy()
    failures: list[tuple[str, Exception]] = []
    # Iterate over a copy, because parts of the result are replaced.
    for position, part in enumerate(result.copy()):
        if part.url is None:
            continue
        subject = subject_of(position, part)
        try:
            result[position] = _presented(part, subject, expires, resolver or resolver_of(part))
        except MessageBodyError as error:
            failures.append((subject, error))
    raise_for(failures, "presented")
    return result


def _presented(part: Part, subject: str, expires: int, resolver: Resolver | None) -> Part:
    reference = part.reference
    if reference is None or reference.url.lower().startswith(_OPEN):
        return part
    if resolver is None:
        raise UnsafeReference(
            subject,
            "can't be signed without a resolver",
            "Pass one: present(body, resolver=…)",
        )
    url = resolver.sign(
        reference.url,
        expires=expires,
        content_type=part.content_type,
        disposition=_disposition(part),
        subject=subject,
    )
    return part.evolve(url=url, size=reference.size, digest=reference.digest)


def _disposition(part: Part) -> str:
    """Return the content disposition of a part: content that could run scripts is downloaded."""
    name = f'; filename="{part.path.name}"' if part.path is not None else ""
    # Scripts in HTML and SVG would run in the origin of the store.
    return ("inline" if is_shown_inline(part.content_type) else "attachment") + name
