"""The opsets in which Apple defined and redefined each operation, as names in `metadata.json` show them.

A function of an opset has the newest definition up to that opset: `Ios16.reduceMean` in functions of iOS16, iOS17 and
iOS18, as iOS16 redefined `reduce_mean` last. This rule explains all known names.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

from miltext.schema.operations import opset_place

OLDEST = 15
"""The opset of functions of `CoreML5`, the first of ML Programs."""

_GUESSED = 18
"""The guessed opset of the definition of an operation outside the table, for its functions and later ones."""


CCV = "github.com/liuliu/ccv, lib/nnc/mfa/ccv_nnc_mfa_ane_rowwise_coreml.mm"
"""The source of a compiled model of specification version 10: the head of its coremldata.bin, and its metadata.json."""


class Evidence(NamedTuple):
    """The place of a public name; `is_compiled` if a compiled model's `metadata.json` contains it."""

    where: str
    is_compiled: bool = True


SOURCES = {
    "models": Evidence("30 compiled models of public repositories, the tests' corpus among them"),
    "smollm2": Evidence("huggingface.co/finnvoorhees/coreml-SmolLM2-135M-Instruct-8bit"),
    "qwen3-embedding": Evidence("huggingface.co/NeoRoth/qwen3-embedding-0.6b-coreml"),
    "qwen3-tts": Evidence("huggingface.co/aufklarer/Qwen3-TTS-CoreML, CodeEmbedder"),
    "qwen3-asr": Evidence("huggingface.co/aufklarer/Qwen3-ASR-CoreML, embedding"),
    "kokoro-g2p": Evidence("huggingface.co/FluidInference/kokoro-82m-coreml, MultilingualG2PEncoder"),
    "mobileclip-s2": Evidence("clip_mci_image_s2 of jondin"),
    "mobileclip-encoder": Evidence("ImageEncoder_mobileCLIP_s2 of jondin"),
    "clip-encoder": Evidence("ImageEncoder_float32_batch_16 of jondin"),
    "whisper": Evidence("the encoder of saik0s/whisper.cpp"),
    "mobius": Evidence("github.com/FluidInference/mobius, commit 1abd118"),
    "mochi": Evidence("github.com/MochiDiffusion/MochiDiffusion, SDModel.swift, which looks for the name"),
    "orukahairuka": Evidence("compute plans of orukahairuka", is_compiled=False),
    "kokoro": Evidence("compute plans of Kokoro's decoder", is_compiled=False),
    "nanocodec": Evidence("a compute plan of NanoCodec's blocks", is_compiled=False),
    "ane-book": Evidence("compute plans in github.com/videlalvaro/ane-book", is_compiled=False),
    "mlx-omarchy": Evidence("compute plans in github.com/joshuaswarren/mlx-omarchy", is_compiled=False),
    "ndt1": Evidence("a compute plan of an NDT1 decoder", is_compiled=False),
    "depth-anything": Evidence("compute plans of Depth Anything 3", is_compiled=False),
    "lfm2": Evidence("a compute plan of LFM2", is_compiled=False),
    "messages": Evidence("messages of Apple's tools about models of public repositories", is_compiled=False),
    "ccv": Evidence(CCV, is_compiled=False),
}
"""The sources of the table, by their keys.

Xcode and `MLComputePlan` show the names of a compiled model's operations, too: they are not names in its
`metadata.json`, but no known name differs.
"""

