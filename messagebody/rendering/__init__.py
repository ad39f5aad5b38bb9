"""Values become text: trees, tables, HTML. Nothing here prints, and nothing reads content.

The functions take anything shaped like a body and its parts, so that this package stands beside
the model and not on top of it.
"""

from messagebody.rendering.html import html_table
from messagebody.rendering.tables import PLAIN, Palette, listing, tree

__all__ = ["PLAIN", "Palette", "html_table", "listing", "tree"]
