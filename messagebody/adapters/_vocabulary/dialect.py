"""Dialects: how a format splits messages into blocks, and how blocks become items and back.

A dialect is a subclass of `Dialect` of some tens of lines. The core does the rest.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, ClassVar, Final, NamedTuple

from messagebody._core import quote
from messagebody.adapters._vocabulary.capabilities import Kind, Spelling
from messagebody.adapters._vocabulary.items import Call, Item, Media, Result, arguments_of
from messagebody.errors import EnvelopeError
from messagebody.findings import Finding


class Misplaced(EnvelopeError):
    """Report a member of a block that is missing or of a wrong type; readers say of which one.

    Arguments:
        path: a JSON pointer to it, from the block.
        detail: what is wrong.
        holder: the object that the path leads from, if it is one inside of the block.
    """

    __slots__ = ("detail", "holder", "path")
    _fields = ("path", "detail")

    def __init__(self, path: str, detail: str, holder: Any = ...) -> None:
        self.path = path
        self.detail = detail
        self.holder = holder
        super().__init__(f"{path or 'the message'}: {detail}", (Finding("shape", path, detail),))

    def problem_in(self, value: Any) -> str:
        """Return the problem, with what a value has in the place of what was expected."""
        if not self.detail.startswith("expected") or ", got " in self.detail:
            return self.detail
        for step in self.path.split("/")[1:]:
            value = value.get(step) if isinstance(value, dict) else None
        return f"{self.detail}, got {quote(value, limit=40)}"


TYPES: Final = {
    str: "text", dict: "an object", list: "a list", bool: "true or false", int: "a whole number",
}  # fmt: skip
"""The names of types in errors."""


def need(block: Any, key: str, kind: type = str) -> Any:
    """Return a member of a block.

    Raises:
        Misplaced: it is missing, or of another type.
    """
    value = _object(block).get(key)
    if type(value) is not kind:
        detail = f"expected {TYPES[kind]}, got {quote(value, limit=40)}"
        raise Misplaced(f"/{key}", detail, block)
    return value


def optional(block: Any, key: str, kind: type = str) -> Any:
    """Return a member of a block, None if it is missing or null.

    Raises:
        Misplaced: it is of another type.
    """
    return None if _object(block).get(key) is None else need(block, key, kind)


def _object(block: Any) -> dict[str, Any]:
    if not isinstance(block, dict):
        raise Misplaced("", f"expected an object, got {quote(block, limit=40)}", block)
    return block


def stated(block: dict[str, Any]) -> dict[str, Any]:
    """Return what a block has, where a member tells its kind: not what is null.

    Libraries write null for each member that a block of theirs could have. A block that has no
    other member stays as it is.
    """
    if None not in block.values():
        return block
    return {key: value for key, value in block.items() if value is not None} or block


CLAUDE: Final = "signature of Claude"
GEMINI: Final = "signature of Gemini"
"""Names of shared members: what a model signs its thoughts and calls with.

