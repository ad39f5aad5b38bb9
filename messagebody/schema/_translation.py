"""Translation of content schemas: each dialect of JSON Schema in the words of 2020-12.

Validation and `check` read what comes out, so both follow the same words. A word means what its
own dialect says, and nothing where that dialect does not know it.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from copy import copy
from typing import Any, Final
from urllib.parse import quote as percent_encoded
from urllib.parse import unquote

from messagebody._base.text import escape, quote
from messagebody.errors import InvalidSchema
from messagebody.findings import pointer
from messagebody.schema._dialects import DRAFT_2020, JsonDialect, Place, dialect_of, resolved

_LEGAL: Final = "/~!$&'()*+,;=:@?"
"""Characters that stand as they are in the fragment of a URI, beside letters and digits."""
_RECURSION: Final = "recursion"
"""The dynamic anchor that stands for `$recursiveAnchor`."""
_LIMIT: Final = {"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}
_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,8}")
"""The step of a JSON Pointer into a list."""
_VALUES: Final = {"const", "default", "enum", "examples"}
"""Words that hold values of contents, which stay as they are."""


def translated(schema: Any, require_legal: Callable[[Any], None]) -> Any:
    """Return a schema in the words of 2020-12 and without `$schema`.

    What only a reference leads to, such as a definition below an unknown word, goes under `$defs`.

    Arguments:
        schema: the schema, of limited depth.
        require_legal: raises `InvalidSchema` for what is not a legal schema of the dialect that its
            `$schema` names.

    Raises:
        InvalidSchema: it is not legal, of an unknown dialect, or a reference leads out of it or
            nowhere.
    """
    if not isinstance(schema, dict):
        return schema
    dialect = dialect_of(schema)
    _require_legal(schema, dialect, require_legal)
    return _SchemaTranslation(schema, dialect, require_legal).result()


def _require_legal(
    schema: dict[str, Any], dialect: JsonDialect, require_legal: Callable[[Any], None]
) -> None:
    stated = {**schema, "$schema": dialect.uri}
    try:
        require_legal(stated)
    except InvalidSchema as error:
        # Generators write references such as `#/$defs/Page<T>`, which are read as they are meant.
        try:
            require_legal(_with_encoded_references(stated, dialect))
        except InvalidSchema:
            raise error from None


def _with_encoded_references(schema: Any, dialect: JsonDialect) -> Any:
    """Return a schema whose references are URIs; the levels are limited, so it may recurse."""
    if not isinstance(schema, dict):
        return schema
    made = dict(schema)
    for steps, below in dialect.children(schema):
        holder: Any = made
        for step in steps[:-1]:
            holder[step] = copy(holder[step])
            holder = holder[step]
        holder[steps[-1]] = _with_encoded_references(below, dialect)
    if isinstance(made.get("$ref"), str):
        made["$ref"] = percent_encoded(made["$ref"], safe=f"#%{_LEGAL}")
    return made


class _SchemaTranslation:
    """The translation of one document.

    Arguments:
        document: the schema.
        dialect: its dialect.
        require_legal: see `translated`.
    """

    def __init__(
        self, document: dict[str, Any], dialect: JsonDialect, require_legal: Callable[[Any], None]
    ) -> None:
        self._document = document
        self._dialect = dialect
        self._require_legal = require_legal
        self._schemas: dict[Place, tuple[Any, str]] = {}
        """Each schema, by its place, with the base of its references."""
        self._resources: dict[str, Place] = {"": ()}
        self._anchors: dict[tuple[str, str], Place] = {}
        self._targets: dict[Place, Place] = {}
        """Where references lead, by the place of the schema that has one."""
        self._moved: dict[Place, Place] = {}
        """Where each schema is afterwards."""
        self._added = self._targets_without_place(self._follow_references())
        self._holders = {each[:end] for each in self._added for end in range(1, len(each) + 1)}
        # The documents of `$id` matter for references that are followed while values are checked.
        self._keeps_names = dialect is DRAFT_2020 or self._recurs()

    def result(self) -> dict[str, Any]:
        """Return the translated document."""
        made: dict[str, Any] = self._translated_at((), ())
        rooms = self._assign_definitions()
        if not rooms and all(place == new for place, new in self._moved.items()):
            return made
        # Once more: now it is known where each reference leads.
        made = self._translated_at((), ())
        for place, room in rooms.items():
            holder = made
            for step in room[:-2]:
                holder = holder[step]  # type: ignore[index]  # a list has numbers
            holder.setdefault("$defs", {})[room[-1]] = self._translated_at(place, room)
        return made

    # What is where

    def _follow_references(self) -> list[Place]:
        """Note all schemas, and return the places that references lead to."""
        pending: list[Place] = self._walk((), self._document, "")
        found: dict[Place, None] = {}
        for place in pending:  # which grows meanwhile
            target = self._reference_target(place)
            if target is None:
                continue
            self._targets[place] = target
            found[target] = None
            if target not in self._schemas:
                pending += self._walk_target(place, target)
        return [*found]

    def _targets_without_place(self, targets: Iterable[Place]) -> list[Place]:
        """Return the targets that no known word holds; of those in each other, the outer ones."""
        reached: set[Place] = set()
        found: list[Place] = []
        for target in ((), *sorted(targets, key=len)):
            if target not in reached:
                found.append(target)
            pending = [target]
            while pending:
                place = pending.pop()
                schema, _ = self._schemas[place]
                if place not in reached and isinstance(schema, dict):
                    below = self._dialect.children(schema)
                    pending += [(*place, *steps) for steps, _ in below]
                reached.add(place)
        return found[1:]

    def _walk(self, place: Place, schema: Any, base: str) -> list[Place]:
        """Note the schemas at and below a place, and return the places of the new ones."""
        found: list[Place] = []
        pending = [(place, schema, base)]
        while pending:
            here, each, around = pending.pop()
            if here in self._schemas:
                continue
            found.append(here)
            if isinstance(each, dict):
                if "$schema" in each and dialect_of(each, here) is not self._dialect:
                    raise InvalidSchema(f"contentSchema {pointer(*here)} changes the dialect")
                around = self._register_names(each, here, around)
                for steps, below in self._dialect.children(each):
                    pending.append(((*here, *steps), below, around))
                if self._dialect.is_reference(each) and isinstance(each.get("definitions"), dict):
                    # They count only if something leads to them, maybe by a name of their own.
                    for name, below in each["definitions"].items():
                        pending.append(((*here, "definitions", name), below, around))
            self._schemas[here] = each, around
        return found

    def _register_names(self, schema: dict[str, Any], place: Place, base: str) -> str:
        """Note the names of a schema, and return the base of its references."""
        if self._dialect.is_reference(schema):
            return base
        name = schema.get(self._dialect.id)
        if isinstance(name, str):
            document, fragment = resolved(base, name, place)
            if not name.startswith("#"):
                base = document
                self._resources.setdefault(base, place)
            if fragment and not fragment.startswith("/"):
                self._anchors.setdefault((base, unquote(fragment)), place)
        for word in self._dialect.anchors:
            if isinstance(schema.get(word), str):
                self._anchors.setdefault((base, schema[word]), place)
        return base

    def _reference_target(self, place: Place) -> Place | None:
        """Return the place that the reference of a schema leads to, if it has one."""
        schema, base = self._schemas[place]
        reference = schema.get("$ref") if isinstance(schema, dict) else None
        if not isinstance(reference, str):
            return None
        document, fragment = resolved(base, reference, place)
        where = f"contentSchema {pointer(*place, '$ref')}: {quote(reference)}"
        if document not in self._resources:
            raise InvalidSchema(
                f"{where} leaves the document; nothing is fetched, so put the schema under $defs"
            )
        name = unquote(fragment)
        if name and not name.startswith("/"):
            found = self._anchors.get((document, name))
        else:
            found = self._pointer_target(self._resources[document], name)
        if found is None:
            raise InvalidSchema(f"{where}: {quote(name)} does not exist")
        return found

    def _pointer_target(self, root: Place, name: str) -> Place | None:
        """Return the place that a JSON Pointer leads to, None if it leads nowhere."""
        value, _ = self._schemas[root]
        steps: list[str | int] = []
        for escaped in name.split("/")[1:]:
            step = escaped.replace("~1", "/").replace("~0", "~")
            key = int(step) if isinstance(value, list) and _INDEX.fullmatch(step) else step
            try:
                value = value[key]
            except (LookupError, TypeError):
                return None
            steps.append(key)
        return (*root, *steps)

    def _walk_target(self, place: Place, target: Place) -> list[Place]:
        """Take what a reference leads to as a schema, wherever it is."""
        schema: Any = self._document
        base = ""
        for end in range(len(target) + 1):
            if end:
                schema = schema[target[end - 1]]
            if target[:end] in self._schemas:
                _, base = self._schemas[target[:end]]
        if not isinstance(schema, dict | bool):
            where = f"contentSchema {pointer(*place, '$ref')}"
            raise InvalidSchema(f"{where} leads to {escape(pointer(*target))}, which is no schema")
        if isinstance(schema, dict):
            _require_legal(schema, self._dialect, self._require_legal)
        return self._walk(target, schema, base)

    def _recurs(self) -> bool:
        return self._dialect.recurs and any(
            isinstance(each, dict) and each.get("$recursiveAnchor") is True
            for each, _ in self._schemas.values()
        )

    def _document_root(self, place: Place) -> Place:
        """Return the place of the document that a schema belongs to, as the library sees it."""
        return self._resources[self._schemas[place][1]] if self._keeps_names else ()

    def _assign_definitions(self) -> dict[Place, Place]:
        """Give a free place under `$defs` to each target that no known word holds."""
        taken = set(self._moved.values())
        numbers: Counter[Place] = Counter()
        rooms: dict[Place, Place] = {}
        for place in self._added:
            around = next(
                place[:end] for end in range(len(place) - 1, -1, -1) if place[:end] in self._schemas
            )
            wanted = (*self._moved[self._document_root(around)], "$defs", str(place[-1]))
            room: Place = wanted
            while room in taken:
                numbers[wanted] += 1
                room = (*wanted[:-1], f"{wanted[-1]}-{numbers[wanted] + 1}")
            taken.add(room)
            rooms[place] = room
            self._translated_at(place, room)  # a document in it may have rooms, too
        return rooms

    # Words

    def _translated_at(self, place: Place, new: Place) -> Any:
        """Return the schema at a place as it is at a new place."""
        self._moved[place] = new
        schema = self._schemas[place][0]
        if not isinstance(schema, dict):
            return schema
        if self._dialect.is_reference(schema):
            return {"$ref": self._reference(place)}
        made: dict[str, Any] = {}
        beside: list[Any] = []
        for word, value in schema.items():
            if self._stays(word, place):
                made |= self._translated_word(word, value, place, new, beside)
        if beside:
            made["allOf"] = [*made.get("allOf", ()), *beside]
        return made

    def _stays(self, word: str, place: Place) -> bool:
        if word == "$schema" or word in self._dialect.unknown:
            return False
        if word == self._dialect.id:
            # An empty fragment names nothing, and the library would take it for a document.
            name = self._schemas[place][0][word]
            return self._keeps_names and not (isinstance(name, str) and name.startswith("#"))
        if word == "$anchor":
            return self._keeps_names
        is_known = word in self._dialect.holders or word in _VALUES
        # What references lead to is under `$defs`, and need not be here, too.
        return is_known or (*place, word) not in self._holders

    def _translated_word(
        self, word: str, value: Any, place: Place, new: Place, beside: list[Any]
    ) -> dict[str, Any]:
        """Return what a word says of contents, in other words if it has to be.

        Arguments:
            word: the word.
            value: what it says.
            place: where its schema is.
            new: where that is afterwards.
            beside: schemas that go into `allOf`, to which it may add one.
        """
        schema = self._schemas[place][0]
        old, unknown = self._dialect is not DRAFT_2020, self._dialect.unknown
        after = (*new, "allOf", len(schema.get("allOf", ())) + len(beside))
        match word:
            case "$ref" if isinstance(value, str):
                return {"$ref": self._reference(place)}
            case "$recursiveRef" if old:
                root = self._schemas[self._document_root(place)][0]
                if self._keeps_names and root.get("$recursiveAnchor") is True:
                    return {"$dynamicRef": f"#{_RECURSION}"}
                return self._recursive(schema, place, beside)
            case "$recursiveAnchor" if old:
                return {"$dynamicAnchor": _RECURSION} if value is True else {}
            case "exclusiveMinimum" | "exclusiveMaximum" if isinstance(value, bool):
                return {word: schema[_LIMIT[word]]} if value and _LIMIT[word] in schema else {}
            case "minimum" | "maximum" if schema.get(f"exclusiveM{word[1:]}") is True:
                return {}
            case "items" if old and isinstance(value, list):
                return self._tuple(schema, place, new)
            case "additionalItems" if old:
                return {}
            case "dependencies" if isinstance(value, dict):
                if schema.keys() & {"dependentSchemas", "dependentRequired"} - unknown:
                    beside.append(self._dependencies(value, place, after))
                    return {}
                return self._dependencies(value, place, new)
            case "contains" if self._dialect.recurs and "unevaluatedItems" in schema:
                # There, an item that was found counts as not looked at; below `not` it does.
                inner = (*after, "not", "not")
                found = {"contains": self._translated_value("contains", value, place, inner)}
                counts = {each: schema[each] for each in _COUNTS if each in schema}
                beside.append({"not": {"not": found | counts}})
                return {}
            case "minContains" | "maxContains" if (
                self._dialect.recurs and "unevaluatedItems" in schema and "contains" in schema
            ):
                return {}
        name = "$defs" if word == "definitions" and "$defs" in unknown else word
        return {name: self._translated_value(word, value, place, new, name)}

    def _translated_value(
        self, word: str, value: Any, place: Place, new: Place, name: str | None = None
    ) -> Any:
        """Return the value of a word, with the schemas in it translated."""
        holds, here, there = self._dialect.holders.get(word), (*place, word), (*new, name or word)
        if holds == "list" and isinstance(value, list):
            return [self._translated_at((*here, at), (*there, at)) for at in range(len(value))]
        if holds == "names" and isinstance(value, dict):
            return {each: self._translated_at((*here, each), (*there, each)) for each in value}
        if holds in {"one", "items"} and here in self._schemas:
            return self._translated_at(here, there)
        return value

    def _tuple(self, schema: dict[str, Any], place: Place, new: Place) -> dict[str, Any]:
        """Return items that have a schema each, and the schema of all others."""
        made: dict[str, Any] = {}
        if schema["items"]:
            made["prefixItems"] = [
                self._translated_at((*place, "items", at), (*new, "prefixItems", at))
                for at in range(len(schema["items"]))
            ]
        if "additionalItems" in schema:
            made["items"] = self._translated_at((*place, "additionalItems"), (*new, "items"))
        return made

    def _dependencies(self, value: dict[str, Any], place: Place, new: Place) -> dict[str, Any]:
        names = {each: names for each, names in value.items() if isinstance(names, list)}
        schemas = {
            each: self._translated_at(
                (*place, "dependencies", each), (*new, "dependentSchemas", each)
            )
            for each in value
            if each not in names
        }
        made: dict[str, Any] = {"dependentRequired": names} if names else {}
        return made | ({"dependentSchemas": schemas} if schemas else {})

    def _recursive(self, schema: dict[str, Any], place: Place, beside: list[Any]) -> dict[str, Any]:
        """Return the reference to the document around a schema, which no other one takes up."""
        root = self._resources[self._schemas[place][1]]
        around = self._moved.get(root, root)
        found = {"$ref": "#" if self._keeps_names else _fragment(around)}
        if "$ref" in schema:
            beside.append(found)
            return {}
        return found

    def _reference(self, place: Place) -> str:
        """Return the reference of a schema to where its target is afterwards."""
        reference: str = self._schemas[place][0]["$ref"]
        document, _, fragment = reference.partition("#")
        # Where it is not known yet, all is made once more.
        target = self._moved.get(self._targets[place], self._targets[place])
        if not self._keeps_names:
            return _fragment(target)
        if fragment and not fragment.startswith("/"):
            return reference  # a name of its own leads there, wherever it is
        around = resolved(self._schemas[place][1], reference, place)[0]
        root = self._moved.get(self._resources[around], self._resources[around])
        if target[: len(root)] != root:
            if self._targets[place] not in self._moved:  # not yet
                return reference
            where = f"contentSchema {pointer(*place, '$ref')}: {quote(reference)}"
            raise InvalidSchema(f"{where} leads into a document that lies in another one")
        steps = _fragment(target[len(root) :])
        return reference if steps == f"#{fragment}" else document + steps


def _fragment(place: Place) -> str:
    """Return the reference to a place, as URIs spell it."""
    return f"#{percent_encoded(pointer(*place), safe=_LEGAL)}"


_COUNTS: Final = ("minContains", "maxContains")
