from pathlib import Path

import pytest

from messagebody import MessageBody


@pytest.fixture
def document(body: MessageBody, tmp_path: Path) -> Path:
    """A file that holds the body of the module."""
    path = tmp_path / "message.json"
    path.write_bytes(body.to_json_bytes())
    return path
