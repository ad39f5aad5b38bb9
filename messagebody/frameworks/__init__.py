"""Adapters between bodies and other libraries: one module each, independent of the others."""

from typing import TYPE_CHECKING

from messagebody._core import face

if not TYPE_CHECKING:  # a type checker must only see the modules
    __getattr__, _ = face(__name__)
