"""Two agents: the output of one for the other's input, and every kind of exchange between them."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import attrs

from messagebody.agents._agents import Agent
from messagebody.agents._exchanges import KindAnswer, check_kinds
from messagebody.compatibility import Compatibility, Reason, check
from messagebody.errors import InvalidArgument
from messagebody.findings import Finding

_ALL_NAMES: Final = "/**"


@attrs.frozen(eq=False, repr=False)
class AgentCompatibility(Compatibility):
    """The answer to `check` of two agents; its verdict is that of the output for the input.

    Each kind of exchange has an answer of its own.

    Arguments:
        exchanges: the answer for each kind that one of both sends; none if one of them states no
            exchanges at all.
        findings: those of both agents, each with the name of its agent before its place: odd modes
            on cards, which may be the cause of the answer.
    """

    exchanges: Mapping[str, KindAnswer] = attrs.field(factory=dict, kw_only=True)
    findings: tuple[Finding, ...] = attrs.field(default=(), kw_only=True)

    def __str__(self) -> str:
        lines = (super().__str__(), *self.exchanges.values(), *self.findings)
        return "\n".join(map(str, lines))

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """The reasons for the verdict, each fact once.

        A mode of a card is an unnamed part and a named one; what is true of both is said of the
        unnamed one.
        """
        found = super().reasons
        said = {(each.code, self._mode_of(each)) for each in found if self._is_unnamed(each)}
        said = {(code, mode) for code, mode in said if mode is not None}
        return tuple(
            each
            for each in found
            if self._is_unnamed(each) or (each.code, self._mode_of(each)) not in said
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON, with the verdict of each kind of exchange."""
        found = {each.kind: each.verdict for each in self.exchanges.values()}
        return super().to_dict() | ({"exchanges": found} if found else {})

    def _is_unnamed(self, reason: Reason) -> bool:
        index = reason.producer_index
        return index is None or self.producer[index].name != _ALL_NAMES

    def _mode_of(self, reason: Reason) -> str | None:
        """Return the type of the producer's part that a reason is about, if it is a mode."""
        if reason.producer_index is None:
            return None
        part = self.producer[reason.producer_index]
        is_mode = part.name in {None, _ALL_NAMES} and not part.required
        return part.content_type if is_mode else None


def check_agents(client: Any, server: Any, **settings: Any) -> AgentCompatibility:
    """Decide whether an agent's output fits another's input, and each kind of exchange.

    Arguments:
        client: an agent.
        server: the agent that takes its output.
        settings: those of `check`.

    Raises:
        InvalidArgument: only one of them is an agent.
    """
    for each in (client, server):
        if not isinstance(each, Agent):
            raise InvalidArgument("two agents, or two schemas", each)
    answer = check(client.output, server.input, **settings)
    known = {key: settings[key] for key in ("lenient", "steps") if key in settings}
    exchanges = check_kinds(
        (client.name, client.exchanges), (server.name, server.exchanges), **known
    )
    return AgentCompatibility(
        answer.producer, answer.consumer, answer.verdict, answer.counterexample_types,
        answer.max_steps, decision=answer._decision, exchanges=exchanges,
        findings=(*_findings(client), *_findings(server)),
    )  # fmt: skip


def _findings(agent: Agent) -> Iterator[Finding]:
    for each in agent.findings:
        yield attrs.evolve(each, place=f"{agent.name}{each.where}")
