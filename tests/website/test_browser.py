"""The browser that tests of pages share: it notices what pages should not do."""

from __future__ import annotations

from pathlib import Path

from support.browser import PHONE, Opener, Serve

FOREIGN = "http://127.0.0.2:9"
HEAD = "<!doctype html><link rel=icon href=data:,><body>"
MISDEEDS = {
    "<script>console.error('no')</script>": "error: no",
    "<script>console.warn('hm')</script>": "warning: hm",
    "<script>throw new Error('thrown')</script>": "thrown",
    "<script>Promise.reject(new Error('rejected'))</script>": "rejected",
    f"<script src='{FOREIGN}/page.js'></script>": f"request: {FOREIGN}/page.js",
    "<img src='absent.png'>": "404",
    "<script>new Worker('in.js').onmessage = () => document.title = 'done'</script>": f"request: {FOREIGN}/in.js",
}


def test_each_misdeed_of_a_page_is_noticed(tmp_path: Path, open_page: Opener, serve: Serve) -> None:
    (tmp_path / "index.html").write_text(HEAD + "".join(MISDEEDS), encoding="utf-8")
    (tmp_path / "in.js").write_text(f"fetch('{FOREIGN}/in.js').catch(() => postMessage(1))", encoding="utf-8")
    page = open_page(serve(tmp_path))
    page.wait_for_function("() => document.title == 'done'")
    noticed = "\n".join(open_page.wrong)
    open_page.wrong.clear()
    assert [expected for expected in MISDEEDS.values() if expected not in noticed] == []


def test_a_good_page_is_let_pass(tmp_path: Path, open_page: Opener, serve: Serve) -> None:
    (tmp_path / "index.html").write_text(f"{HEAD}<link rel=stylesheet href=own.css><p>good", encoding="utf-8")
    (tmp_path / "own.css").write_text("p { color: red } @media (prefers-color-scheme: dark) { p { color: blue } }")
    page = open_page(serve(tmp_path), width=PHONE, scheme="dark")
    seen = page.evaluate("() => [getComputedStyle(document.querySelector('p')).color, innerWidth]")
    assert seen == ["rgb(0, 0, 255)", PHONE]
    alone = open_page((tmp_path / "index.html").as_uri())
    assert alone.evaluate("() => getComputedStyle(document.querySelector('p')).color") == "rgb(255, 0, 0)"
