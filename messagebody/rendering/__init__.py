"""Text and HTML for people: tables, trees and pages of parts, pages of runs, graphs of agents.

Nothing here prints. Tables, trees and verdicts read no content. A page does, and it reads
references only through a resolver that the caller gives.
"""

from typing import TYPE_CHECKING

from messagebody._core import face

if TYPE_CHECKING:
    from messagebody.rendering._changes import compared, paired, told_changes
    from messagebody.rendering._graph_page import PairList, Panel, graph_page
    from messagebody.rendering._limits import PageLimits
    from messagebody.rendering._pages import Drawn, draw, page
    from messagebody.rendering._registry_page import registry_page
    from messagebody.rendering._run_page import draw_run, run_page
    from messagebody.rendering._tables import (
        PLAIN,
        Palette,
        cut,
        directory_of,
        folded,
        listing,
        tree,
    )
    from messagebody.rendering._verdicts import REASONS, explanation

__all__ = [
    "PLAIN",
    "REASONS",
    "Drawn",
    "PageLimits",
    "PairList",
    "Palette",
    "Panel",
    "compared",
    "cut",
    "directory_of",
    "draw",
    "draw_run",
    "explanation",
    "folded",
    "graph_page",
    "listing",
    "page",
    "paired",
    "registry_page",
    "run_page",
    "told_changes",
    "tree",
]

if not TYPE_CHECKING:  # a type checker must only see the names above
    # A terminal needs no pages, and only a run needs the formats of messages.
    __getattr__, __dir__ = face(
        __name__,
        {
            "._changes": "compared paired told_changes",
            "._graph_page": "PairList Panel graph_page",
            "._limits": "PageLimits",
            "._pages": "Drawn draw page",
            "._registry_page": "registry_page",
            "._run_page": "draw_run run_page",
            "._tables": "PLAIN Palette cut directory_of folded listing tree",
            "._verdicts": "REASONS explanation",
        },
    )
