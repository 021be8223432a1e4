"""Puts grammar/mil.lark beside the modules in a wheel; an editable install reads it where it is."""

from __future__ import annotations

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class GrammarHook(BuildHookInterface):  # type: ignore[type-arg]  # its parameter differs between hatchling versions
    """The wheel's build hook (static force-include would put the file into editable installs too)."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the grammar as `miltext/mil.lark`, unless `version` is `editable`."""
        if version != "editable":
            build_data["force_include"]["grammar/mil.lark"] = "miltext/mil.lark"
