"""The names of features inside other models than ML Programs, apart from the description.

miltext does not declare the messages of these kinds; this table contains the numbers of their fields with names of
features. Source: the descriptors of coremltools 9.0, `NonMaximumSuppression.proto`, `NeuralNetwork.proto` and so on. A
kind with an empty row has such names only in its description.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from miltext.diagnostics import codes, refusing
from miltext.files.contents import kind_of_model
from miltext.files.refusals import refusal
from miltext.schema.proto.kinds import MODEL_KINDS
from miltext.schema.wire import LENGTH_DELIMITED, sized, spans, tag

if TYPE_CHECKING:
    from miltext.schema.proto import Model as Spec

Fields: TypeAlias = "dict[int, Any]"
"""The fields of a message, by number: the role of the name in the field, or the Fields of the inner message."""

Rename: TypeAlias = Callable[[str, str], str]
"""A function that returns the new name for a role and a name."""

TAKEN, GIVEN, BLOB = "taken", "given", "blob"
"""The roles of a name: an input, an output, or a value inside a neural network, which may be either."""

_LOSS = {1: BLOB, 2: BLOB}
_LAYER: Fields = {2: BLOB, 3: BLOB}
_NETWORK: Fields = {1: _LAYER, 2: {1: BLOB}, 10: {1: {10: _LOSS, 11: _LOSS}}}
_LAYER |= {605: {1: _NETWORK, 2: _NETWORK}, 615: {2: BLOB, 3: _NETWORK, 4: _NETWORK}}  # branch and loop

INNER_NAMES: dict[str, Fields] = {
    "glmRegressor": {},
    "supportVectorRegressor": {},
    "treeEnsembleRegressor": {},
    "neuralNetworkRegressor": _NETWORK,
    "bayesianProbitRegressor": dict.fromkeys(range(10, 14), TAKEN) | dict.fromkeys(range(20, 24), GIVEN),
    "glmClassifier": {},
    "supportVectorClassifier": {},
    "treeEnsembleClassifier": {},
    "neuralNetworkClassifier": _NETWORK | {200: BLOB},
    "kNearestNeighborsClassifier": {},
    "neuralNetwork": _NETWORK,
    "itemSimilarityRecommender": dict.fromkeys(range(10, 14), TAKEN) | dict.fromkeys(range(20, 22), GIVEN),
    "classConfidenceThresholding": {},
    "oneHotEncoder": {},
    "imputer": {},
    "featureVectorizer": {1: {1: TAKEN}},
    "dictVectorizer": {},
    "scaler": {},
    "categoricalMapping": {},
    "normalizer": {},
    "arrayFeatureExtractor": {},
    "nonMaximumSuppression": dict.fromkeys(range(200, 204), TAKEN) | dict.fromkeys(range(210, 212), GIVEN),
    "identity": {},
    "textClassifier": {},
    "wordTagger": dict.fromkeys(range(20, 24), GIVEN),
    "visionFeaturePrint": {21: {100: GIVEN}},
    "soundAnalysisPreprocessing": {},
    "gazetteer": {},
    "wordEmbedding": {},
    "audioFeaturePrint": {},
}
"""The Fields of each kind with known names. A `customModel` has its names in an app's code, a `linkedModel` in another
file, and a `serializedModel` in bytes that only Core ML reads.
"""

NETWORKS = ("neuralNetwork", "neuralNetworkClassifier", "neuralNetworkRegressor")
"""The kinds whose names are names of values; such models may be large."""

_NUMBERS = {kind: number for number, kind in MODEL_KINDS.items()}


def inner_names(spec: Spec, role: str) -> list[str]:
    """Return the names of a role inside a model of a kind in the table, without empty names.

    A model of another kind has none here. Raise ModelError (MIL253) for damaged bytes.
    """
    kind = kind_of_model(spec) or ""
    if not INNER_NAMES.get(kind) or (role == BLOB) != (kind in NETWORKS):
        return []
    found: list[str] = []

    def note(its_role: str, name: str) -> str:
        found.extend([name] * (its_role == role and bool(name)))
        return name

    _of_kind(spec, kind, note)
    return found


def rename_inside(spec: Spec, rename: Rename) -> None:
    """Rename the features inside a model of a kind in the table; all other bytes stay. Raise as `inner_names`."""
    kind = kind_of_model(spec) or ""
    if INNER_NAMES.get(kind):
        spec.ParseFromString(_of_kind(spec, kind, rename))


def _of_kind(spec: Spec, kind: str, rename: Rename) -> bytes:
    """Return the bytes of a model, with its inner names replaced."""
    data = spec.SerializeToString(deterministic=True)
    with refusing(lambda _: refusal(codes.NOT_A_MODEL, f"the bytes of this {kind} are not of that kind of model")):
        return _renamed(data, {_NUMBERS[kind]: INNER_NAMES[kind]}, rename)


def _renamed(message: bytes, fields: Fields, rename: Rename) -> bytes:
    pieces, done = [], 0
    for number, start, content, end in spans(message):
        if end > len(message):
            raise ValueError(f"the field {number} is cut short")
        known = fields.get(number)
        if known is None or message[start] & 7 != LENGTH_DELIMITED:
            continue
        old = message[content:end]
        new = rename(known, old.decode()).encode() if isinstance(known, str) else _renamed(old, known, rename)
        if new != old:
            pieces += [message[done:start], sized(tag(number), new)]
            done = end
    return b"".join([*pieces, message[done:]])
