"""Each fault in the manifest and the files of a package is told, as those of compiled models are."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.bundle_faults import faults, told, untold
from support.whole_models import whole


@pytest.mark.parametrize("name", ["kind/two-files", "package/int4", "package/pipeline"])
def test_each_fault_of_a_package_is_reported(name: str, tmp_path: Path) -> None:
    pytest.importorskip("coremltools")
    package = whole(name)
    assert told(package).total() == 0
    assert sum(1 for _ in faults(package)) > 100
    assert [(fault.file, fault.what) for fault in untold(package, tmp_path / "Copy.mlpackage")] == []
