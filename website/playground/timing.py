"""How long the playground takes, in a real Chromium: `python -m website.playground.timing OUT TEXT.mil`.

OUT is a built playground. The first start fills the browser's cache; the figures are of the second.
"""

from __future__ import annotations

import sys
from pathlib import Path
from statistics import median
from time import perf_counter

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

from playwright.sync_api import sync_playwright
from support.browser import SWITCHES, chromium_path, served
from support.playground import Driver

TIMES = 5
TABS = ("inferred", "formatted", "program", "graph")


def main(out: Path, text: Path) -> None:
    """Show the seconds until the page is ready, until an edit's findings are shown, and until each tab is."""
    with sync_playwright() as playwright, served(out) as url:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=SWITCHES)
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        for _ in range(2):
            page.goto(url)
            driver = Driver(page)
        print(f"ready                {int(page.evaluate('document.body.dataset.ready')) / 1000:.2f}")
        driver.drop(text.name, text.read_bytes())
        driver.settle()
        print(f"findings of an edit  {median(edited(driver) for _ in range(TIMES)):.2f}")
        for tab in TABS:
            print(f"{tab:<20} {median(shown(driver, tab) for _ in range(TIMES)):.2f}")
        browser.close()


def edited(driver: Driver) -> float:
    """Return the seconds from a key to its findings, with the pause for further keys."""
    driver.page.locator("#editor .cm-content").press("Control+End")
    start = perf_counter()
    driver.page.keyboard.type(" ")
    driver.settle()
    return perf_counter() - start


def shown(driver: Driver, tab: str) -> float:
    """Return the seconds from a click on a tab to what it shows."""
    driver.shown("findings")
    start = perf_counter()
    driver.shown(tab)
    return perf_counter() - start


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
