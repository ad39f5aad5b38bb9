"""Two agents: the output of one for the other's input, and every kind of exchange between them."""

from collections.abc import Mapping
from typing import Any

import attrs

from messagebody.agents._agents import Agent
from messagebody.agents._exchanges import KindAnswer, kinds_of
from messagebody.compatibility import Compatibility, check
from messagebody.errors import InvalidArgument


@attrs.frozen(eq=False, repr=False)
class AgentCompatibility(Compatibility):
    """The answer to `check` of two agents; its verdict is that of the output for the input.

    Each kind of exchange has an answer of its own.

    Arguments:
        exchanges: the answer for each kind that one of both sends; none if one of them states no
            exchanges at all.
    """

    exchanges: Mapping[str, KindAnswer] = attrs.field(factory=dict, kw_only=True)

    def __str__(self) -> str:
        return "\n".join([super().__str__(), *map(str, self.exchanges.values())])


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
    exchanges = kinds_of((client.name, client.exchanges), (server.name, server.exchanges), **known)
    return AgentCompatibility(
        answer.producer, answer.consumer, answer.verdict, answer.counterexample_types,
        answer.steps, answer._lenient, decision=answer._decision, exchanges=exchanges,
    )  # fmt: skip
