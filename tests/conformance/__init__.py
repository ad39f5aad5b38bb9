"""Servers of other protocols behind gates, under those protocols' own conformance kits."""
