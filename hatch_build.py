"""The hooks of the build: what a wheel has beside the modules, and where its metadata says that miltext lives.

A wheel has the grammars, the page of the diagnostics and the model of `miltext demo`; an editable install reads them
where they are.
"""

from __future__ import annotations

import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

ADDED = {
    "grammar/mil.lark": "miltext/syntax/mil.lark",
    "grammar/mil_fast.lark": "miltext/syntax/mil_fast.lark",
    "docs/diagnostics.md": "miltext/diagnostics/diagnostics.md",
    "examples/Classifier.mlpackage": "miltext/cli/Classifier.mlpackage",
}
"""Where a wheel has what is elsewhere in the source tree."""

_TARGET = re.compile(
    r"(?P<sign>!?)(?P<before>\[[^\[\]]*\]\(|^\[[^\[\]]+\]: )(?P<path>(?![a-z]+:|#)[^\s)]+)", re.MULTILINE
)
"""A link or a picture of a page, or the definition of a link, that leads to a file beside the page."""

_FENCE = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)


class PageAndGrammarHook(BuildHookInterface):  # type: ignore[type-arg]  # its parameter differs between hatchling versions
    """The wheel's build hook (static force-include would put the files into editable installs too)."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the files to a wheel, unless `version` is `editable`."""
        if version != "editable":
            build_data["force_include"] |= ADDED


class HomeHook(MetadataHookInterface):
    """The metadata that depend on where miltext lives: README, whose links lead there, and URLs."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Fill in `readme` and `urls`. Without a home, README is as it is, and there are no URLs."""
        home = home_of(Path(self.root))
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": with_home(text, home)}
        metadata["urls"] = urls(home)


def home_of(root: Path) -> ModuleType:
    """Return the module `home` of a source tree. It is read by itself, as miltext's dependencies may be missing."""
    spec = spec_from_file_location("miltext_home", root / "src" / "miltext" / "diagnostics" / "home.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def urls(home: ModuleType) -> dict[str, str]:
    """Return the URLs of the metadata; none as long as there is no home."""
    if not home.HOME:
        return {}
    site = home.site()
    pages = {"Homepage": site, "Documentation": f"{site}tutorial/", "Playground": f"{site}playground/"} if site else {}
    return {
        **(pages or {"Homepage": home.HOME}),
        "Source": home.HOME,
        "Changelog": home.page("CHANGELOG.md"),
        "Issues": f"{home.HOME}/issues",
    }


def with_home(text: str, home: ModuleType) -> str:
    """Return a page of the repository's top folder with links and pictures that can be followed elsewhere, too."""
    if not home.HOME:
        return text

    def whole(found: re.Match[str]) -> str:
        return f"{found['sign']}{found['before']}{(home.raw if found['sign'] else home.page)(found['path'])}"

    parts = _FENCE.split(text)
    return "".join(part if part.startswith("```") else _TARGET.sub(whole, part) for part in parts)
