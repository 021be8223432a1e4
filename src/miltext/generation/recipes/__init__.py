"""Recipes of calls for operations that the table does not describe well enough: by family, each in a module."""

from __future__ import annotations

from miltext.generation.recipes import (  # noqa: F401  # importing each enters its recipes
    compression,
    control,
    elementwise,
    images,
    joining,
    layers,
    lists,
    picking,
    products,
    reshaping,
    slicing,
)
from miltext.generation.recipes.table import RECIPES

__all__ = ["RECIPES"]
