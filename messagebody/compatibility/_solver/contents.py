"""Contents in a decision: whether a content schema could decide, which names and types can't."""

from messagebody.compatibility._solver.profile import Profile

KEYWORD = "contentSchema"


def has_contents(profile: Profile) -> bool:
    """Return whether a part of a schema says what is inside."""
    return any(part.content_schema is not None for part in profile.parts)