_TABLE = """
    abs                                     15 16 17 18     17=kokoro-g2p
    acos                                    15 16 17 18
    add                                     15 16 17 18 19  15=models 16=models 17=models 18=smollm2 19=messages
    affine                                  15 16
    argsort                                 15
    asin                                    15 16 17 18
    atan                                    15 16 17 18
    atanh                                   15 16 17 18
    avg_pool                                15 16 18        16=mobileclip-encoder 17=mobileclip-s2
    band_part                               15              18=qwen3-embedding
    batch_norm                              15 16 17 18     16=mobileclip-encoder 17=mobileclip-s2 18=orukahairuka
    batch_to_space                          15
    cast                                    15 16 17 18     15=models 16=models 17=models 18=smollm2
    ceil                                    15 16 17 18
    clamped_relu                            15 16 17 18
    classify                                15
    clip                                    15 16 17 18     15=models 16=models 17=models
    concat                                  15 17 18        15=models 16=models 17=models 18=smollm2
    cond                                    15
    constexpr_affine_dequantize             16              16=models 17=models
    constexpr_blockwise_shift_scale         18              18=smollm2
    constexpr_cast                          16 18
    constexpr_lut_to_dense                  16 18           16=models 18=qwen3-asr
    constexpr_lut_to_sparse                 18
    constexpr_sparse_blockwise_shift_scale  18
    constexpr_sparse_to_dense               16 18           16=models
    conv                                    15 16 17 18     15=models 16=models 17=models 18=orukahairuka
    conv_quantized                          15 16
    conv_transpose                          15 16 17 18     16=kokoro 18=orukahairuka
    cos                                     15 16 17 18     18=smollm2
    cosh                                    15 16 17 18
    crop                                    15 16
    crop_resize                             15 16 17 18
    cumsum                                  15
    custom_layer                            15
    depth_to_space                          15
    dequantize                              17 18 19        19=ccv
    einsum                                  15 16           16=mochi 18=ndt1
    elu                                     15 16 17 18
    equal                                   15 16 17 18     18=qwen3-embedding
    erf                                     15 16 17 18
    exp                                     15 16 17 18
    exp2                                    15 16 17 18
    expand_dims                             15 17 18        15=models 16=models 17=models 18=smollm2
    fill                                    15              16=clip-encoder 18=qwen3-embedding
    fill_like                               16              17=kokoro-g2p
    flatten2d                               15
    floor                                   15 16 17 18     17=models
    floor_div                               15 16 17 18     17=models
    gather                                  15 16 17 18     15=models 16=clip-encoder 17=models 18=smollm2
    gather_along_axis                       15 16 17 18     17=models
    gather_nd                               15 16 17 18
    gelu                                    15 16 18        15=whisper 16=models 17=kokoro-g2p 18=ane-book
    greater                                 15 16 17 18     17=kokoro-g2p
    greater_equal                           15 16 17 18     17=models 18=qwen3-embedding
    gru                                     15 16 17 18
    identity                                15              17=models
    instance_norm                           15 16 17 18
    inverse                                 15 16 17 18
    l2_norm                                 15 16 17 18
    l2_pool                                 15 16 18
    layer_norm                              15 16 17 18     15=whisper 16=clip-encoder 17=models 18=orukahairuka
    leaky_relu                              15 16 17 18     16=kokoro 18=orukahairuka
    less                                    15 16 17 18     15=models 17=models
    less_equal                              15 16 17 18
    linear                                  15 16 17 18     15=models 16=mobileclip-encoder 17=models 18=smollm2
    linear_activation                       15 16 17 18
    list_gather                             15
    list_length                             15
    list_read                               15
    list_scatter                            15
    list_write                              15
    local_response_norm                     15 16 17 18
    log                                     15 16 17 18     16=mobius 17=models
    logical_and                             15 16 17 18     17=models
    logical_not                             15 16 17 18     17=models
    logical_or                              15 16 17 18
    logical_xor                             15 16 17 18
    lstm                                    15 16 17 18     15=models 16=models 17=models 18=mlx-omarchy
    make_list                               15
    matmul                                  15 16 17 18     15=whisper 16=models 17=models 18=smollm2 19=ccv
    max_pool                                15 16 18        15=models 16=models 18=messages
    maximum                                 15 16 17 18     17=mobileclip-s2
    minimum                                 15 16 17 18     17=kokoro-g2p
    mod                                     15 16 17 18
    mul                                     15 16 17 18     15=models 16=models 17=models 18=smollm2
    non_maximum_suppression                 15 17 18
    non_zero                                15
    not_equal                               15 16 17 18
    one_hot                                 15
    pad                                     15              15=models 16=models 17=models 18=lfm2
    pixel_shuffle                           15
    pixel_unshuffle                         16
    pow                                     15 16 17 18     15=models 16=models 17=models 18=smollm2
    prelu                                   15 16 17 18
    quantize                                17 18
    random_bernoulli                        15
    random_categorical                      15
    random_normal                           15
    random_uniform                          15
    range_1d                                15              17=models 18=smollm2
    read_state                              18              18=smollm2
    real_div                                15 16 17 18     16=kokoro 17=mobileclip-s2 18=smollm2
    reduce_argmax                           15 16 17 18     16=models 17=models
    reduce_argmin                           15 16 17 18
    reduce_l1_norm                          15 16
    reduce_l2_norm                          15 16           17=mobileclip-s2
    reduce_log_sum                          15 16
    reduce_log_sum_exp                      15 16
    reduce_max                              15 16           16=models
    reduce_mean                             15 16           16=mobileclip-encoder 17=kokoro-g2p 18=smollm2
    reduce_min                              15 16
    reduce_prod                             15 16
    reduce_sum                              15 16           17=models
    reduce_sum_square                       15 16
    relu                                    15 16 18        15=models 16=models 17=models 18=models
    relu6                                   15 16 18
    resample                                15 16 17 18
    reshape                                 15 16 17 18 19  15=models 16=models 17=models 18=smollm2 19=messages
    reshape_like                            16 17 18
    resize                                  17 18
    resize_bilinear                         15 16
    resize_nearest_neighbor                 15 16
    reverse                                 15 17 18        15=models
    reverse_sequence                        15 17 18
    rnn                                     15 16 17 18
    round                                   15 16 17 18
    rsqrt                                   15 16 17 18     17=kokoro-g2p 18=smollm2
    scaled_dot_product_attention            18              18=smollm2
    scaled_tanh                             15 16 17 18
    scatter                                 15 16 17 18     15=models
    scatter_along_axis                      15 16 17 18
    scatter_nd                              15 16 17 18
    select                                  15              17=models 18=qwen3-embedding
    shape                                   15              16=clip-encoder 17=models 18=smollm2
    sigmoid                                 15 16 18        15=models 16=models 17=models 18=mlx-omarchy
    sigmoid_hard                            15 16 17 18
    sign                                    15 16 17 18
    silu                                    15 16 18        15=models 17=models 18=smollm2
    sin                                     15 16 17 18     16=kokoro 17=nanocodec 18=smollm2
    sinh                                    15 16 17 18
    slice_by_index                          15 17 18        15=models 16=models 17=models 18=smollm2
    slice_by_size                           15 17 18
    slice_update                            18              18=smollm2
    sliding_windows                         15 17 18
    softmax                                 15 16 18        15=models 16=mobileclip-encoder 17=models 18=qwen3-embedding
    softplus                                15 16 18
    softplus_parametric                     15 16 17 18
    softsign                                15 16 18
    space_to_batch                          15
    space_to_depth                          15
    split                                   15              15=models 16=mobileclip-encoder 17=models 18=lfm2
    sqrt                                    15 16 17 18     15=models 16=models
    square                                  15 16 17 18     16=kokoro
    squeeze                                 15 17 18        15=models 16=models 17=models 18=qwen3-tts
    stack                                   15              17=models
    sub                                     15 16 17 18     15=models 16=models 17=models 18=smollm2
    tan                                     15 16 17 18
    tanh                                    15 16 17 18     15=models 18=orukahairuka
    threshold                               15 16 17 18
    thresholded_relu                        15 16 17 18
    tile                                    15              16=kokoro 17=models 18=smollm2
    topk                                    15 16 17 18     17=models 18=ane-book
    transpose                               15 17 18        15=models 16=models 17=models 18=smollm2
    upsample_bilinear                       15 16           16=depth-anything 18=depth-anything
    upsample_nearest_neighbor               15 16           15=models
    while_loop                              15              15=models
    write_state                             18              18=smollm2
"""
"""The opsets that defined each operation, and the sources of known names, by the opset of the function.

A definition without a known name is a guess, by the other operations of the same module of coremltools, in the newest
version up to the opset. By the known names, iOS16 redefined the computing operations, iOS17 the elementwise operations
and all operations that coremltools redefines there, and iOS18 these, the activations and the pools.
"""


