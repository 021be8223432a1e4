"""Without the extra `dask`, a cluster is refused with the way to install it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from support.commands import miltext
from support.zoo import CANONICAL

from miltext.diagnostics.home import install


def test_a_cluster_needs_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "c.mil").write_text(CANONICAL, encoding="utf-8")
    monkeypatch.setitem(sys.modules, "distributed", None)
    ended = miltext("info", "--executor", "dask://127.0.0.1:8786", tmp_path / "c.mil")
    assert (ended.returncode, ended.stdout) == (2, b"")
    assert b"error[MIL291]: dask.distributed is not installed" in ended.stderr
    assert install("dask") in ended.stderr.decode()
