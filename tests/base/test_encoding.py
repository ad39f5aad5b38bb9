"""Long text as UTF-8, while it is read."""

import io
import os

import pytest

from messagebody import Part

TEXTS = ["x" * 1_200_000, "ü☃" * 600_000, "a" * 65_535 + "𝄞" + "é" * 1_000_001, "\n" * 1_048_577]


@pytest.mark.parametrize("text", TEXTS, ids=["ascii", "wide", "at a border", "lines"])
def test_it_is_the_encoded_text_at_each_position(text: str) -> None:
    data = text.encode()
    with Part(text).open() as file:
        assert file.seek(0, os.SEEK_END) == len(data)
        assert file.read(1) == b""
        for start in (0, len(data) - 3, 65_533, 65_536, 7, len(data) + 10, 131_071):
            assert file.seek(start) == file.tell() == start
            assert file.read(100) == data[start : start + 100]
        file.seek(0)
        assert file.read() == data
        file.seek(-2, os.SEEK_CUR)
        assert file.read() == data[-2:]
        with pytest.raises(ValueError, match="before the start"):
            file.seek(-1)
        assert io.TextIOWrapper(file, "utf-8", newline="").read() == ""
