"""Text and HTML for people: tables and trees of parts, and graphs of agents.

Nothing here prints or reads content. The functions take anything shaped like a body and its
parts, so that this package does not depend on the model.
"""

from messagebody.rendering.html import html_table
from messagebody.rendering.tables import PLAIN, Palette, directory_of, folded, listing, tree
from messagebody.rendering.verdicts import explanation

__all__ = [
    "PLAIN",
    "Palette",
    "directory_of",
    "explanation",
    "folded",
    "html_table",
    "listing",
    "tree",
]
