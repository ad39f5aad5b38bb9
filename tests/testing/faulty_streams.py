"""Copies of an honest stream with one fault each."""

import unicodedata
from typing import Any

from messagebody.adapters.streams import OutOfPlace, Pieces, UnknownEvent, plain
from tests.testing.notes import NotesEvents

Event = dict[str, Any]

EVENTS: list[Event] = [
    {"event": "hello", "message": {"id": "m1"}},
    {"event": "note", "number": 0, "note": {"is": "thought", "signature": "U2ln"}},
    {"event": "more", "number": 0, "text": "Hm. "},
    {"event": "note", "number": 1, "note": {"is": "text"}},
    {"event": "more", "number": 1, "text": "It is "},
    {"event": "more", "number": 0, "text": " Well."},
    {"event": "more", "number": 1, "text": "sunny \U0001f600."},
    {"event": "note", "number": 2,
     "note": {"is": "call", "id": "c1", "tool": "weather", "with": {"city": "Brno"}}},
    {"event": "note", "number": 3, "note": {"is": "text"}},
    {"event": "more", "number": 3, "text": "\nMore."},
    {"event": "over", "words": 7},
]  # fmt: skip
MESSAGE: dict[str, Any] = {
    "author": "agent", "id": "m1", "words": 7, "notes": [
        {"is": "thought", "text": "Hm.  Well.", "signature": "U2ln"},
        {"is": "text", "text": "It is sunny \U0001f600."},
        {"is": "call", "id": "c1", "tool": "weather", "with": {"city": "Brno"}},
        {"is": "text", "text": "\nMore."}],
}  # fmt: skip


class LosesTheFirstPiece(NotesEvents):
    def grow(self, text: Pieces, more: Any) -> None:
        super().grow(text, more if text else "")
        if not text:
            text.append(" ")


class StripsPieces(NotesEvents):
    def grow(self, text: Pieces, more: Any) -> None:
        super().grow(text, more.strip() if isinstance(more, str) else more)


class BreaksLinesBetweenPieces(NotesEvents):
    def grow(self, text: Pieces, more: Any) -> None:
        super().grow(text, more + "\n" * (len(more) == 1) if isinstance(more, str) else more)


class GrowsTheLast(NotesEvents):
    def feed(self, event: Event) -> None:
        if event.get("event") == "more" and self._open:
            event = {**event, "number": max(self._open)}
        super().feed(event)


class LosesTheCall(NotesEvents):
    def message(self) -> Any:
        made = super().message()
        return {**made, "notes": [note for note in made["notes"] if note["is"] != "call"]}


class LosesTheUsage(NotesEvents):
    def message(self) -> Any:
        return {key: value for key, value in super().message().items() if key != "words"}


class ShowsThatMoreComes(NotesEvents):
    def message(self) -> Any:
        made = super().message()
        if not self.is_over:
            for note in made["notes"]:
                if "text" in note:
                    note["text"] += "..."
        return made


class ShowsOneNoteAtATime(NotesEvents):
    def message(self) -> Any:
        made = super().message()
        return made if self.is_over else {**made, "notes": made["notes"][-1:]}


class GivesOneMessageForAll(NotesEvents):
    def message(self) -> Any:
        held = vars(self).setdefault("held", {})
        held.clear()
        held.update(super().message())
        return held


class IsEmptiedByReading(NotesEvents):
    def message(self) -> Any:
        made = super().message()
        for text in self._open.values():
            text._pieces = []
        return made


class SharesItsNotes(NotesEvents):
    notes: list[Any] = []  # noqa: RUF012 - that is the fault

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._notes = self.notes


class ChangesEvents(NotesEvents):
    def feed(self, event: Event) -> None:
        super().feed(event)
        event.pop("number", None)


class NeverEnds(NotesEvents):
    def end(self) -> None:
        """Do nothing: that is the fault."""


class EndsTooEarly(NotesEvents):
    def feed(self, event: Event) -> None:
        super().feed(event)
        self.is_over = len(self._notes) > 2


class IsNeverCut(NotesEvents):
    def is_cut(self) -> bool:
        return False


class IsAlwaysCut(NotesEvents):
    def is_cut(self) -> bool:
        return True


class RefusesWhatIsUnknown(NotesEvents):
    def feed(self, event: Event) -> None:
        try:
            super().feed(event)
        except UnknownEvent:
            raise OutOfPlace("who knows") from None


class SwallowsWhatIsUnknown(NotesEvents):
    def feed(self, event: Event) -> None:
        try:
            super().feed(event)
        except UnknownEvent:
            return


class KeepsWhatIsUnknown(NotesEvents):
    def feed(self, event: Event) -> None:
        try:
            super().feed(event)
        except UnknownEvent:
            self._message["unknown"] = True
            raise


class GoesOnAfterTheEnd(NotesEvents):
    def may_follow(self, event: Event) -> bool:
        return True


class CrashesWithoutANumber(NotesEvents):
    def feed(self, event: Event) -> None:
        if event.get("event") == "more":
            self._open[event["number"]]
        super().feed(event)


class ChangesBeforeItRefuses(NotesEvents):
    def feed(self, event: Event) -> None:
        if event.get("event") == "over":
            self._message["words"] = event.get("words")
        super().feed(event)


class ForgetsLimits(NotesEvents):
    def grow(self, text: Pieces, more: Any) -> None:
        if not isinstance(more, str):
            raise OutOfPlace("it is no text")
        text.append(more)

    def begin(self, blocks: list[Any], block: Any) -> None:
        blocks.append(block)


