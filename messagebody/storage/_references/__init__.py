"""Reading of references: URL grammar, allow lists, connections and limits.

No other package of the toolkit opens the URL of a part.
"""