class DefiningOpset(NamedTuple):
    """The opset of an operation's definition, and the source that shows it; None for a guess."""

    opset: int
    source: Evidence | None


class _OpsetRow(NamedTuple):
    """The opsets that defined an operation, and the sources of its names by the opset of the function."""

    opsets: tuple[int, ...]
    sources: dict[int, Evidence]

    def at(self, opset: int) -> int:
        """Return the opset of the definition in functions of an opset."""
        return max((each for each in self.opsets if each <= opset), default=self.opsets[0])


def definition(operation: str, opset: str) -> DefiningOpset:
    """Return the opset that defines an operation in functions of `opset`, any name of an opset, and the source.

    A name in functions of a later opset is a source, too, if these have the same definition. A compiled model is
    preferred to other sources.
    """
    row, number = _rows().get(operation), OLDEST + opset_place(opset)
    if row is None:
        return DefiningOpset(_GUESSED if number >= _GUESSED else OLDEST, None)
    found = row.at(number)
    shown = [source for function, source in row.sources.items() if function >= number and row.at(function) == found]
    return DefiningOpset(found, min(shown, key=lambda source: not source.is_compiled, default=None))


@functools.cache
def _rows() -> dict[str, _OpsetRow]:
    return {name: _row(cells) for name, *cells in map(str.split, _TABLE.strip().splitlines())}


def _row(cells: list[str]) -> _OpsetRow:
    opsets = tuple(int(cell) for cell in cells if "=" not in cell)
    sources = (cell.split("=") for cell in cells if "=" in cell)
    return _OpsetRow(opsets, {int(function): SOURCES[key] for function, key in sources})
