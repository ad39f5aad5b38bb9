"""Text and HTML for people: tables, trees and pages of parts, and graphs of agents.

Nothing here prints. Tables, trees and verdicts read no content; a page does, and fetches what it
does not have only through a resolver that it is given.
"""

from messagebody.rendering.pages import page
from messagebody.rendering.tables import PLAIN, Palette, directory_of, folded, listing, tree
from messagebody.rendering.verdicts import explanation

__all__ = [
    "PLAIN",
    "Palette",
    "directory_of",
    "explanation",
    "folded",
    "listing",
    "page",
    "tree",
]
