"""A page of the playground, and what one does with it."""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

TRANSFER = """([name, data]) => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([Uint8Array.from(atob(data), (char) => char.charCodeAt(0))], name));
    return transfer;
}"""


class Driver:
    """A page of the playground."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.settle()

    def settle(self) -> None:
        """Wait until what is shown is of the text as it is."""
        self.page.wait_for_function("() => document.body.dataset.state === 'done'", timeout=60_000)

    def write(self, text: str) -> None:
        """Put a text in place of the editor's, as if it were pasted, and wait for what is found in it."""
        self.page.locator("#editor .cm-content").fill(text)
        self.settle()

    def drop(self, name: str, data: bytes) -> None:
        """Drop a file on the page, and wait for its text or for what is said of it."""
        transfer = self.page.evaluate_handle(TRANSFER, [name, b64encode(data).decode()])
        self.page.evaluate(
            "() => { document.getElementById('notice').hidden = true; document.body.dataset.state = 'open' }"
        )
        self.page.dispatch_event("#editor", "drop", {"dataTransfer": transfer})
        self.page.wait_for_function(
            "() => document.body.dataset.state === 'done' || !document.getElementById('notice').hidden", timeout=60_000
        )

    def click(self, place: str) -> None:
        """Click something that changes the text, and wait for what is found in it then."""
        self.page.evaluate("() => { document.body.dataset.state = 'clicked' }")
        self.page.click(place)
        self.settle()

    def shown(self, tab: str) -> str:
        """Return what a tab shows, once it is there."""
        self.page.click(f"#tab-{tab}")
        self.settle()
        return self["#pane"]

    @property
    def text(self) -> str:
        """The editor's text, as far as it is in sight."""
        return "\n".join(self.page.locator("#editor .cm-line").all_inner_texts()).replace("\n\n", "\n")

    def __getitem__(self, place: str) -> str:
        """Return the text of a part of the page."""
        text: str = self.page.inner_text(place)
        return text
