import re

import pytest

_LONG = re.compile(r"TestCopy|TestGet|TestPut")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave the long tail of fsspec's exam, taken over HTTP, to the slow run."""
    for item in items:
        if "test_s3_abstract" in item.nodeid and _LONG.search(item.nodeid):
            item.add_marker(pytest.mark.slow)
