"""A published model that has a twin in ONNX: the numbers of one are those of the other.

basic-pitch (Spotify, Apache-2.0) has both in its wheel, which is fetched and unpacked, but not installed.
"""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.nearness import nearness

import miltext

WHEEL = "basic-pitch==0.4.0"

TWINS = {
    "Identity": "StatefulPartitionedCall:0",
    "Identity_1": "StatefulPartitionedCall:1",
    "Identity_2": "StatefulPartitionedCall:2",
}
"""What ONNX calls each output."""


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder that has both models."""
    pytest.importorskip("onnxruntime", reason="needs onnxruntime: pip install -e '.[models]'")
    folder = tmp_path_factory.mktemp("published")
    fetch = [sys.executable, "-m", "pip", "download", "--no-deps", "--retries", "1", "-q", "-d", str(folder), WHEEL]
    try:
        done = subprocess.run(fetch, capture_output=True, text=True, timeout=120, check=False)
    except subprocess.TimeoutExpired:
        pytest.skip(f"pip has not fetched {WHEEL} in two minutes")
    wheels = list(folder.glob("*.whl"))
    if done.returncode or not wheels:
        pytest.skip(f"pip cannot fetch {WHEEL}: {' '.join(done.stderr.split()[-20:])}")
    with zipfile.ZipFile(wheels[0]) as wheel:
        wheel.extractall(folder, [name for name in wheel.namelist() if "icassp_2022/nmp." in name])
    return folder / "basic_pitch" / "saved_models" / "icassp_2022"


@pytest.mark.parametrize("kind", ["noise", "tone", "click"])
def test_each_output_matches_the_twin(kind: str, published: Path) -> None:
    import onnxruntime

    sound = sounds()[kind]
    twin = onnxruntime.InferenceSession(str(published / "nmp.onnx"), providers=["CPUExecutionProvider"])
    given = twin.get_inputs()[0].name
    expected = dict(zip(TWINS, twin.run(list(TWINS.values()), {given: sound}), strict=True))
    actual = miltext.run(published / "nmp.mlpackage", {"input_2": sound})
    assert actual.keys() == expected.keys()
    assert all(nearness(actual[name], expected[name]) >= 60 for name in TWINS)


def sounds() -> dict[str, Any]:
    """Return two seconds of sound, of several kinds, at 22,050 samples a second."""
    # Silence is not one of them: the package divides 0 by 0 there, where its twin has a guard.
    times = np.arange(43844) / 22050
    tones = np.sin(2 * np.pi * 220 * 2 ** (np.array([[0], [4], [7]]) / 12) * times).sum(axis=0)
    noise = np.random.default_rng(5).standard_normal(times.shape)
    told = {"noise": 0.1 * noise, "tone": 0.2 * tones, "click": np.eye(1, len(times), 9000)}
    return {kind: each.astype(np.float32).reshape(1, -1, 1) for kind, each in told.items()}
