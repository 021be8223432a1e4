"""What miltext says of a mutant, held against what coremltools says: whether it is told, where, and in which words."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from support.check_mutants.drafts import is_type, raised
from support.check_mutants.loader import Refusal, refusal
from support.check_mutants.sites import Copy, Mutant, Site

from miltext.checking.inference import Inference, infer_types
from miltext.checking.operations import message_path
from miltext.checking.verifier import examine
from miltext.diagnostics import Diagnostic, Span
from miltext.parsing.parser import parse_tree
from miltext.parsing.spans import phrases_by_path
from miltext.schema.paths import Path
from miltext.schema.proto import Operation
from miltext.schema.types import TensorType, is_known, read_type
from miltext.schema.walk import is_compressed

TOLD = "told"
UNNAMED = "told without its parameter"
ELSEWHERE = "told at another place"
DECLARED = "only by declared type"
WARNED = "warned"
MISS = "MISS"
CRASH = "CRASH"
ALARM = "ALARM"
STRICTER = "stricter"
VALID = "agreed: valid"
UNKNOWN = "loader cannot"
VERDICTS = (TOLD, UNNAMED, ELSEWHERE, DECLARED, WARNED, MISS, CRASH, ALARM, STRICTER, VALID, UNKNOWN)

OF_DECLARED = frozenset({"MIL701", "MIL703"})
"""The codes of declared types that do not follow, whatever is the cause."""

ON_PURPOSE = {
    "MIL504": "coremltools does not look at the parameters of a write_state",
    "MIL507": "coremltools folds what reshape_like is given, and so takes no notice of variables",
    "MIL508": "coremltools takes the default, or the last of several",
    "MIL509": "coremltools does not look at the kinds of values in a tuple",
    "MIL511": "coremltools does not look at blocks that an operation does not have",
    "MIL512": "coremltools does not look at what blocks of a while_loop take and return",
    "MIL602": "coremltools takes the later value of that name",
    "MIL606": "coremltools has one scope for all blocks",
    "MIL616": "coremltools does not look at the types that const and constexpr operations declare",
    "MIL618": "coremltools does not look at the types that const and constexpr operations declare",
    "MIL701": "coremltools does not look at the types that const and constexpr operations declare",
    "MIL703": "coremltools does not look at the types that const and constexpr operations declare",
}
"""Errors that miltext gives though coremltools loads the Program, and why they are right."""

_BLIND = {
    "coremltools does not look at this word": """
        conv_quantized.quantization_type conv_transpose.pad_type gru.activation gru.recurrent_activation
        lstm.activation lstm.cell_activation lstm.recurrent_activation random_categorical.mode
        resample.coordinates_mode resample.padding_mode resample.sampling_mode rnn.activation scatter.mode
        scatter_along_axis.mode scatter_nd.mode
        """,
    "coremltools does not hold these sizes and ranks to each other": """
        affine.transform_matrix affine.x argsort.x band_part.x batch_norm.beta batch_norm.gamma batch_norm.mean
        batch_norm.variance batch_norm.x conv.pad conv_quantized.pad conv_transpose.bias conv_transpose.dilations
        conv_transpose.output_shape conv_transpose.pad conv_transpose.strides conv_transpose.weight conv_transpose.x
        crop_resize.roi fill.shape gather.indices gather.x gru.bias gru.initial_h gru.input_bias gru.weight_hh
        gru.weight_ih gru.x instance_norm.beta instance_norm.gamma instance_norm.x layer_norm.axes list_gather.indices
        list_read.index list_scatter.indices list_write.index local_response_norm.x lstm.bias lstm.bias_back
        lstm.initial_c lstm.initial_h lstm.weight_hh lstm.weight_hh_back lstm.weight_ih lstm.weight_ih_back lstm.x
        non_maximum_suppression.boxes non_maximum_suppression.scores random_bernoulli.shape random_categorical.x
        random_normal.shape random_uniform.shape reverse.axes reverse_sequence.batch_axis reverse_sequence.lengths
        reverse_sequence.x rnn.bias rnn.initial_h rnn.weight_hh rnn.weight_ih rnn.x select.cond slice_update.begin
        slice_update.squeeze_mask squeeze.x tile.reps tile.x
        """,
    "coremltools does not hold this number to a range": """
        affine.output_height affine.output_width batch_norm.epsilon clip.alpha clip.beta conv_quantized.nbits
        crop_resize.target_height crop_resize.target_width instance_norm.epsilon l2_norm.epsilon layer_norm.epsilon
        non_maximum_suppression.max_boxes random_bernoulli.prob random_normal.stddev random_uniform.high
        random_uniform.low range_1d.step resize_bilinear.target_size_height resize_bilinear.target_size_width
        resize_nearest_neighbor.target_size_height resize_nearest_neighbor.target_size_width topk.k
        upsample_bilinear.scale_factor_height upsample_bilinear.scale_factor_width
        upsample_nearest_neighbor.scale_factor_height upsample_nearest_neighbor.scale_factor_width
        """,
    "coremltools rounds a size that does not divide": """
        conv.weight conv_transpose.groups depth_to_space.block_size depth_to_space.x pixel_shuffle.upscale_factor
        pixel_shuffle.x pixel_unshuffle.downscale_factor pixel_unshuffle.x space_to_batch.block_shape
        space_to_batch.paddings space_to_batch.x space_to_depth.block_size space_to_depth.x
        """,
    "coremltools does not compare these positions with what the tensor has": """
        crop.crop_height crop.crop_width crop.x pad.pad pad.x reshape_like.begins reshape_like.ends reverse.x
        reverse_sequence.seq_axis scatter.data scatter.indices scatter_nd.data scatter_nd.indices slice_by_index.begin
        slice_by_index.end slice_by_index.x slice_by_size.begin slice_by_size.size slice_by_size.x slice_update.end
        slice_update.x sliding_windows.x
        """,
    "coremltools takes an axis twice": """
        expand_dims.axes layer_norm.axes reduce_l1_norm.axes reduce_l2_norm.axes reduce_log_sum.axes
        reduce_log_sum_exp.axes reduce_max.axes reduce_mean.axes reduce_min.axes reduce_prod.axes reduce_sum.axes
        reduce_sum_square.axes reverse.axes squeeze.axes transpose.perm
        """,
    "coremltools does not add up the parts": "split.split_sizes split.x",
    "coremltools does not look at its data type": "make_list.elem_shape",
    "coremltools works out a size below zero, and takes it for one that is not known": "range_1d.end",
    "coremltools works out 0 for a 0 in `shape` and a size that is not known": "reshape.x",
}
BLIND = {tuple(each.split(".")) for parameters in _BLIND.values() for each in parameters.split()}
"""Parameters of operations of which miltext tells more than coremltools; `_BLIND` says why."""

UNDECLARED = ("const", "cond", "while_loop")
"""The operations, beside the constexpr ones, whose declared types coremltools does not look at."""


class Said(NamedTuple):
    """One error or warning: its words and those of its notes, and whether a place of it is on the operation, and there
    on an argument.
    """

    code: str
    message: str
    words: str
    severity: str
    at_operation: bool
    at_argument: bool


class Judged(NamedTuple):
    """A verdict, and what it was made of."""

    verdict: str
    said: list[Said]
    refused: Refusal | None
    text: str | None
    crash: str = ""
    """The exception of `check`, if it raised one."""


def judged(mutant: Mutant) -> Judged:
    """Hold what `check` says of a mutant against what coremltools says."""
    refused = refusal(mutant.copy.program)
    try:
        said, text = checked(mutant.copy)
    except Exception as failure:  # noqa: BLE001  # a check may not raise anything
        return Judged(CRASH, [], refused, None, raised(failure))
    return Judged(_verdict(mutant, refused, said), said, refused, text)


def checked(copy: Copy) -> tuple[list[Said], str | None]:
    """Return what `check` says of a Program, and the text that it speaks of."""
    found, text = examine(copy.program)
    if not found:
        return [], text
    places = _Places.of(text, copy.path) if text is not None else None
    return [_said(each, places) for each in found], text


class _Places(NamedTuple):
    """Where in a text an operation and its arguments stand."""

    operation: Span
    arguments: list[Span]

    @classmethod
    def of(cls, text: str, path: Path) -> _Places:
        operation, arguments = Span(0, 0), []
        around = {path[:end] for end in range(len(path) + 1)}
        for place, phrase in phrases_by_path(parse_tree(text, whole=True).root, lambda place, _: place in around):
            if place == path:
                operation = phrase.span
            elif (
                place[: len(path)] == path
                and place[len(path)] in ("inputs", "attributes")
                and len(place) == len(path) + 2
            ):
                arguments.append(phrase.span)
        return cls(operation, arguments)


def _said(found: Diagnostic, places: _Places | None) -> Said:
    spans = [span for span in (found.span, *(note.span for note in found.notes)) if span is not None]
    words = " ".join([found.message, *(note.message for note in found.notes)])
    at_operation = places is None or any(_inside(span, places.operation) for span in spans)
    at_argument = places is None or any(_inside(span, argument) for span in spans for argument in places.arguments)
    return Said(found.code, found.message, words, found.severity, at_operation, at_argument)


def _inside(span: Span, around: Span) -> bool:
    return around.start <= span.start and span.end <= around.end


def _verdict(mutant: Mutant, refused: Refusal | None, said: list[Said]) -> str:
    """Return how miltext tells of a mutant: anywhere, if coremltools stops at another operation than the broken one."""
    errors = [each for each in said if each.severity == "error"]
    if refused is None:
        return _of_valid(mutant, errors)
    if refused.is_limit:
        return UNKNOWN
    if not errors:
        return _of_silence(mutant, said)
    outputs = tuple(output.name for output in mutant.copy.operation.outputs)
    mutant = mutant._replace(anywhere=mutant.anywhere or (refused.names not in ((), outputs)))
    if refused.is_of_declared:
        return TOLD if mutant.anywhere or any(each.at_operation for each in errors) else ELSEWHERE
    own = [each for each in errors if each.code not in OF_DECLARED]
    if not own:
        retyped = _as_inferred(mutant)
        own = [] if retyped is None else [each for each in checked(retyped)[0] if each.severity == "error"]
    return min((told(mutant, each) for each in own), key=VERDICTS.index, default=DECLARED)


def _of_valid(mutant: Mutant, errors: list[Said]) -> str:
    """Return whether errors are right though coremltools loads the Program."""
    if not errors:
        return VALID
    operation = mutant.copy.operation
    if mutant.nonsense or (operation.type, mutant.parameter) in BLIND:
        return STRICTER
    unseen = operation.type in UNDECLARED or is_compressed(operation.type) or _declares_scalar(operation)
    right = all(each.code in ON_PURPOSE and (unseen or each.code not in OF_DECLARED) for each in errors)
    return STRICTER if right else ALARM


def _declares_scalar(operation: Operation) -> bool:
    """Whether an output is declared a scalar: coremltools then looks at its data type alone."""
    stated = [read_type(output.type) for output in operation.outputs]
    return any(isinstance(each, TensorType) and not each.shape for each in stated)


def _of_silence(mutant: Mutant, said: list[Said]) -> str:
    warned = any(each.at_operation for each in said)
    return (TOLD if mutant.kind == "unknown operation" else WARNED) if warned else MISS


def told(mutant: Mutant, error: Said) -> str:
    """Return how well an error tells of a mutant."""
    if mutant.anywhere:
        return TOLD
    operation = mutant.copy.operation
    given = {*operation.inputs, *operation.attributes}
    if mutant.parameter is None or mutant.parameter not in given:
        named = mutant.parameter is None or _names(error, {mutant.parameter})
        return (TOLD if named else UNNAMED) if error.at_operation else ELSEWHERE
    if not error.at_argument:
        return ELSEWHERE
    return TOLD if _names(error, {mutant.parameter} | (given if mutant.clashes else set())) else UNNAMED


def _names(error: Said, parameters: set[str]) -> bool:
    """Whether an error names one of the parameters, as a word in backquotes."""
    return bool(
        parameters & {word for quoted in re.findall(r"`([^`]*)`", error.words) for word in re.findall(r"\w+", quoted)}
    )


# ---- declared types


def _as_inferred(mutant: Mutant) -> Copy | None:
    """Return the mutant with the types declared that miltext infers for its operation, if it infers any."""
    for inference in infer_types(mutant.copy.program):
        if message_path(inference.path) == mutant.copy.path:
            return _redeclared(mutant.copy, inference)
    return None


def _redeclared(copy: Copy, inference: Inference) -> Copy | None:
    inferred = inference.inferred
    if inferred is None or len(inferred) != len(inference.declared) or not all(map(is_type, inferred)):
        return None
    made = Copy(copy.program, copy.path)
    made.retype([each if is_known(each) else None for each in inferred])
    return made


def with_own_types(mutant: Mutant, refused: Refusal | None) -> Mutant | None:
    """Return a mutant of which only the declared types do not follow, with the types declared that coremltools has."""
    operation = mutant.copy.operation
    if refused is None or not refused.is_of_declared or refused.types is None:
        return None
    if refused.names != tuple(output.name for output in operation.outputs) or len(refused.types) != len(refused.names):
        return None
    made = Copy(mutant.copy.program, mutant.copy.path)
    made.retype(refused.types)
    return mutant._replace(copy=made, label=f"{mutant.label} (and the types that follow)")


def row(mutant: Mutant, site: Site, found: Judged) -> dict[str, Any]:
    """Return what is worth writing down of a mutant."""
    refused = found.refused
    return {
        "kind": mutant.kind,
        "operation": site.operation.type,
        "parameter": mutant.parameter,
        "label": mutant.label,
        "verdict": found.verdict,
        "source": site.source,
        "opset": site.opset,
        "coremltools": refused and [refused.kind, refused.message, refused.where],
        "declared": bool(refused and refused.is_of_declared),
        "said": [[each.code, each.words] for each in found.said[:4]],
        "crash": found.crash,
    }
