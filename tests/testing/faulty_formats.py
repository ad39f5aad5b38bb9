"""Copies of an honest format with one fault each."""

import base64
import html
import itertools
import re
import unicodedata
from typing import Any, ClassVar
from urllib.parse import unquote

from messagebody import MessageBody
from messagebody._base.limits import DEFAULT_LIMITS
from messagebody.adapters import Converted, Loss
from messagebody.adapters.dialects import Call, Item, Reasoning, Result, Text
from tests.testing.notes import Notes

MESSAGES: list[Any] = [
    {"author": "human", "sent": "2026-11-25", "notes": [
        {"is": "text", "text": "Look.", "pinned": True},
        {"is": "picture", "of": "image/png", "at": "https://e.com/cat.png"},
        {"is": "file", "of": "text/csv", "name": "a.csv", "base64": "YSxiCg=="},
        {"is": "text", "text": "And?"}]},
    {"author": "agent", "id": "m2", "notes": [
        {"is": "thought", "text": "Hm.", "signature": "U2ln"},
        {"is": "text", "text": "One moment."},
        {"is": "call", "id": "c1", "tool": "weather", "with": {"city": "Brno"}},
        {"is": "call", "id": "c2", "tool": "weather", "with": {"city": "Oslo"}}]},
    {"author": "machine", "notes": [
        {"is": "result", "to": "c1", "notes": [{"is": "text", "text": "Sunny."}]},
        {"is": "result", "to": "c2", "took": 3, "notes": [{"is": "text", "text": "Rain."}]}]},
]  # fmt: skip


class DropsRole(Notes):
    def role_of(self, message: Any) -> str | None:
        return None


class WritesOneRole(Notes):
    def join(self, blocks: list[Any], form: Any, role: str) -> Any:
        return super().join(blocks, form, "human")


class SwapsCallAndResult(Notes):
    def from_bodies(self, bodies: Any, /, **options: Any) -> Converted[list[Any]]:
        made = super().from_bodies(bodies, **options)
        found = made.value
        for index, (one, two) in enumerate(itertools.pairwise(found)):
            if two["author"] == "machine":
                found[index : index + 2] = [two, one]
                break
        return made


class LosesTheSignature(Notes):
    def to_body(self, message: Any, /, **options: Any) -> Converted[MessageBody]:
        read = super().to_body(message, **options)
        for entry in (read.rest or {}).get("blocks") or []:
            entry.get("patch", {}).get("set", {}).pop("/signature", None)
        return read


class IgnoresRest(Notes):
    def from_body(self, body: MessageBody, /, *, rest: Any = None, **options: Any) -> Any:
        role = rest.get("role") if isinstance(rest, dict) else None
        return super().from_body(body, rest=None if role is None else {"role": role}, **options)


class GivesNoRest(Notes):
    def to_body(self, message: Any, /, **options: Any) -> Converted[MessageBody]:
        return Converted(*super().to_body(message, **options))


class WritesTheWrongId(Notes):
    def write_block(self, item: Item, blocks: list[Any]) -> Any | None:
        made = super().write_block(item, blocks)
        return {**made, "id": "call"} if isinstance(item, Call) and made else made


class ReadsTheWrongId(Notes):
    def read_block(self, block: Any) -> Item | None:
        found = super().read_block(block)
        if isinstance(found, Result):
            found.id = "call_1"
        return found


class LosesArguments(Notes):
    def write_block(self, item: Item, blocks: list[Any]) -> Any | None:
        made = super().write_block(item, blocks)
        return {**made, "with": {}} if isinstance(item, Call) and made else made


class ReordersParts(Notes):
    def to_body(self, message: Any, /, **options: Any) -> Converted[MessageBody]:
        read = super().to_body(message, **options)
        return Converted(MessageBody(reversed([*read.value])), read.losses, read.rest)


class ReordersBlocks(Notes):
    def from_body(self, body: MessageBody, /, **options: Any) -> Converted[Any]:
        made = super().from_body(body, **options)
        made.value["notes"].sort(key=lambda note: str(note.get("is")))
        return made


class LosesTheSecondText(Notes):
    def from_body(self, body: MessageBody, /, **options: Any) -> Converted[Any]:
        made, seen = super().from_body(body, **options), 0
        kept = []
        for note in made.value["notes"]:
            seen += note.get("is") == "text"
            if note.get("is") != "text" or seen == 1:
                kept.append(note)
        return Converted({**made.value, "notes": kept}, made.losses)


