"""Copies of bodies whose references a browser or a model provider can open."""

from messagebody._base.guards import require_body, require_resolver
from messagebody._base.media_types import is_shown_inline
from messagebody._model.access import resolver_of
from messagebody._model.body import MessageBody
from messagebody._model.part import Part
from messagebody.errors import MessageBodyError, UnsafeReference
from messagebody.storage._offloading._jobs import raise_for, subject_of
from messagebody.storage._references import Resolver

_OPEN = ("https:", "http:", "data:")


def present(
    body: MessageBody, *, expires: int = 3600, resolver: Resolver | None = None
) -> MessageBody:
    """Return a copy whose references to your stores are signed https URLs.

    Only references below an explicit allow entry are signed: otherwise a sender could have your
    private objects signed for him. Other https, http and data references stay as they are. A
    signed URL is a credential: everybody who has it can read the object until it expires.

    Arguments:
        body: the body, which is not changed.
        expires: seconds the URLs work, at most seven days.
        resolver: its allow entries decide which references may be signed; the body's own if None.

    Raises:
        UnsafeReference: a reference to a store that no entry allows.
        LimitExceeded: `expires` is over seven days.
        StoreError: the store can't sign.
    """
    require_body(body)
    require_resolver(resolver)
    result = body.copy()
    failures: list[tuple[str, Exception]] = []
    # Over a copy, since parts of the result are replaced on the way.
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
            "is to be signed, and no resolver says which store",
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
    """Return how a browser is to treat the part: what could run as a page is downloaded."""
    name = f'; filename="{part.path.name}"' if part.path is not None else ""
    # HTML and SVG would run in the origin of the store.
    return ("inline" if is_shown_inline(part.content_type) else "attachment") + name
