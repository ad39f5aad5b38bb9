"""A draft of a body: a model adds parts with tools, and no part can make the body invalid."""

import json
from collections.abc import Iterable
from typing import ClassVar, Final

from messagebody._core import (
    JSON,
    MessageBody,
    Part,
    by_usual_name,
    count_of,
    escape,
    essence,
    quote,
    require_parts,
    require_schema,
)
from messagebody.adapters import is_withheld
from messagebody.compatibility import SchemaStream
from messagebody.errors import DuplicateName
from messagebody.prompts._toolbox import Toolbox, find_part, tool
from messagebody.schema import MessageBodySchema, Status

_MOST: Final = 1000
"""The most parts of a draft: a model that adds more is in a loop."""


class Draft(Toolbox):
    """The tools with which a model writes a body for a schema, part by part.

    A part is not added if the schema does not accept it, or if no further part could make the body
    valid after it. The answer says why. So a draft is never invalid; `is_finished` tells whether it
    has all required parts.

    Arguments:
        schema: the schema of the body.
        attachments: parts that the model may add by name or number, because it can't write them
            itself, such as pictures of a message that it received. Parts that keep members of a
            message, such as `/meta/agents-api.json`, are left out.

    Raises:
        InvalidArgument: the schema is not a schema.

    Examples:
        >>> draft = Draft(MessageBodySchema([("/report.md", "text/markdown", True)]))
        >>> draft.add_part("Cats", "text/plain", "/cats")[:60]
        "not added: part 0 ('/cats', text/plain): accepted by no sche"
        >>> draft.add_part("# Cats", "text/markdown", "/report.md")
        'added as number 0; everything required is there'
        >>> draft.body
        MessageBody(1 part, 6 B, '/report.md')
    """

    TOOLS: ClassVar = ("add_part", "attach_part", "remove_part", "finish")

    def __init__(self, schema: MessageBodySchema, attachments: Iterable[Part] = ()) -> None:
        self._schema = require_schema(schema)
        # Kept as a body, so that the tools find them by name or number, like parts.
        given = require_parts(attachments)
        self._attachments = MessageBody(part for part in given if not is_withheld(part))
        self._stream = SchemaStream(schema)
        self._body = MessageBody()
        self.is_finished = False

    @property
    def body(self) -> MessageBody:
        """The present body of the draft."""
        return self._body.copy()

    def instructions(self) -> str:
        """Return instructions for the model: the schema in words, and the parts it may attach."""
        lines = [self._schema.describe(), "Add parts with the tools, and call finish at the end."]
        if self._attachments:
            lines.append("These parts can be added with attach_part:")
            lines += [
                f"- {number} {escape(part.name or '(unnamed)')} {escape(part.content_type)}"
                for number, part in enumerate(self._attachments)
            ]
        return "\n".join(lines)

    @tool
    def add_part(self, content: str, content_type: str, name: str | None = None) -> str:
        """Add a part of text to the message that you are writing.

        Arguments:
            content: the text.
            content_type: its type, such as text/markdown.
            name: its name, such as /report.md; null for a part without a name.
        """
        part = Part(content, name=name, content_type=by_usual_name(content_type))
        if not part.is_text:
            return f"not added: {quote(content_type)} is not text; attach_part adds others"
        if essence(part.content_type) == JSON:
            try:
                # Checked while the model can still correct it: a schema does not look at the
                # content.
                json.loads(content)
            except (ValueError, RecursionError):
                return "not added: the content is not JSON"
        return self._add(part)

    @tool
    def attach_part(self, source: str, name: str | None = None) -> str:
        """Add one of the parts that you were given, such as a picture, to the message.

        Arguments:
            source: the name or number of the part that you were given.
            name: its name in the message, such as /charts/a.png; null to have none.
        """
        part = self._attachments[find_part(self._attachments, source)]
        return self._add(part.evolve(name=name))

    @tool
    def remove_part(self, part: str) -> str:
        """Take a part out of the message that you are writing.

        Arguments:
            part: its name, or its number.
        """
        del self._body[find_part(self._body, part)]
        self._replay()
        return f"removed; {self._outlook(self._stream.status)}"

    @tool
    def finish(self) -> str:
        """Say that the message is complete."""
        status = self._stream.status
        self.is_finished = bool(status)
        return "finished" if status else f"not finished: {self._outlook(status)}"

    def _add(self, part: Part) -> str:
        if len(self._body) == _MOST:
            return f"not added: the message has {count_of(_MOST, 'part')} already"
        # Checked before the stream takes it, because the stream can't forget a part.
        if part.name is not None and part.name in self._body:
            raise DuplicateName(part.name)
        status = self._stream.feed(part)
        if status in {"invalid", "hopeless"}:
            self._replay()
            return f"not added: {self._reason(part)}"
        self._body.append(part)
        self.is_finished = False
        return f"added as number {len(self._body) - 1}; {self._outlook(status)}"

    def _reason(self, part: Part) -> str:
        own = (each for each in self._schema.iter_violations([part]) if each.part_index == 0)
        name = quote(part.name) if part.name else "this"
        return next(map(str, own), f"after {name} no part could meet what is still required")

    def _replay(self) -> None:
        """Begin the stream again, because it can't forget a part."""
        self._stream = SchemaStream(self._schema)
        for part in self._body:
            self._stream.feed(part)

    def _outlook(self, status: Status) -> str:
        if status:
            return "everything required is there"
        # Ten are enough to continue, and each answer costs tokens.
        missing = ", ".join(self._schema.parts[index].label for index in status.missing[:10])
        return f"still required: {missing}"