class JoinsTexts(Notes):
    def to_body(self, message: Any, /, **options: Any) -> Converted[MessageBody]:
        read = super().to_body(message, **options)
        texts = [part for part in read.value if part.name is None and part.text is not None]
        if len(texts) < 2:
            return read
        joined = texts[0].evolve(content="".join(str(part.text) for part in texts))
        others = [part for part in read.value if part not in texts]
        return Converted(MessageBody([joined, *others]), read.losses, read.rest)


class StripsTexts(Notes):
    def write_block(self, item: Item, blocks: list[Any]) -> Any | None:
        if isinstance(item, Text | Reasoning):
            item.text = " ".join(item.text.split())
        return super().write_block(item, blocks)


class SaysNoLoss(Notes):
    def from_body(self, body: MessageBody, /, **options: Any) -> Converted[Any]:
        return Converted(super().from_body(body, **options).value)


class SaysAFalseLoss(Notes):
    def from_body(self, body: MessageBody, /, **options: Any) -> Converted[Any]:
        made = super().from_body(body, **options)
        return Converted(made.value, (*made.losses, Loss("omitted", "part 0", "who knows")))


class SaysALossOfReading(Notes):
    def to_body(self, message: Any, /, **options: Any) -> Converted[MessageBody]:
        read = super().to_body(message, **options)
        return Converted(read.value, (*read.losses, Loss("omitted", "author", "no")), read.rest)


class ForgetsLimits(Notes):
    def to_body(self, message: Any, /, **options: Any) -> Converted[MessageBody]:
        return super().to_body(message, **{**options, "limits": DEFAULT_LIMITS})


class LosesTextInToBodies(Notes):
    def to_bodies(self, messages: Any, /, **options: Any) -> Converted[list[MessageBody]]:
        read = super().to_bodies(messages, **options)
        kept = [MessageBody(part for index, part in enumerate(body) if index < 1 or part.name)
                for body in read.value]  # fmt: skip
        return Converted(kept, read.losses, read.rest)


class LosesTextInFromBodies(Notes):
    def from_bodies(self, bodies: Any, /, **options: Any) -> Converted[list[Any]]:
        made = super().from_bodies(bodies, **options)
        return Converted(made.value[:-1], made.losses)


class ChangesTheBody(Notes):
    def from_body(self, body: MessageBody, /, **options: Any) -> Converted[Any]:
        made = super().from_body(body, **options)
        body.clear()
        return made


class ChangesTheMessage(Notes):
    def to_body(self, message: Any, /, **options: Any) -> Converted[MessageBody]:
        read = super().to_body(message, **options)
        if isinstance(message, dict):
            message["notes"] = []
        return read


class ChangesRest(Notes):
    def from_body(self, body: MessageBody, /, *, rest: Any = None, **options: Any) -> Any:
        made = super().from_body(body, rest=rest, **options)
        if isinstance(rest, dict):
            rest.clear()
        return made


class CountsItsMessages(Notes):
    counter = itertools.count()

    def join(self, blocks: list[Any], form: Any, role: str) -> Any:
        return {**super().join(blocks, form, role), "number": next(self.counter)}


class Crashes(Notes):
    def to_body(self, message: Any, /, **options: Any) -> Converted[MessageBody]:
        if isinstance(message, dict):
            message["notes"][:0] = []
        return super().to_body(message, **options)


class CrashesWithinABlock(Notes):
    def read_block(self, block: Any) -> Item | None:
        return Text(block["text"]) if block.get("is") == "text" else super().read_block(block)


class CrashesOnAStrangeRest(Notes):
    def from_body(self, body: MessageBody, /, *, rest: Any = None, **options: Any) -> Any:
        if rest is not None:
            rest.get("role")
        return super().from_body(body, rest=rest, **options)


class TellsOfAnything(Notes):
    def iter_findings(self, message: Any, /) -> Any:
        yield "it is wrong"


class FindsItsOwnWrong(Notes):
    def iter_findings(self, message: Any, /) -> Any:
        from messagebody.findings import Finding

        yield from super().iter_findings(message)
        yield Finding("never", "", "nothing is right")


class KnowsNothing(Notes):
    def detect(self, value: Any, /) -> bool:
        return False


class KnowsOnlyWhatIsOld(Notes):
    def detect(self, value: Any, /) -> bool:
        return super().detect(value) and "new_of_tomorrow" not in value


