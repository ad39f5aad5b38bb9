"""The format, the stream and the store of the pages pass the contracts that the pages name."""

import inspect
import re
from pathlib import Path
from typing import Any

import pytest

from messagebody.testing import AdapterContract, StoreContract, StreamContract
from tests.testing.test_faults import run

pytestmark = pytest.mark.usefixtures("few_examples")

PAGES = Path(__file__).parents[2] / "docs/how-to"
CONTRACTS = (AdapterContract, StreamContract, StoreContract)


def contracts_of(page: str) -> list[type[Any]]:
    """Return the contracts that a page inherits, made by its blocks of code."""
    text = (PAGES / page).read_text(encoding="utf-8")
    text = re.sub(r"<!-- skip: next .*?-->\s*```python\n.*?```", "", text, flags=re.DOTALL)
    names: dict[str, Any] = {"__name__": "page"}
    for block in re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        exec(block, names)
    return [each for each in names.values() if isinstance(each, type)
            and issubclass(each, CONTRACTS) and each not in CONTRACTS]  # fmt: skip


FOUND = [each for page in ("write-a-format.md", "write-a-store.md") for each in contracts_of(page)]
TESTS = [
    pytest.param(contract, name, id=f"{contract.__name__}-{name}")
    for contract in FOUND
    for name, _ in inspect.getmembers(contract, inspect.isfunction)
    if name.startswith("test_")
]


def test_each_kit_is_shown() -> None:
    assert [contract.__base__ for contract in FOUND] == [*CONTRACTS]


@pytest.mark.parametrize(("contract", "name"), TESTS)
def test_the_example_passes(contract: type[Any], name: str) -> None:
    run(contract(), name)