class ShowsPieces(NotesEvents):
    """A text is what its service sent, and not a list of it."""

    def message(self) -> Any:
        return {**super().message(), "notes": [plain({**note, "of": len(str(note))})
                                               for note in self._notes]}  # fmt: skip


class LosesTheThirdText(NotesEvents):
    def message(self) -> Any:
        made = super().message()
        texts = [note for note in made["notes"] if note["is"] == "text"]
        return {**made, "notes": [note for note in made["notes"]
                                  if not any(note is each for each in texts[2:])]}  # fmt: skip


class LosesTheFifthText(NotesEvents):
    def message(self) -> Any:
        made = super().message()
        return {**made, "notes": made["notes"][:4]}


class Changes(NotesEvents):
    """It changes pieces."""

    @staticmethod
    def changed(text: str) -> str:
        return text

    def grow(self, text: Pieces, more: Any) -> None:
        super().grow(text, self.changed(more) if isinstance(more, str) else more)


def _changing(name: str, change: Any) -> type[Changes]:
    return type(name, (Changes,), {"changed": staticmethod(change)})


DropsNul = _changing("DropsNul", lambda text: text.replace("\x00", ""))
DropsTheMark = _changing("DropsTheMark", lambda text: text.replace("\ufeff", ""))
DropsReturns = _changing("DropsReturns", lambda text: text.replace("\r", ""))
UnifiesLineEnds = _changing("UnifiesLineEnds", lambda text: text.replace("\r\n", "\n"))
ComposesPieces = _changing("ComposesPieces", lambda text: unicodedata.normalize("NFC", text))
CutsPieces = _changing("CutsPieces", lambda text: text[:65_536])
SkipsBlankPieces = _changing("SkipsBlankPieces", lambda text: text if text.strip() else "")


class StripsTheBeginning(NotesEvents):
    """The first piece of a text begins with a letter."""

    def grow(self, text: Pieces, more: Any) -> None:
        super().grow(text, more.lstrip(" ") if isinstance(more, str) and not text else more)


class StripsTexts(NotesEvents):
    def message(self) -> Any:
        made = super().message()
        notes = [{**note, "text": note["text"].strip("\n\t ")} if note["is"] == "text" else note
                 for note in made["notes"]]  # fmt: skip
        return {**made, "notes": notes}


class SkipsRepeatedPieces(NotesEvents):
    """It takes a piece that is equal to the one before for a retry."""

    last: Any = None

    def grow(self, text: Pieces, more: Any) -> None:
        super().grow(text, "" if more == self.last else more)
        self.last = more


class RefusesNewMembers(NotesEvents):
    def feed(self, event: Event) -> None:
        if event.keys() - {"event", "message", "number", "note", "text", "words"}:
            raise OutOfPlace("it has more members")
        super().feed(event)


class RefusesNewMembersInside(NotesEvents):
    def feed(self, event: Event) -> None:
        if "new_of_tomorrow" in (event.get("note") or {}):
            raise OutOfPlace("its note has more members")
        super().feed(event)


class TakesWhatIsNewForUnknown(NotesEvents):
    def feed(self, event: Event) -> None:
        if "new_of_tomorrow" in event:
            raise UnknownEvent
        super().feed(event)


class EndsAtNothing(NotesEvents):
    """An empty piece is the end of a note."""

    def feed(self, event: Event) -> None:
        super().feed(event)
        if event.get("event") == "more" and event.get("text") == "":
            self._open.pop(event["number"], None)


class EndsTheStreamAtNothing(NotesEvents):
    def feed(self, event: Event) -> None:
        if self.is_over:
            return
        super().feed(event)
        if event.get("text") == "":
            self.end()


FAULTS: dict[str, tuple[type[NotesEvents], ...]] = {
    "test_a_stream_makes_its_message": (LosesTheFirstPiece, StripsPieces, GrowsTheLast,
        LosesTheCall, LosesTheUsage, ShowsPieces),
    "test_pieces_may_be_cut_anywhere": (BreaksLinesBetweenPieces, SkipsRepeatedPieces,
        EndsAtNothing),
    "test_each_beginning_is_a_message": (ShowsThatMoreComes, ShowsOneNoteAtATime),
    "test_an_earlier_message_stays": (GivesOneMessageForAll, IsEmptiedByReading),
    "test_a_cut_stream_says_so": (NeverEnds, EndsTooEarly, IsNeverCut, IsAlwaysCut),
    "test_an_unknown_event_stays_aside": (RefusesWhatIsUnknown, SwallowsWhatIsUnknown,
        KeepsWhatIsUnknown),
    "test_nothing_comes_after_the_end": (GoesOnAfterTheEnd,),
    "test_a_damaged_event_is_refused": (CrashesWithoutANumber, ChangesBeforeItRefuses),
    "test_limits_hold": (ForgetsLimits,),
    "test_texts_are_kept": (LosesTheThirdText, LosesTheFifthText, DropsNul, DropsTheMark,
        DropsReturns, UnifiesLineEnds, ComposesPieces, CutsPieces, SkipsBlankPieces,
        StripsTheBeginning, StripsTexts, EndsTheStreamAtNothing),
    "test_new_members_are_taken": (RefusesNewMembers, RefusesNewMembersInside,
        TakesWhatIsNewForUnknown),
    "test_two_streams_are_apart": (SharesItsNotes,),
    "test_events_are_left_alone": (ChangesEvents,),
}  # fmt: skip
"""The faults that each test of the contract notices."""
