"""Compatibility of schemas: is every body of this one valid for that one? Exactly decided."""
