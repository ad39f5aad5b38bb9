"""One part of a schema, which accepts parts of a body."""

from typing import TYPE_CHECKING, Final, NamedTuple, NoReturn

import attrs

from messagebody._base.hints import Guided, guided_init, missing_attribute
from messagebody._base.leaves import LazySerializer, PydanticHook, leaf
from messagebody._base.limits import DEFAULT_LIMITS
from messagebody._base.media_types import JSON, is_json
from messagebody._base.text import escape, quote
from messagebody.errors import InvalidArgument, InvalidSchema
from messagebody.globs import (
    ContentTypePattern,
    NamePattern,
    content_type_pattern,
    name_pattern,
)
from messagebody.schema._contents import JSON_TYPES, ContentSchema, content_schema_of

ANY_TYPE = "*/*"
# Equal to it, and another object: so it shows that nobody stated a type.
_UNSTATED: Final = str(ANY_TYPE.encode(), "ascii")
# Schema parts made by the program have no limits; decoders check the limits of their callers.
_ANY_LENGTH = attrs.evolve(DEFAULT_LIMITS, pattern_length=2**31)


class PartType(NamedTuple):
    """The properties of a message part that schemas test: its name, if any, and content type."""

    name: str | None
    content_type: str


@guided_init
@attrs.frozen
class SchemaPart(metaclass=Guided):
    """A schema part, which accepts parts by name and content type.

    Arguments:
        name: a pattern of names; None accepts only unnamed parts. A name pattern never accepts an
            unnamed part; `/**` accepts any named part.
        content_type: a pattern of content types.
        required: whether at least one part of a body must match.
        description: the purpose of the part, for people and models.
        content_schema: what is inside a part, in JSON Schema; see `content_schema_of` for what it
            may be. Only parts of a JSON type match then, and the content type is
            `application/json` if none is given.

    Raises:
        InvalidPattern: a pattern breaks the rules of `messagebody.globs`.
        InvalidSchema: an argument has the wrong type, or the content schema is not legal.
        MissingDependency: there is a content schema, and the extra `json` is not installed.

    Examples:
        >>> SchemaPart("/sources/*", "text/*").accepts("/sources/1", "text/html")
        True
    """

    name: str | None = None
    content_type: str = _UNSTATED
    required: bool = False
    description: str | None = None
    content_schema: ContentSchema | None = attrs.field(
        default=None, converter=attrs.converters.optional(content_schema_of)
    )
    name_pattern: NamePattern | None = attrs.field(init=False, eq=False, repr=False)
    content_type_pattern: ContentTypePattern = attrs.field(init=False, eq=False, repr=False)

    @name_pattern.default
    def _parse_name(self) -> NamePattern | None:
        return None if self.name is None else name_pattern(self.name, limits=_ANY_LENGTH)

    @content_type_pattern.default
    def _parse_content_type(self) -> ContentTypePattern:
        if self.content_schema is not None and self.content_type is _UNSTATED:
            object.__setattr__(self, "content_type", JSON)
        if isinstance(self.content_type, type):
            hint = "content_schema=Model says what is inside"
            raise InvalidArgument("a pattern of content types", self.content_type, hint)
        return content_type_pattern(self.content_type, limits=_ANY_LENGTH)

    __pydantic_serializer__ = LazySerializer()
    __get_pydantic_core_schema__ = PydanticHook("value_core_schema")
    __get_pydantic_json_schema__ = PydanticHook("schema_part_json_schema")

    def __attrs_post_init__(self) -> None:
        if not isinstance(self.required, bool):
            raise InvalidSchema(f"required is True or False, got {quote(self.required)}")
        if self.description is not None and not isinstance(self.description, str):
            raise InvalidSchema(f"description is text or None, got {quote(self.description)}")
        if self.content_schema is not None and not _meets_json(self.content_type_pattern):
            raise InvalidSchema(
                f"contentSchema is about JSON, and {quote(self.content_type)} matches no JSON type"
            )

    if not TYPE_CHECKING:  # a type checker would assume that a part has every attribute

        def __getattr__(self, name: str) -> NoReturn:
            raise missing_attribute(self, name)

    @property
    def label(self) -> str:
        """The accepted names and types on one line, such as `'/sources/*' text/*`."""
        kind = escape(self.content_type, limit=200)
        return kind if self.name is None else f"{quote(self.name)} {kind}"

    def accepts(self, name: str | None, content_type: str) -> bool:
        """Return whether a part of this name and content type may match.

        What is inside decides with a content schema, and is not looked at here.

        Arguments:
            name: a legal name; None for an unnamed part.
            content_type: a legal content type; parameters and case don't matter.
        """
        if self.content_schema is not None and not is_json(content_type):
            return False
        return self.accepts_name(name) and self.content_type_pattern.matches(content_type)

    def accepts_name(self, name: str | None) -> bool:
        """Return whether a part of this name matches by name; None is an unnamed part."""
        if self.name_pattern is None or name is None:
            return self.name_pattern is None and name is None
        return self.name_pattern.matches(name)


def _meets_json(pattern: ContentTypePattern) -> bool:
    if pattern.matches_word(JSON):
        return True
    # Only an unusual pattern needs the solver, which stands above the schema.
    read = leaf("MessageBodySchema")
    sides = ([(None, each, True)] for each in (pattern.text, JSON_TYPES))
    return leaf("disjoint")(*map(read, sides)).value is False
