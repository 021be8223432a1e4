"""The home of miltext on the web. Only this file contains the URL, and `scripts/publish.py --home URL` writes it. The
build of the package executes this file without the package, so the file imports nothing of miltext.
"""

from __future__ import annotations

HOME = ""
"""The URL of the repository, without a slash at its end. It is empty until miltext is published."""


def page(path: str, *, is_folder: bool = False) -> str:
    """Return the URL of the page that shows a file or a folder of the repository."""
    return f"{HOME}/{'tree' if is_folder else 'blob'}/main/{path}"


def raw(path: str) -> str:
    """Return the URL of the bytes of a file of the repository, such as a picture."""
    return f"{HOME}/raw/main/{path}"


def site() -> str:
    """Return the URL of the documentation site, which GitHub serves beside a repository; empty for another home."""
    host, _, path = HOME.partition("//")[2].partition("/")
    owner, _, name = path.partition("/")
    return f"https://{owner}.github.io/{name}/" if host == "github.com" else ""


def install(extra: str) -> str:
    """Return the command that installs an extra: from a checkout or a wheel, or by its name once miltext is
    published.
    """
    if HOME:
        return f"`pip install 'miltext[{extra}]'`"
    return f"`pip install '.[{extra}]'` in a checkout of miltext, or `pip install 'WHEEL[{extra}]'` with its wheel"
