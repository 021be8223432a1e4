"""The build hook that puts the grammar and the page of the diagnostics beside the modules in a wheel; an editable
install reads them where they are.
"""

from __future__ import annotations

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PageAndGrammarHook(BuildHookInterface):  # type: ignore[type-arg]  # its parameter differs between hatchling versions
    """The wheel's build hook (static force-include would put the files into editable installs too)."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add `miltext/syntax/mil.lark` and `miltext/diagnostics/diagnostics.md`, unless `version` is `editable`."""
        if version != "editable":
            build_data["force_include"]["grammar/mil.lark"] = "miltext/syntax/mil.lark"
            build_data["force_include"]["docs/diagnostics.md"] = "miltext/diagnostics/diagnostics.md"
