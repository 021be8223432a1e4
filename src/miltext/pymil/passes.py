"""The passes of coremltools' converter."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

from miltext.pymil.installed import require_coremltools


def default_passes() -> list[str]:
    """Return the names of the default passes, in order. Raise ModelError (MIL480) without coremltools."""
    return list(require_coremltools().PassPipeline.DEFAULT.passes)


def known_passes() -> Collection[str]:
    """Return the names of all passes. Raise ModelError (MIL480) without coremltools."""
    require_coremltools()
    from coremltools.converters.mil.mil.passes.pass_registry import PASS_REGISTRY

    return list(PASS_REGISTRY.passes)


def apply_pass(pymil: Any, name: str) -> None:
    """Change a coremltools `Program` by a pass. Raise coremltools' own errors."""
    from coremltools.converters.mil.mil.passes.pass_registry import PASS_REGISTRY

    PASS_REGISTRY[name](pymil)


@contextmanager
def quiet() -> Iterator[None]:
    """Suppress the warnings of coremltools and numpy for a while."""
    logger = logging.getLogger("coremltools")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)
