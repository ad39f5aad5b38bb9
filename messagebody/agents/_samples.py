"""Sample messages of schemas: most pairs of agents do not fit, and one message shows it."""

from collections.abc import Iterator, MutableMapping
from typing import Final

import attrs

from messagebody._core import MessageBody
from messagebody.compatibility import satisfiable
from messagebody.schema import ContentSchema, MessageBodySchema, SchemaPart

_STEPS: Final = 2_000
"""The work that looking for one sample may take."""
_MOST_PARTS: Final = 16
_MOST_CONTENTS: Final = 16

Contents = MutableMapping[ContentSchema, dict[bytes, None]]
"""Contents that broke a pair, by the schema that allows them. Agents share schemas of contents."""


class Samples:
    """Valid messages of a schema.

    They are a small one, one with each of its first parts, and these with contents that broke pairs
    of other agents.

    Arguments:
        schema: the schema.
        contents: the contents that broke pairs so far, which others add to.

    Examples:
        >>> schema = MessageBodySchema([("/a.txt", "text/plain", True), ("/b.png", "image/png")])
        >>> Samples(schema, {}).is_refused_by(MessageBodySchema([("/a.txt",)]))
        True
    """

    def __init__(self, schema: MessageBodySchema, contents: Contents) -> None:
        self._schema, self._contents = schema, contents
        self._plain = self._bodies = tuple(_samples(schema))
        self._inside = [(each, each.content_schema) for each in schema if each.content_schema]
        self._seen = [0] * len(self._inside)

    def is_refused_by(self, taker: MessageBodySchema) -> bool:
        """Return whether a taker refuses one of the messages."""
        self._add_learned()
        for place, body in enumerate(self._bodies):
            if not taker.is_valid(body):
                # What one refuses, others refuse.
                others = self._bodies[:place] + self._bodies[place + 1 :]
                self._bodies = (body, *others) if place else self._bodies
                return True
        return False

    def learn(self, body: MessageBody) -> None:
        """Note the contents of a message that broke a pair."""
        for each, schema in self._inside:
            known = self._contents.setdefault(schema, {})
            for part in body:
                if each.accepts(part.name, part.content_type) and len(known) < _MOST_CONTENTS:
                    known[part.read_bytes()] = None

    def _add_learned(self) -> None:
        for number, (each, schema) in enumerate(self._inside):
            known = [*self._contents.get(schema, ())]
            for content in known[self._seen[number] :]:
                found = next(filter(self._schema.is_valid, self._variants(each, content)), None)
                self._bodies += () if found is None else (found,)
            self._seen[number] = len(known)

    def _variants(self, wanted: SchemaPart, content: bytes) -> Iterator[MessageBody]:
        """Yield the messages in which a part of one schema part has another content."""
        for body in self._plain:
            parts = list(body)
            for place, own in enumerate(parts):
                if wanted.accepts(own.name, own.content_type):
                    changed = own.evolve(content=content)
                    yield MessageBody([*parts[:place], changed, *parts[place + 1 :]])


def _samples(schema: MessageBodySchema) -> Iterator[MessageBody]:
    parts = list(schema)
    yield from _sample(schema)
    for number, part in enumerate(parts[:_MOST_PARTS]):
        if not part.required:
            required = attrs.evolve(part, required=True)
            yield from _sample(MessageBodySchema([*parts[:number], required, *parts[number + 1 :]]))


def _sample(schema: MessageBodySchema) -> Iterator[MessageBody]:
    body = satisfiable(schema, max_steps=_STEPS).witness
    if body is not None:
        yield body
