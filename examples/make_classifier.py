"""Make Classifier.mlpackage beside this script: a small untrained convolutional network, as coremltools 9 saves it.

Run it with coremltools installed: `python examples/make_classifier.py`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import coremltools as ct
import numpy as np
from coremltools.converters.mil import Builder as mb

PACKAGE = Path(__file__).with_name("Classifier.mlpackage")
LABELS = ["circle", "square", "triangle"]


def make_program() -> Any:
    """Build the program: a 16 x 16 grey image in, three probabilities out; six features, 351 weights."""
    rng = np.random.default_rng(0)

    def weights(*shape: int) -> Any:
        return rng.normal(0, 0.2, shape).astype(np.float32)

    @mb.program(input_specs=[mb.TensorSpec(shape=(1, 1, 16, 16))], opset_version=ct.target.iOS16)
    def classifier(image: Any) -> Any:
        x = mb.conv(x=image, weight=weights(6, 1, 3, 3), bias=weights(6), strides=[2, 2], pad_type="same", name="edges")
        x = mb.relu(x=x, name="lit")
        x = mb.max_pool(x=x, kernel_sizes=[2, 2], strides=[2, 2], pad_type="valid", name="pooled")
        x = mb.reshape(x=x, shape=[1, 96], name="flat")
        x = mb.linear(x=x, weight=weights(3, 96), bias=weights(3), name="scores")
        return mb.softmax(x=x, axis=-1, name="probabilities")

    return classifier


def main() -> None:
    model = ct.convert(
        make_program(),
        convert_to="mlprogram",
        minimum_deployment_target=ct.target.iOS16,
        compute_precision=ct.precision.FLOAT16,
        classifier_config=ct.ClassifierConfig(LABELS),
        skip_model_load=True,
    )
    model.short_description = "Tells three drawn shapes apart (untrained)"
    model.save(str(PACKAGE))


if __name__ == "__main__":
    main()