Claude's services take a thought with its signature only, and each takes what another one signed;
Gemini 3 refuses a call without its own.
"""

UNDERSCORES: Final = "underscores"
"""The form of a message or block whose members Python has spelt, where JSON has camel case."""


def in_camel_case(members: dict[str, Any]) -> dict[str, Any]:
    """Return an object with its members spelt as JSON does, which programs in Python dump.

    Examples:
        >>> in_camel_case({"tool_call_id": "c", "content": {"my_key": 1}})
        {'toolCallId': 'c', 'content': {'my_key': 1}}
    """
    if not any("_" in name for name in members):
        return members
    return {camel_case(name): value for name, value in members.items()}


@lru_cache(256)
def camel_case(name: str) -> str:
    """Return the name of a member as JSON has it.

    Examples:
        >>> camel_case("tool_call_id"), snake_case("toolCallId")
        ('toolCallId', 'tool_call_id')
    """
    return re.sub("(?<=[a-z0-9])_([a-z])", lambda found: found[1].upper(), name)


@lru_cache(256)
def snake_case(name: str) -> str:
    """Return the name of a member as Python writes it."""
    return "".join(f"_{sign.lower()}" if sign.isupper() else sign for sign in name)


def arguments_in(block: Any, key: str) -> Any:
    """Return the arguments of a call in a member: of a text, an object, or none.

    Raises:
        Misplaced: it is something else.
    """
    said = block.get(key)
    if not isinstance(said, str | dict | list | None):
        detail = f"expected text or an object, got {quote(said, limit=40)}"
        raise Misplaced(f"/{key}", detail, block)
    return arguments_of(said)


def some(blocks: Any, knows: Callable[[Any], bool], *, may_be_empty: bool = False) -> bool:
    """Return whether blocks are a list with one that a format knows; the others may be new."""
    if not isinstance(blocks, list):
        return False
    return any(map(knows, blocks)) if blocks else may_be_empty


ROLES: Final = ("user", "assistant", "system", "tool")

ROLE_ALIASES: Final = {
    "developer": "system", "function": "tool", "human": "user", "model": "assistant",
    "chatbot": "assistant", "activity": "assistant", "ai": "assistant", "agent": "assistant",
    "bot": "assistant",
}  # fmt: skip
"""Roles that only some formats and programs have, and the nearest role in the others."""


def usual_role(said: str) -> str:
    """Return the nearest of `ROLES` to a role, in whatever case; "user" if nobody knows it.

    Examples:
        >>> usual_role("developer"), usual_role("Assistant"), usual_role("narrator")
        ('system', 'assistant', 'user')
    """
    if said in ROLES:
        return said  # most
    word = said.lower()
    return ROLE_ALIASES.get(word, word if word in ROLES else "user")


SHOWN: Final = "activity"
"""The role of what an interface shows and nobody has said: no model gets it."""

COPY: Final = "messagebody"
"""The member that holds the copy."""


def split_texts(message: Any, member: str) -> tuple[list[Any], Any]:
    """Return the blocks of a message, a list or a text; a message has them in one member.

    Raises:
        Misplaced: the member is not a list.
    """
    if isinstance(message, str):
        return [{"text": message}], "text"
    if isinstance(message, list):
        return message, "list"
    blocks = message.get(member) if isinstance(message, dict) else None
    if not isinstance(blocks, list):
        raise Misplaced(f"/{member}", "expected a list")
    return blocks, None


def join_texts(blocks: list[Any], form: Any) -> Any | None:
    """Return the text or list that `split_texts` got; None if it got a message."""
    if form == "text" and len(blocks) == 1 and blocks[0].keys() == {"text"}:
        return blocks[0]["text"]
    return blocks if form == "list" else None


_BETWEEN: Final = "\n\n"
"""What stands between the texts of one source, which are its paragraphs."""


def joined_pieces(texts: list[str], kind: str) -> tuple[str, str]:
    """Return the texts of one source as one, and a form that keeps where each ends."""
    lengths = [] if len(texts) == 1 else [str(len(text)) for text in texts]
    return _BETWEEN.join(texts), " ".join([kind, *lengths])


def pieces_in(text: str, form: str) -> list[str]:
    """Return the texts that `joined_pieces` got; one text if it has changed since."""
    return _cut(text, map(int, filter(str.isdecimal, form.split()[1:])))


def _cut(text: str, lengths: Iterable[int]) -> list[str]:
    pieces, start = [], 0
    for length in lengths:
        pieces.append(text[start : start + length])
        start += length + len(_BETWEEN)
    return pieces if _BETWEEN.join(pieces) == text else [text]


def search_result(kind: str, block: Any, texts: list[str]) -> Media | None:
    """Return a search result: its texts as one, and where it was found; None without a text."""
    if not texts:
        return None
    found: dict[str, Any] = {}
    if (source := optional(block, "source")) is not None:
        found["source"] = source
    if (cited := optional(block, "citations", dict)) is not None:
        found["citations"] = cited
    if len(texts) > 1:
        found["lengths"] = [*map(len, texts)]
    # Services ask for a title, so a result without one has its source there.
    name = optional(block, "title") or source
    place = None if name else DOCUMENTS
    text = _BETWEEN.join(texts)
    return Media(kind, "text/plain", name, text=text, place=place, found=found)


def search_result_members(item: Media) -> tuple[dict[str, Any], list[str]]:
    """Return the members of the block of a search result, and its texts."""
    said = item.found or {}
    source, cited, lengths = (said.get(key) for key in ("source", "citations", "lengths"))
    source = source if isinstance(source, str) else ""
    made: dict[str, Any] = {"source": source, "title": item.name or source}
    if isinstance(cited, dict):
        made["citations"] = cited
    known = lengths if isinstance(lengths, list) else []
    return made, _cut(item.text or "", [each for each in known if type(each) is int])


DOCUMENTS: Final = "documents"
"""Where documents and search results without a title go: they are nobody's own words."""


