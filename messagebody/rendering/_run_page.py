"""The page of a run: its messages one below the other, and each call beside its result."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, Final

import attrs

import messagebody  # noqa: TC001 - annotations are evaluated by those who ask
from messagebody._core import MessageBody, count_of, guided, redact_urls, require_resolver
from messagebody.adapters import ChatMessage, Loss, Step, Transcript, read_transcript
from messagebody.rendering._contents import Contents
from messagebody.rendering._elements import Html, element, joined
from messagebody.rendering._limits import MOST, PARTS, ROWS, PageLimits, more_with
from messagebody.rendering._pages import Drawn, document, style_of
from messagebody.rendering._pieces import badge, short
from messagebody.rendering._said import ROLES, Said, anchor_of, marks_of, message_link, tool_line
from messagebody.rendering._tables import kind_of, preview, total_size

Place = tuple[int, int]
"""The position of a message in its run, and of a step in its message."""

_MODELS: Final = ("model", "model_name", "model_id", "modelId")
_MOST_LOSSES: Final = 20
"""Losses that are listed at one place."""


@guided
def run_page(
    run: "messagebody.MessageBody | Any",
    format: str | None = None,  # noqa: A002 - what users call it
    *,
    resolver: "messagebody.Resolver | None" = None,
    title: str = "Run",
    most: int | str = MOST,
    rows: int = ROWS,
    parts: int = PARTS,
) -> str:
    """Return the run of an agent as an HTML page: who said what, and what each tool answered.

    Messages of any format are shown, and bodies. A result stands beside its call. If a file comes
    again under its name, the page shows what changed. What an assistant says is laid out as
    Markdown if the extra `view` is installed. Like `page`, the page has no script and sends no
    requests.

    Arguments:
        run: what `adapters.read_transcript` takes: the JSON of a conversation, its messages, or
            bodies.
        format: the format of the messages; None if it is to be detected.
        resolver: reads references; None shows them as links and fetches nothing.
        title: the title of the page.
        most: the most bytes of a part to show, as in `page`.
        rows: the most rows of a table.
        parts: the most texts, files, calls and results to show, and the most messages.

    Raises:
        EnvelopeError: the messages have no format that is known.
        DecodeError: they are no JSON.
        MissingDependency: a part states that it is Markdown or HTML, and the extra `view` is not
            installed.
        InvalidArgument: an argument is of another type, or a number is less than 1.
        InvalidSize: `most` is not a size.

    Examples:
        >>> text = run_page([{"role": "user", "content": "Who are you?"}])
        >>> "1 message" in text, "Who are you?" in text
        (True, True)
    """
    limits = PageLimits(most, rows, parts)
    transcript = read_transcript(run, format)
    return draw_run(transcript, resolver=resolver, title=title, limits=limits).html


def draw_run(
    transcript: Transcript,
    *,
    resolver: "messagebody.Resolver | None",
    title: str,
    limits: PageLimits,
) -> Drawn:
    """Return the page of a run and what it could not show; see `run_page` for the arguments."""
    contents = Contents(MessageBody(), require_resolver(resolver), limits)
    run = _Sections.from_transcript(transcript, contents)
    shown = [*run.sections()]  # what is said in the heading and in the list follows from them
    told = element("p", *run.facts(), class_="facts")
    html = document(
        title,
        element("header", element("h1", title), told),
        element("div", run.listed(), element("main", *shown), class_="columns run"),
        style=style_of("run.css"),
    )
    problems = ((i, each.problem) for i, each in enumerate(transcript.messages))
    wrong = [f"message {number}: {problem}" for number, problem in problems if problem]
    return Drawn(html, [*wrong, *contents.unread])


@attrs.define
class _Sections:
    """Makes the sections of a page.

    Arguments:
        transcript: the messages.
        steps: the steps of each message that are shown.
        hidden: how many steps of each message are not shown.
        answers: the place of the result of each call.
        asked: the place of the call of each result.
        said: makes what the steps say.
    """

    transcript: Transcript
    steps: list[list[Step]]
    hidden: list[int]
    answers: dict[Place, Place]
    asked: dict[Place, Place]
    said: Said

    @classmethod
    def from_transcript(cls, transcript: Transcript, contents: Contents) -> "_Sections":
        steps, hidden = [], []
        left = contents.limits.parts
        for message in transcript.messages[:left]:
            found = message.steps if message.problem is None else [*map(_redacted, message.steps)]
            steps.append(found[:left])
            hidden.append(len(found) - len(steps[-1]))
            left -= len(steps[-1])
        answers = transcript.answers()
        return cls(
            transcript, steps, hidden, answers, {v: k for k, v in answers.items()}, Said(contents)
        )

    @property
    def _calls(self) -> list[Place]:
        return [
            (number, position)
            for number, steps in enumerate(self.steps)
            for position, step in enumerate(steps)
            if step.kind == "call"
        ]

    # Heading and list

    def facts(self) -> Iterator[Html]:
        """Yield what the heading says of the run."""
        messages = self.transcript.messages
        if self.transcript.format is not None:
            yield element("span", self.transcript.format)
        model = _model_in(self.transcript.about)
        if model is not None:
            yield element("span", short(model))
        # A source that is only cited has no size here.
        bodies = (message.body for message in messages)
        parts = [part for body in bodies for part in body if part.size is not None]
        yield element("span", count_of(len(messages), "message"))
        yield element("span", total_size(parts))
        calls = self._calls
        if calls:
            yield element("span", count_of(len(calls), "call"))
        shown = range(len(self.steps))
        wrong = {
            ("call", "without an answer"): [place[0] for place in calls if self._waits(place)],
            ("message", "not readable"): [i for i, each in enumerate(messages) if each.problem],
            ("message", "cut short or failed"): [*filter(self._ending, shown)],
        }
        for (noun, words), numbers in wrong.items():
            if numbers:
                said = f"{count_of(len(numbers), noun)} {words}"
                yield badge(said, "bad", href=f"#{anchor_of(numbers[0])}")
        lossy = [i for i, message in enumerate(messages) if message.losses]
        count = len(self.transcript.losses) + sum(len(messages[i].losses) for i in lossy)
        if count:
            first = "losses" if self.transcript.losses else anchor_of(lossy[0])
            yield badge(f"{count:,} lost in reading", href=f"#{first}")
        if self.said.is_unformatted:
            words = "Markdown as text: pip install 'messagebody[view]' lays it out"
            yield element("span", words)

    def listed(self) -> Html:
        """Return the list at the side, which folds."""
        if len(self.steps) < 3:
            return Html()
        rows = [element("li", self._entry(number)) for number in range(len(self.steps))]
        summary = element("summary", count_of(len(rows), "message"))
        listed = element("details", summary, element("ol", *rows), open=True)
        return element("nav", listed, aria_label="Messages")

    def _entry(self, number: int) -> Html:
        message = self.transcript.messages[number]
        steps = self.steps[number]
        role = _role_of(message, steps)
        words = self._words(number)
        wrong = "not readable" if message.problem else self._wrong(number)
        marks = [element("span", "✗", class_="wrong", title=wrong)] if wrong else []
        if number in self.said.news:
            marks.append(element("span", "≠", class_="mark", title="a file changed"))
        return element("a", element("i", class_=f"dot {role}"), element("bdi", words), *marks,
                       href=f"#{anchor_of(number)}", title=f"{number}: {role}")  # fmt: skip

    def _ending(self, number: int) -> str:
        """Return how a message ended, if otherwise than usual; what it refuses counts as such."""
        ending = self.transcript.messages[number].ending
        is_refusal = any(step.kind == "refusal" for step in self.steps[number])
        return short(ending) if ending is not None else "refuses" if is_refusal else ""

    def _wrong(self, number: int) -> str:
        """Return what is wrong with a message, its calls and their results, or nothing."""
        steps = self.steps[number]
        if ending := self._ending(number):
            return ending
        calls = [(number, i) for i, step in enumerate(steps) if step.kind == "call"]
        if any(map(self._waits, calls)):
            return "no answer"
        answers = [self.answers[call] for call in calls if call in self.answers]
        told = [self.steps[a[0]][a[1]] for a in answers if self._is_shown(a)]
        is_wrong = any(step.is_error or step.ending for step in [*steps, *told])
        return "an error" if is_wrong else ""

    def _waits(self, call: Place) -> bool:
        """Return whether a call has no answer, and somebody else than the provider owes it."""
        return call not in self.answers and not self.steps[call[0]][call[1]].is_providers

    def _words(self, number: int) -> str:
        """Return the words that tell a message from others."""
        steps = self.steps[number]
        for step in steps:
            if step.kind == "content" and step.parts[0].name is None and step.parts[0].text:
                words = preview(step.parts[0], 60).strip('"')
                # The marks of Markdown tell nothing.
                return words.replace("**", "").lstrip("#>* ") or words
        tools = [self._tool((number, i)) for i in range(len(steps))]
        names = [part.name or part.content_type for step in steps for part in step.parts]
        told = [name for name in tools if name] or names
        return short(self.transcript.messages[number].name or ", ".join(told[:3]) or "empty")

    def _tool(self, place: Place) -> str | None:
        """Return the tool of a call or result; some formats name it only in the call."""
        step = self.steps[place[0]][place[1]]
        asked = self.asked.get(place)
        return step.name if asked is None else self.steps[asked[0]][asked[1]].name

    def _is_shown(self, place: Place) -> bool:
        number, position = place
        return number < len(self.steps) and position < len(self.steps[number])

    # Messages

    def sections(self) -> Iterator[Html]:
        """Yield the losses of the whole, and the messages in order."""
        yield from _losses(self.transcript.losses, id_="losses")
        yield self.said.details(self.transcript.about)
        yield from map(self._message, range(len(self.steps)))
        left = len(self.transcript.messages) - len(self.steps)
        if left:
            words = f"{count_of(left, 'more message')} ({more_with('parts')})"
            yield element("p", words, class_="note")
        if not self.steps:
            yield element("p", "This run has no messages.", class_="note")

    def _message(self, number: int) -> Html:
        message, steps = self.transcript.messages[number], self.steps[number]
        role = _role_of(message, steps)
        why = f"not readable: {message.problem}"
        problem = [element("p", why, class_="problem")] if message.problem else []
        self.said.enter(number, message.body, steps)
        places = enumerate(steps)
        content = [
            each
            for kind, group in groupby(places, lambda place: _group(place[1]))
            for each in self._steps(number, role, kind, [*group])
        ]
        if self.hidden[number]:
            words = f"{count_of(self.hidden[number], 'more part')} ({more_with('parts')})"
            content.append(element("p", words, class_="note"))
        elif not steps:
            content.append(element("p", "an empty message", class_="note"))
        return element(
            "article", self._heading(number, message, role), *problem,
            *_losses(message.losses), *content, self.said.grounds(message.about),
            self.said.details(_about(message, steps)),
            id=anchor_of(number), class_=f"message {role}",
        )  # fmt: skip

    def _steps(
        self, number: int, role: str, kind: str, places: list[tuple[int, Step]]
    ) -> Iterator[Html]:  # fmt: skip
        """Yield what neighbours of one kind say."""
        if kind == "picture":
            yield self.said.pictures(number, [step.parts[0] for _, step in places])
            return
        for position, step in places:
            here = number, position
            if step.kind == "call":
                yield self._call(here, step)
            elif step.kind == "result" and here in self.asked:
                # One that is in the message of its call stands just above.
                if role != "tool" and self.asked[here][0] != number:
                    yield element("p", self._answers(self.asked[here]), class_="note")
            elif step.kind == "result":
                head = tool_line(step.name or "result", badge("no call", ""), *marks_of(step))
                yield element("div", head, *self.said.result(number, step), class_="alone")
            else:
                yield self.said.step(number, role, step)

    def _heading(self, number: int, message: ChatMessage, role: str) -> Html:
        anchor = anchor_of(number)
        word = short(message.role) if role == "message" and message.role else role
        said = [element("a", word, href=f"#{anchor}", class_="role")]
        if message.name:
            said.append(element("bdi", short(message.name)))
        model = _model_in(message.about)
        if model:
            said.append(element("small", short(model)))
        if message.ending is not None:
            said.append(badge(short(message.ending), "bad"))
        if role == "tool":
            places = [(number, position) for position in range(len(self.steps[number]))]
            said += [self._answers(self.asked[place]) for place in places if place in self.asked]
        said.append(element("small", f"{number}"))
        return element("h2", *said, class_="speaker")

    def _answers(self, call: Place) -> Html:
        """Return what stands in the place of a result that is beside its call."""
        name = self.steps[call[0]][call[1]].name or "a call"
        where = message_link(call[0])
        return element("span", "answers ", element("code", short(name)), " in ", where)

    def _call(self, place: Place, call: Step) -> Html:
        head = tool_line(call.name or "tool", *marks_of(call))
        asked = element("div", head, *self.said.arguments(call))
        answered = element("div", self._answer(place), class_="answer")
        anchor = self.said.anchor(place[0], call.parts[0]) if call.parts else None
        return element("div", asked, answered, id=anchor, class_="call")

    def _answer(self, call: Place) -> Html:
        answer = self.answers.get(call)
        if answer is None:
            waits = self._waits(call)
            words = "no answer" if waits else "not told by the provider, which ran the tool"
            return tool_line("result", badge(words, "bad" if waits else ""))
        if not self._is_shown(answer):
            return tool_line("result", badge("the answer is not on this page"))
        result = self.steps[answer[0]][answer[1]]
        number = answer[0]
        self.said.enter(number, self.transcript.messages[number].body, self.steps[number])
        where = [element("small", message_link(answer[0]))] if answer[0] != call[0] else []
        head = tool_line("result", *marks_of(result), *where)
        return joined(head, *self.said.result(answer[0], result))


def _role_of(message: ChatMessage, steps: Sequence[Step]) -> str:
    # Some formats say results in messages of the user.
    if steps and all(step.kind == "result" for step in steps):
        return "tool"
    if message.role is None and any(step.kind in ("call", "thought") for step in steps):
        return "assistant"
    return message.role if message.role in ROLES else "message"


def _about(message: ChatMessage, steps: Sequence[Step]) -> dict[str, Any]:
    """Return what a message and its blocks state beside the content."""
    told = {step.parts[0].name or f"{step.kind} {i}": step.about for i, step in enumerate(steps)}
    return {**message.about, **{name: about for name, about in told.items() if about}}


def _redacted(step: Step) -> Step:
    """Return a step of a message that could not be read, without secrets from URLs in its JSON."""
    parts = (
        part.evolve(content=redact_urls(part.text)) if part.text else part for part in step.parts
    )
    return attrs.evolve(step, parts=tuple(parts))


def _model_in(about: Any) -> str | None:
    """Return the name of the model, which formats state at different places."""
    if not isinstance(about, dict):
        return None
    found = next((about[name] for name in _MODELS if isinstance(about.get(name), str)), None)
    return found or _model_in(about.get("response_metadata"))


def _group(step: Step) -> str:
    """Return "picture" for a step that may stand beside others like it."""
    is_picture = step.kind == "content" and kind_of(step.parts[0]) == "image"
    return "picture" if is_picture and step.parts[0].name is None else "other"


def _losses(losses: Sequence[Loss], id_: str | None = None) -> Iterator[Html]:
    if losses:
        rows = [element("li", str(loss)) for loss in losses[:_MOST_LOSSES]]
        if len(losses) > len(rows):
            rows.append(element("li", f"{len(losses) - len(rows):,} more"))
        title = f"{len(losses):,} lost in reading"
        yield element("details", element("summary", title), element("ul", *rows),
                      id=id_, class_="fold lost", open=True)  # fmt: skip
