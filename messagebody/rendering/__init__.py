"""Text and HTML for people: tables, trees and pages of parts, and graphs of agents.

Nothing here prints. Tables, trees and verdicts read no content. A page does, and it reads
references only through a resolver that the caller gives.
"""

from messagebody.rendering._graph_page import graph_page
from messagebody.rendering._pages import page
from messagebody.rendering._tables import PLAIN, Palette, directory_of, folded, listing, tree
from messagebody.rendering._verdicts import explanation

__all__ = [
    "PLAIN",
    "Palette",
    "directory_of",
    "explanation",
    "folded",
    "graph_page",
    "listing",
    "page",
    "tree",
]