def unwritten(base: object, method: str) -> str:
    """Return what is wrong where a subclass has not written a method.

    Examples:
        >>> unwritten(Dialect(), "join")
        'Dialect has no join(…): return the message of some blocks'
    """
    kind = type(base)
    does = (getattr(kind, method).__doc__ or "").partition("\n")[0].rstrip(".").partition(":")[0]
    return f"{kind.__name__} has no {method}(…): {does[:1].lower()}{does[1:]}"


class PlainMessage(NamedTuple):
    """How a message says just a text, beside its role, and how a block does: most do.

    Such messages and blocks are read and written by this table; all others, and those of formats
    without it, by `split`, `join` and the methods of blocks, which give the same.

    Arguments:
        block: the members of the block of a text beside "text".
        as_text: the form of a message whose content is the text; `NEVER` if it never is.
        as_block: the form of a message whose content is one block.
        call: the member with the id of the call in a message that is just its result, a text; None
            if no message is.
        place: the member with the content; "parts" stands before the role, and others behind it.
    """

    block: Mapping[str, str]
    as_text: str | None
    as_block: str | None
    call: str | None = None
    place: str = "content"

    def text_in(self, message: Any) -> tuple[str, str | None] | None:
        """Return the text of a message and the form of the message; None if it says more.

        The message may be any value. It is JSON if it has one, but for lone surrogates.
        """
        if type(message) is not dict or len(message) != 2:
            return None
        role, content = message.get("role"), message.get(self.place)
        if type(role) is not str or not role:
            return None
        if type(content) is str:
            return None if self.as_text == NEVER else (content, self.as_text)
        one: Any = content[0] if type(content) is list and len(content) == 1 else None
        text = self.text_of(one)
        if text is None or not all(type(each) is str for each in one.values()):
            return None
        return text, self.as_block

    def result_in(self, message: Any) -> tuple[str, str] | None:
        """Return the text of a message of a tool and the id of its call; None if it says more."""
        if self.call is None or type(message) is not dict or len(message) != 3:
            return None
        identity, text = message.get(self.call), message.get("content")
        is_plain = message.get("role") == "tool" and type(identity) is type(text) is str
        return (text, identity) if is_plain and text and identity else None

    def text_of(self, block: Any) -> str | None:
        """Return the text of a block that says nothing else, None for any other block."""
        text: Any = block.get("text") if type(block) is dict else None
        is_plain = type(text) is str and block == {**self.block, "text": text}
        return text if is_plain else None

    def message(self, text: str, form: str | None, role: str) -> dict[str, Any] | None:
        """Return the message of a text in some form, None for other forms."""
        if form == self.as_text:
            return {"role": role, "content": text}
        if form != self.as_block:
            return None
        blocks = [{**self.block, "text": text}]
        is_last = self.place != "parts"
        return {"role": role, self.place: blocks} if is_last else {self.place: blocks, "role": role}


NEVER: Final = "never"

ANYBODY: Final = "anybody"
"""Whose turn a message belongs to that nobody says: that of the message before it, or behind it."""


