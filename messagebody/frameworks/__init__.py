"""Adapters between bodies and other libraries: one module each, independent of the others."""
