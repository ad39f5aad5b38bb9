"""Writing: a body becomes a message in three steps.

`plan` says what each item of the body becomes, `blocks` writes that, and `check` reads it back to
say what was lost.
"""

from collections.abc import Sequence
from typing import Any

from messagebody._core import MessageBody, quote
from messagebody.adapters._contract import Converted, Loss, LossKind
from messagebody.adapters._conversion.blocks import BlockWriter, Written
from messagebody.adapters._conversion.check import MessageCheck
from messagebody.adapters._conversion.plan import KeptBlock, MessagePlan, PlanStep, plan_of
from messagebody.adapters._conversion.reading import item_of
from messagebody.adapters._conversion.references import WriteOptions
from messagebody.adapters._conversion.rest import is_placeholder, without_placeholders
from messagebody.adapters._vocabulary import differences
from messagebody.adapters._vocabulary.dialect import Dialect
from messagebody.adapters._vocabulary.items import Media, Text
from messagebody.adapters._vocabulary.part_names import BodyContents
from messagebody.errors import LossyConversion


def write(
    dialect: Dialect, body: MessageBody, rest: dict[str, Any], options: WriteOptions,
    contents: BodyContents, *, role: str | None = None, talk: str | None = None,
    in_talk: bool = False,
) -> tuple[Converted[Any], bool]:  # fmt: skip
    """Return the message of a body, and whether it says nothing.

    Arguments:
        dialect: the format.
        body: the body.
        rest: the rest of the message that it came from.
        options: how to write.
        contents: what the body holds.
        role: the role that the caller states.
        talk: the form of a message in a conversation.
        in_talk: whether the message is one of a conversation.

    Raises:
        EnvelopeError: `rest` is something else.
        LossyConversion: a part has no block, and the options make that an error.
    """
    plan = plan_of(dialect, body, rest, role, talk, contents)
    writer = BlockWriter(plan, options)
    check = MessageCheck(plan, is_carrying=options.carry)
    made = _checked(plan, writer, check)
    losses = [*made.losses, *check.losses_of_links()]
    blocks = [*_labels(plan, writer, made.blocks, losses), *made.blocks]
    message = dialect.join(blocks, plan.form, plan.role.word)
    if made.refused:
        raise LossyConversion(made.refused)
    if len(blocks) > 1:
        losses += check.losses_of_message(blocks, message)
    message = _with_original_members(plan, message)
    if not plan.is_own and not plan.steps and check.says_something(message):
        is_dropped = in_talk and dialect.answers_calls
        how = "none goes out" if is_dropped else "an empty text goes out"
        why = f"{dialect.name} has no message without content: {how}"
        losses.append(Loss(LossKind.CONVERTED, dialect.place, why))
    return Converted(message, losses), not made.blocks


def _with_original_members(plan: MessagePlan, message: Any) -> Any:
    """Return a message with what the one had that its body came from."""
    inner = [each for step in plan.steps if isinstance(step, PlanStep) for each in step.inner]
    kept = [each for each in (*plan.steps, *inner) if isinstance(each, KeptBlock)]
    if any(is_placeholder(each.block) for each in kept):
        message = without_placeholders(message)
    message = differences.apply(plan.frame, message)
    # A message that came without an id goes back without one.
    return message if plan.is_own else plan.dialect.complete(message)


def _checked(plan: MessagePlan, writer: BlockWriter, check: MessageCheck) -> Written:
    """Return the blocks of a plan, and what was lost on the way."""
    blocks: list[Any] = []
    losses, refused = [*plan.losses], list[Loss]()
    for step in plan.steps:
        if isinstance(step, KeptBlock):
            blocks.append(step.block)
        elif (source := check.named_before(step)) is not None:
            losses += check.compared(step.parts[0], source)
            # Readers of a format that lists its sources look for them there.
            if not plan.is_own and not writer.options.carry:
                blocks += filter(check.is_source, writer.written(step).blocks)
        else:
            made = writer.written(step)
            blocks += made.blocks
            refused += made.refused
            losses += (*step.losses, *made.losses, *check.losses_of_step(step, made))
    return Written(blocks, losses, refused)


def _labels(
    plan: MessagePlan, writer: BlockWriter, made: Sequence[Any], losses: list[Loss]
) -> list[Any]:
    """Return a text for files that the service takes only beside one, and add the loss."""
    is_free = plan.is_own or not plan.dialect.kinds_beside_text
    files = [] if is_free else _files_without_text(plan.dialect, made)
    if not files:
        return []
    said = ", ".join(item.name or item.kind for item in files)
    why = f"{plan.dialect.name} takes no {files[0].kind} without a text: {quote(said)} goes out"
    losses.append(Loss(LossKind.CONVERTED, plan.dialect.place, why))
    return writer.texts(f"{said}:")


def _files_without_text(dialect: Dialect, blocks: Sequence[Any]) -> list[Media]:
    """Return the files that the service takes only beside a text, if there is no text."""
    items = [item_of(dialect, block) for block in blocks]
    files = [
        item for item in items if isinstance(item, Media) and item.kind in dialect.kinds_beside_text
    ]
    return [] if any(isinstance(item, Text) for item in items) else files