class ClaimsAll(Notes):
    def detect(self, value: Any, /) -> bool:
        return isinstance(value, dict | list)

    def evidence(self, value: Any) -> int:
        return 100 if self.detect(value) else 0


class ClaimsWhatHasARole(Notes):
    def detect(self, value: Any, /) -> bool:
        return super().detect(value) or (isinstance(value, dict) and "role" in value)

    def evidence(self, value: Any) -> int:
        return 10 if self.detect(value) else 0


class BringsBackWhatIsDeleted(Notes):
    def to_body(self, message: Any, /, **options: Any) -> Converted[MessageBody]:
        read = super().to_body(message, **options)
        notes = message["notes"] if isinstance(message, dict) else []
        return Converted(read.value, read.losses, {**read.rest, "all": notes})

    def from_body(self, body: MessageBody, /, *, rest: Any = None, **options: Any) -> Any:
        made = super().from_body(body, rest=rest, **options)
        if isinstance(rest, dict) and isinstance(rest.get("all"), list):
            made.value["notes"] = rest["all"]
        return made


class DropsWhatIsNew(Notes):
    def split(self, message: Any) -> tuple[list[Any], Any]:
        blocks, form = super().split(message)
        message.pop("new_of_tomorrow", None)
        return blocks, form


class TurnsSystemIntoUser(Notes):
    def join(self, blocks: list[Any], form: Any, role: str) -> Any:
        return super().join(blocks, form, "human" if role == "board" else role)


class TurnsToolIntoUser(Notes):
    def join(self, blocks: list[Any], form: Any, role: str) -> Any:
        is_result = any(note.get("is") == "result" for note in blocks)
        return super().join(blocks, form, role if is_result or role != "machine" else "human")


class ReadsSystemAsUser(Notes):
    def role_of(self, message: Any) -> str | None:
        found = super().role_of(message)
        return "user" if found == "system" else found


class RemembersTheId(Notes):
    """A message without an id gets that of the message before it."""

    before: Any = None

    def join(self, blocks: list[Any], form: Any, role: str) -> Any:
        return {**super().join(blocks, form, role), **({"id": self.before} if self.before else {})}

    def split(self, message: Any) -> tuple[list[Any], Any]:
        found = super().split(message)
        self.before = message.get("id") or self.before
        return found


class RemembersTheCall(Notes):
    """A call without an id gets the last one."""

    before: str | None = None

    def read_block(self, block: Any) -> Item | None:
        found = super().read_block(block)
        if isinstance(found, Call | Result):
            found.id = self.before = found.id or self.before
        return found


