"""MkDocs' hooks: pages that are made of the code, and the repository's pages with their links as the site has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mkdocs.structure.files import File, Files
from pygments.lexers import LEXERS

from miltext.printing.html_page import COLOURS
from website import HERE, ROOT, fences, links, lists
from website.making import forget, pages, places
from website.making import sources as parts_of
from website.parts import SPLIT

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.pages import Page

LEXERS["ReportLexer"] = ("website.lexers", "miltext's reports", ("mil-report",), (), ())


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Write out entries of the navigation such as `verbs/*`: all pages of a folder that are made of the code."""
    forget()  # while the site is served, what they are made of changes
    config.nav = _written_out(config.nav or [])
    return config


def _written_out(entries: list[Any]) -> list[Any]:
    made: list[Any] = []
    for entry in entries:
        if isinstance(entry, dict):
            made.append(
                {title: _written_out(below) if isinstance(below, list) else below for title, below in entry.items()}
            )
        elif entry.endswith("/*"):
            inside = [name for name in pages() if name.rpartition("/")[0] == entry[:-2]]
            made += [name for name in inside if not name.endswith("index.md")]
        else:
            made.append(entry)
    return made


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages, styles and scripts that are not in docs/, or are other pages there."""
    for page in ("operations.md", "python.md", *SPLIT):  # other pages take their place
        if page in files.src_uris:
            files.remove(files.src_uris[page])
    for name, text in pages().items():
        if (there := files.get_file_from_path(name)) is not None:
            files.remove(there)
        files.append(File.generated(config, name, content=text))
    for source, name in links.OUTSIDE.items():
        if name in SPLIT:
            continue
        added = File.generated(config, name, abs_src_path=str(ROOT / source))
        added.edit_uri = f"../{source}"
        files.append(added)
    for folder in ("pages", "assets"):
        for path in sorted((HERE / folder).iterdir()):
            name = path.name if folder == "pages" else f"assets/{path.name}"
            files.append(File.generated(config, name, abs_src_path=str(path)))
    files.append(File.generated(config, "assets/colours.css", abs_src_path=str(COLOURS)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Return a page's Markdown with its links, lists and fences as MkDocs reads them."""
    name = page.file.src_uri
    sources = {**{page: source for source, page in links.OUTSIDE.items()}, **parts_of()}
    linked = links.for_site(markdown, sources.get(name, f"docs/{name}"), name, places())
    return fences.for_site(lists.for_site(linked))
