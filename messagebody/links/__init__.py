"""Links between the parts of a body: found in texts and citations, checked, kept when parts move.

`body.links()` lists them, `body.move(…, relink=True)` and `body.mount(…)` keep them, and
`messagebody.findings.iter_findings` has checks of them.
"""

from typing import TYPE_CHECKING

from messagebody._core import face

if TYPE_CHECKING:
    from messagebody._core import Link, Links, TextRange
    from messagebody.links._composition import unmount
    from messagebody.links._links import each_link, source_links
    from messagebody.links._targets import target_of

__all__ = ["Link", "Links", "TextRange", "each_link", "source_links", "target_of", "unmount"]

if not TYPE_CHECKING:  # for a type checker, a name is there only if it is listed above
    __getattr__, __dir__ = face(
        __name__,
        {
            "._composition": "unmount",
            ".._core": "Link Links TextRange",
            "._links": "each_link source_links",
            "._targets": "target_of",
        },
    )
