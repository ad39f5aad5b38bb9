"""Links between the parts of a body: found in texts and citations, checked, kept when parts move.

`body.links()` lists them, `body.move(…, relink=True)` and `body.mount(…)` keep them, and
`messagebody.findings.iter_findings` has checks of them.
"""

from typing import TYPE_CHECKING

from messagebody._base.faces import face

if TYPE_CHECKING:
    from messagebody.links._composition import mount, renamed
    from messagebody.links._destinations import TextRange
    from messagebody.links._findings import iter_findings
    from messagebody.links._links import Link, each_link, links_of
    from messagebody.links._targets import target_of

__all__ = [
    "Link",
    "TextRange",
    "each_link",
    "iter_findings",
    "links_of",
    "mount",
    "renamed",
    "target_of",
]

if not TYPE_CHECKING:  # for a type checker, a name is there only if it is listed above
    __getattr__, __dir__ = face(
        __name__,
        {
            "._composition": "mount renamed",
            "._destinations": "TextRange",
            "._findings": "iter_findings",
            "._links": "Link each_link links_of",
            "._targets": "target_of",
        },
    )
