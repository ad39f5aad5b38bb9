import pytest

from tests.s3_fixtures import *  # noqa: F403


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave the long tail of fsspec's exam, 90 tests over HTTP, to the slow run."""
    for item in items:
        if "glob_edge_cases" in item.name and "s3_abstract" in str(item.path):
            item.add_marker(pytest.mark.slow)