class ChangesTexts(Notes):
    """It changes what it has written, and says nothing."""

    members: ClassVar[tuple[str, ...]] = ("text",)

    @staticmethod
    def changed(text: str) -> str:
        return text

    def from_body(self, body: MessageBody, /, **options: Any) -> Converted[Any]:
        made = super().from_body(body, **options)
        return Converted(self._changed(made.value), made.losses)

    def _changed(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {
                key: self.changed(inner)
                if key in self.members and isinstance(inner, str)
                else self._changed(inner)
                for key, inner in value.items()
            }
        return [self._changed(each) for each in value] if isinstance(value, list) else value


def _changing(name: str, change: Any) -> type[ChangesTexts]:
    return type(name, (ChangesTexts,), {"changed": staticmethod(change)})


StripsEnds = _changing("StripsEnds", str.strip)
StripsTheBeginning = _changing("StripsTheBeginning", str.lstrip)
StripsLineEnds = _changing("StripsLineEnds", lambda text: text.rstrip("\n"))
Composes = _changing("Composes", lambda text: unicodedata.normalize("NFC", text))
Decomposes = _changing("Decomposes", lambda text: unicodedata.normalize("NFD", text))
Normalises = _changing("Normalises", lambda text: unicodedata.normalize("NFKC", text))
UnifiesLineEnds = _changing("UnifiesLineEnds", lambda text: text.replace("\r\n", "\n"))
ReadsLines = _changing("ReadsLines", lambda text: "\n".join(text.splitlines()))
CutsAt255 = _changing("CutsAt255", lambda text: text[:255])
CutsAt4096 = _changing("CutsAt4096", lambda text: text[:4096])
CutsAt65535 = _changing("CutsAt65535", lambda text: text[:65_535])
CutsBytes = _changing("CutsBytes", lambda text: text.encode()[: 2**18].decode(errors="ignore"))
DropsTheMark = _changing("DropsTheMark", lambda text: text.removeprefix("\ufeff"))
DropsNul = _changing("DropsNul", lambda text: text.partition("\x00")[0])
DropsControls = _changing("DropsControls", lambda text: re.sub(r"[\x00-\x08\x1b\x7f]", "", text))
UnescapesHtml = _changing("UnescapesHtml", html.unescape)
DecodesPercents = _changing("DecodesPercents", unquote)
ExpandsTabs = _changing("ExpandsTabs", str.expandtabs)
TakesNoBreakForSpace = _changing("TakesNoBreakForSpace", lambda text: text.replace("\xa0", " "))
KeepsTheBasicPlane = _changing(
    "KeepsTheBasicPlane", lambda text: "".join(each for each in text if each < "\U00010000")
)


class StripsArguments(ChangesTexts):
    members = ("for",)

    @staticmethod
    def changed(text: str) -> str:
        return text.strip()


class StripsFiles(ChangesTexts):
    members = ("base64",)

    @staticmethod
    def changed(text: str) -> str:
        return base64.b64encode(base64.b64decode(text).strip()).decode()


class StripsResults(Notes):
    def from_body(self, body: MessageBody, /, **options: Any) -> Converted[Any]:
        made = super().from_body(body, **options)
        for note in made.value["notes"]:
            for inner in note["notes"] if note["is"] == "result" else ():
                inner["text"] = inner["text"].strip()
        return made


class LosesTheThirdText(Notes):
    def from_body(self, body: MessageBody, /, **options: Any) -> Converted[Any]:
        made = super().from_body(body, **options)
        texts = [note for note in made.value["notes"] if note.get("is") == "text"]
        kept = [note for note in made.value["notes"] if not any(note is each for each in texts[2:])]
        return Converted({**made.value, "notes": kept}, made.losses)


class SaysNoIds(Notes):
    """An id that does not go out is a loss, which it does not list."""

    def write_block(self, item: Item, blocks: list[Any]) -> Any | None:
        made = super().write_block(item, blocks)
        return {**made, "id": None} if isinstance(item, Call) and made else made


class ClaimsEverything(Notes):
    def detect(self, value: Any, /) -> bool:
        return True


FAULTS: dict[str, tuple[type[Notes], ...]] = {
    "test_a_conversation_comes_back": (DropsRole, WritesOneRole, SwapsCallAndResult,
        WritesTheWrongId, ReadsTheWrongId, LosesArguments, LosesTextInToBodies,
        LosesTextInFromBodies, SaysNoIds),
    "test_its_messages_come_back": (LosesTheSignature, IgnoresRest, GivesNoRest, ChangesRest),
    "test_nothing_is_lost_in_silence": (ReordersParts, ReordersBlocks, LosesTheSecondText,
        JoinsTexts, SaysNoLoss),
    "test_no_loss_is_invented": (StripsTexts, SaysAFalseLoss, SaysALossOfReading),
    "test_limits_hold": (ForgetsLimits,),
    "test_it_is_always_the_same": (ChangesTheBody, ChangesTheMessage, CountsItsMessages),
    "test_anything_else_is_refused": (Crashes, CrashesWithinABlock, TellsOfAnything,
        ClaimsEverything),
    "test_a_wrong_rest_is_refused": (CrashesOnAStrangeRest,),
    "test_what_it_writes_is_valid": (FindsItsOwnWrong,),
    "test_it_knows_its_own": (KnowsNothing,),
    "test_what_is_new_comes_back": (KnowsOnlyWhatIsOld, DropsWhatIsNew),
    "test_it_is_told_from_other_formats": (ClaimsAll, ClaimsWhatHasARole),
    "test_what_is_edited_stays_edited": (BringsBackWhatIsDeleted,),
    "test_no_role_is_changed": (TurnsSystemIntoUser, TurnsToolIntoUser, ReadsSystemAsUser),
    "test_messages_are_apart": (RemembersTheId, RemembersTheCall),
    "test_texts_are_kept": (StripsEnds, StripsTheBeginning, StripsLineEnds, Composes, Decomposes,
        Normalises, UnifiesLineEnds, ReadsLines, CutsAt255, CutsAt4096, CutsAt65535, CutsBytes,
        DropsTheMark, DropsNul, DropsControls, UnescapesHtml, DecodesPercents, ExpandsTabs,
        TakesNoBreakForSpace, KeepsTheBasicPlane, StripsResults, StripsArguments, StripsFiles,
        LosesTheThirdText),
}  # fmt: skip
"""The faults that each test of the contract notices."""