class Dialect:
    """State what is special about the messages of one format.

    A subclass states its capabilities and has `split`, `join`, `read_block`, `write_block` and
    `detect`.
    """

    name: ClassVar[str]
    """The name of the format in code, such as "openai-chat"."""
    title: ClassVar[str]
    """The full name of the format, with the version that it was checked against."""
    place: ClassVar[str] = "content"
    """Where the blocks of a message are, for errors and losses."""
    kinds: ClassVar[tuple[Kind, ...]] = ()
    """The kinds of block for files, the preferred ones first."""
    slot: ClassVar[str | None] = None
    """The member of a block that may hold any data of users; "" if it is the block itself."""
    plain: ClassVar[PlainMessage | None] = None
    """How a message says just a text, if it has its role in "role"."""
    roles: ClassVar[Mapping[str, str]] = {}
    """The format's own words for "user", "assistant", "system" and "tool", where they differ."""
    own_roles: ClassVar[frozenset[str]] = frozenset()
    """Roles that it takes beside those of all formats, such as "developer"."""
    item_roles: ClassVar[Mapping[type[Item], frozenset[str]]] = {}
    """The roles, in our words, whose messages may hold an item; all roles for items not listed."""
    separate_message_items: ClassVar[tuple[type[Item], ...]] = ()
    """Items that need a separate message, which holds one of them and nothing else."""
    turn_is_list: ClassVar[bool] = False
    """Whether one message is a list of items that look like messages themselves."""
    conversation_form: ClassVar[str | None] = None
    """The form of messages in a conversation, if they then say more than a message alone.

    A message of that form is a list of them, one for each block.
    """
    answers_in_order: ClassVar[bool] = False
    """Whether calls have no ids, so that results have the order of the calls that they answer."""
    joins_results: ClassVar[bool] = False
    """Whether the result of a call is in the message of the call."""
    states_text_types: ClassVar[bool] = False
    """Whether the block of a text states its type, such as text/markdown."""
    cites_pages: ClassVar[bool] = False
    """Whether a text of the assistant has a place for the pages of the web that it cites."""
    cites_in_results: ClassVar[bool] = True
    """Whether a text in the result of a tool may have citations."""
    shows_provider_tools: ClassVar[bool] = False
    """Whether the format has a block for any tool that a provider ran, such as a search."""
    signs_reasoning: ClassVar[bool] = False
    """Whether the target only takes reasoning with the signature or id that it has given."""

    binds_reasoning: ClassVar[bool] = False
    """Whether the target takes a thought only with the item that it led to, right behind it."""
    stores_file_ids: ClassVar[bool] = False
    """Whether it has a member for the id of a file of any provider."""
    sends_items_as_files: ClassVar[bool] = False
    """Whether a call, a result or a thought without a block goes out as the file that it is."""
    alternates: ClassVar[bool] = False
    """Whether the service takes no two messages of one role in a row: neighbours are joined."""
    accepts_blank_text: ClassVar[bool] = True
    """Whether the service takes a text of nothing but spaces and line ends."""
    accepts_final_space: ClassVar[bool] = True
    """Whether the assistant's message may end in a space, if it is the last of a conversation."""
    accepts_empty_errors: ClassVar[bool] = True
    """Whether the service takes a failed result without content."""
    kinds_beside_text: ClassVar[frozenset[str]] = frozenset()
    """Kinds of block that the service takes only beside a text."""
    items_never_first: ClassVar[tuple[type[Item], ...]] = ()
    """What the assistant can't begin a conversation with: a kind of item, or `Item` for all."""
    system_position: ClassVar[str | None] = None
    """Where messages of the system may stand: "first"; also "between" the user and an answer.

    None is anywhere.
    """
    answers_calls: ClassVar[bool] = False
    """Whether the service takes no call without its result in the next message."""
    takes_late_results: ClassVar[bool] = False
    """Whether results may stand anywhere, and without their calls, which the service may have."""
    ids: ClassVar[Spelling | None] = None
    """What the service takes as the id of a call; None if it takes any text."""
    tools: ClassVar[Spelling | None] = None
    """What the service takes as the name of a tool; None if it takes any text."""
    texts_state_roles: ClassVar[bool] = False
    """Whether a text of a message may say that another one speaks, such as the system."""
    ignored_members: ClassVar[frozenset[str]] = frozenset()
    """Members in the differences of blocks that no reader of another format misses."""
    shared: ClassVar[Mapping[str, tuple[str, str]]] = {}
    """Members of blocks that other formats have, too: by a name of ours, the type of the block and
    the place in it. With "*", any block may have it; with "", it is read and never written.

    `CLAUDE` and `GEMINI` are the names of signatures."""

    distinguishing_members: ClassVar[frozenset[str]] = frozenset()
    """Members of messages that few other formats have, for detection."""
    distinguishing_block_members: ClassVar[frozenset[str]] = frozenset()
    """Members of blocks that few other formats have, for detection."""

    counts_documents: ClassVar[bool] = False
    """Whether citations state numbers of documents: it follows from `number_of`."""
    _shared_places: ClassVar[Mapping[str, str]] = {}
    _kinds: ClassVar[Mapping[str, Kind]] = {}
    _kinds_by_role: ClassVar[Mapping[str, tuple[Kind, ...]]] = {}

    def __init_subclass__(cls) -> None:
        cls.counts_documents = cls.number_of is not Dialect.number_of
        cls._kinds = {kind.name: kind for kind in cls.kinds}
        cls._shared_places = {name: pointer for name, (_, pointer) in cls.shared.items()}
        cls._kinds_by_role = {
            role: tuple(kind for kind in cls.kinds if role in kind.roles) for role in ROLES
        }

    def split(self, message: Any) -> tuple[list[Any], Any]:
        """Return the blocks of a message, and its form if messages have several forms."""
        raise NotImplementedError(unwritten(self, "split"))

    def join(self, blocks: list[Any], form: Any, role: str) -> Any:
        """Return the message of some blocks: the inverse of `split`."""
        raise NotImplementedError(unwritten(self, "join"))

    def read_block(self, block: Any) -> Item | None:
        """Return the item of a block, None if the block is unknown."""
        raise NotImplementedError(unwritten(self, "read_block"))

    def write_block(self, item: Item, blocks: list[Any]) -> Any | None:
        """Return the block of an item, None if the format can't express it.

        Arguments:
            item: the item.
            blocks: for a `Result`, the blocks of its items.
        """
        raise NotImplementedError(unwritten(self, "write_block"))

    def detect(self, value: Any, /) -> bool:
        """Return whether a parsed JSON value has what a message of the format must have.

        A member or a block that is unknown says nothing: services add new ones every month.
        """
        raise NotImplementedError(unwritten(self, "detect"))

    def knows(self, block: Any) -> bool:
        """Return whether a block is one of the format."""
        raise NotImplementedError(unwritten(self, "knows"))

    def shared_places(self, block: Any) -> Mapping[str, str]:  # noqa: ARG002 - some ask
        """Return the places of the shared members that a block may have, by our names."""
        return self._shared_places

    def is_blank(self, block: Any) -> bool:  # noqa: ARG002 - some ask
        """Return whether a block without an item has no content that a body could hold."""
        return False

    def evidence(self, value: Any) -> int:
        """Return how much of a value is of the format: its known blocks, and its own members.

        Of several formats that a value looks like, `adapters.detect` takes those with the most.
        """
        if not self.detect(value):
            return 0
        blocks = value.get(self.place) if isinstance(value, dict) else value
        blocks = blocks if isinstance(blocks, list) else []
        known = sum(map(self.knows, blocks))
        members = value.keys() if isinstance(value, dict) else ()
        told = len(self.distinguishing_members.intersection(members))
        told += sum(
            len(self.distinguishing_block_members & each.keys())
            for each in blocks
            if isinstance(each, dict)
        )
        return 1 + known + told

    # What most formats have in common

    def role_of(self, message: Any) -> str | None:
        """Return the role of a message: our word for it, or the format's own if we have none."""
        said: str | None = message.get("role") if isinstance(message, dict) else None
        if said is not None and type(said) is not str:
            need(message, "role")
        if said is None or said in ROLES:
            return said
        return {theirs: ours for ours, theirs in self.roles.items()}.get(said, said)

    def speaker_in(self, form: Any, role: str) -> str | None:  # noqa: ARG002 - some ask
        """Return who speaks for a reader of a message of some form; None if it does not say."""
        return role

    def turns(self, messages: list[Any]) -> list[Any]:
        """Return the messages of a conversation, where several of them may be one turn: a list."""
        if self.conversation_form is None and not self.turn_is_list:
            return messages
        made: list[Any] = []
        speaker: str | None = None
        for message in messages:
            said = self.turn_in(message)
            is_next = said is not None and speaker is not None
            if is_next and (said == speaker or ANYBODY in (said, speaker)):
                made[-1].append(message)
                said = speaker if said == ANYBODY else said
            else:
                made.append(message if said is None else [message])
            speaker = said
        return made

    def turn_of(self, message: Any) -> str | None:  # noqa: ARG002 - some ask
        """Return whose turn a message belongs to with its neighbours, None if it stands alone."""
        return None

    def turn_in(self, message: Any) -> str | None:
        """Return `turn_of` a message, None if it is not right: reading it says what is wrong."""
        try:
            return self.turn_of(message)
        except Misplaced:
            return None

    def kinds_of(self, role: str) -> tuple[Kind, ...]:
        """Return the kinds of block that a message of some role may have."""
        return self._kinds_by_role.get(role, ())

    def complete(self, message: Any) -> Any:
        """Return a message with the required members of its SDK that are missing."""
        return message

    def has_provider_tools(self, item: Call | Result) -> bool:  # noqa: ARG002 - some ask
        """Return whether the format has a block for a tool that a provider ran, such as a search.

        Without one, the client would be asked to run it.
        """
        return self.shows_provider_tools

    def number_of(self, citation: Any) -> tuple[str, int] | None:  # noqa: ARG002 - some ask
        """Return the member of a citation that counts the documents of a talk, and the number."""
        return None

    def document_of(self, block: Any) -> tuple[str, Any] | None:  # noqa: ARG002 - some ask
        """Return the content of a document that citations count, and the member that counts it."""
        return None

    def slot_of(self, block: Any, role: str = "") -> tuple[str | int, ...] | None:  # noqa: ARG002 - some ask
        """Return the path to the slot that may hold any data of users, None if a block has none.

        The empty path is the block itself. `role` is that of the message that is written.
        """
        return None if self.slot is None else (self.slot,) if self.slot else ()

    def kind(self, name: Any) -> Kind | None:
        """Return the kind of block that has a name, None if the format has none."""
        return self._kinds.get(name)
