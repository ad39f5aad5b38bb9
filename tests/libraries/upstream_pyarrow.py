"""pyarrow's own tests of filesystems, from its release, over the filesystem of a body."""

import inspect
from collections.abc import Callable
from typing import Any

import pytest
from pyarrow.fs import FSSpecHandler, PyFileSystem
from pyarrow.tests import test_fs as theirs
from pyarrow.tests.conftest import (  # noqa: F401 - fixtures of theirs
    builtin_pickle,
    cloudpickle,
    pickle_module,
)

from messagebody import MessageBody

# Their tests that a body's filesystem can't pass, and why.
DEVIATIONS = {
    "test_filesystem_pickling": "the copy of a filesystem is over a copy of its body",
    "test_get_file_info": "parts have no times; theirs excuses the filesystems it knows by name",
}

pickle_with_and_without_subtree_filesystem = theirs.pickle_with_and_without_subtree_filesystem


@pytest.fixture
def fs(request: pytest.FixtureRequest) -> PyFileSystem:
    if (name := request.node.originalname) in DEVIATIONS:
        request.applymarker(pytest.mark.xfail(reason=DEVIATIONS[name], strict=True))
    return PyFileSystem(FSSpecHandler(MessageBody().fs))


@pytest.fixture
def pathfn() -> Callable[[str], str]:
    return lambda path: path


@pytest.fixture
def allow_move_dir() -> bool:
    return True


@pytest.fixture
def allow_append_to_file() -> bool:
    return True


def _tests_of_any_filesystem() -> dict[str, Any]:
    found = {
        name: test
        for name, test in vars(theirs).items()
        if name.startswith("test_") and "fs" in inspect.signature(test).parameters
    }
    assert len(found) > 20, sorted(found)
    return found


globals().update(_tests_of_any_filesystem())
