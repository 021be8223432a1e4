"""The build of the whole site: MkDocs with our hooks, every warning an error, into a folder that may be ours."""

from __future__ import annotations

import io
import logging
from pathlib import Path
from typing import Any

from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.exceptions import MkDocsException

from miltext.diagnostics import home
from website import HERE

SIGN = "assets/colours.css"
"""A file that only our site has: a folder with others, and without it, was not made here, and is not replaced."""


class Refused(Exception):
    """The site cannot be made, or there is something to warn of, which it says."""


def where() -> dict[str, Any]:
    """Return MkDocs' settings of where the site and the repository are: nothing as long as they have no home."""
    if not home.HOME:
        return {}
    return {
        "site_url": home.site(),
        "repo_url": home.HOME,
        "repo_name": home.HOME.rpartition("/")[2],
        "edit_uri": "edit/main/docs/",
    }


def built(out: Path, *, playground: bool = True) -> None:
    """Make the site in the folder `out`, with its playground or a page in its place.

    Raise Refused for a folder of something else, and for any warning.
    """
    out = out.resolve()
    if out.is_dir() and any(out.iterdir()) and not (out / SIGN).is_file():
        raise Refused(f"{out} is not a site that was made here: name another folder, or an empty one")
    warnings = io.StringIO()
    kept, log = logging.StreamHandler(warnings), logging.getLogger("mkdocs")
    kept.setLevel(logging.WARNING)
    log.addHandler(kept)
    try:
        build(load_config(str(HERE / "mkdocs.yml"), site_dir=str(out), **where()))
    except (MkDocsException, OSError) as failure:
        raise Refused(f"{warnings.getvalue()}the site was not made: {failure}") from failure
    finally:
        log.removeHandler(kept)
    if playground:
        _add_playground(out / "playground")


def _add_playground(out: Path) -> None:
    from website.playground.building import BuildError
    from website.playground.building import build as make

    try:
        make(out)
    except BuildError as failure:
        raise Refused(f"the playground was not made: {failure}") from failure
