"""What the tests of the kits share."""

from collections.abc import Iterator

import pytest
from hypothesis import Phase, settings


@pytest.fixture
def few_examples() -> Iterator[None]:
    """Few random values, and the first failure is enough."""
    before = settings.get_current_profile_name()
    settings.register_profile(
        "few", settings(), max_examples=8, phases=(Phase.generate,), report_multiple_bugs=False
    )
    settings.load_profile("few")
    yield
    settings.load_profile(before)
