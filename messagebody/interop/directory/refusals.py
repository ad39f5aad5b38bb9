"""What stands between a directory and a body, as values."""

import attrs

from messagebody.text import quote

__all__ = ["Refusal"]


@attrs.frozen
class Refusal:
    """One file or part that can't be taken.

    Arguments:
        path: the file, relative to the directory, or the part's name.
        problem: why, in words.
        suggestion: a name that would do, if there is one.

    Examples:
        >>> str(Refusal("Q3 report.pdf", "no part name", "/Q3_report.pdf"))
        "'Q3 report.pdf': no part name; '/Q3_report.pdf' would be one"
    """

    path: str
    problem: str
    suggestion: str | None = None

    def __str__(self) -> str:
        text = f"{quote(self.path)}: {self.problem}"
        return f"{text}; {quote(self.suggestion)} would be one" if self.suggestion else text
