"""A difference of two pipelines, for tests of its forms."""

from __future__ import annotations

from pathlib import Path

from support.containers import write_package
from support.pipelines import binary, piped, unary

import miltext


def pipelines(folder: Path) -> miltext.Difference:
    """Two pipelines: a model is gone, one is another, and the description differs."""
    old = piped(unary("x", "a"), unary("a", "b"), binary("b", "x", "y"), names=("head", "middle", "tail"))
    new = piped(unary("x", "hidden"), binary("hidden", "x", "y"), names=("head", "tail"))
    new.description.metadata.author = "<b>@somebody</b> | `it`"
    paths = [
        write_package(folder / f"{name}.mlpackage", spec.SerializeToString())
        for name, spec in (("old", old), ("new", new))
    ]
    return miltext.diff(*paths)
