"""What may be wrong with a model's files, and what to do about each."""

from __future__ import annotations

import os

from miltext.diagnostics import ModelError, Note, error

WAYS_OUT = {
    "MIL250": "name a .mil, .mlmodel, .mlpackage, .mlmodelc, .pb or .txtpb that can be read",
    "MIL251": "an .mlpackage has a Manifest.json, an .mlmodelc a model.mil and a coremldata.bin: name such a folder",
    "MIL252": "run `git lfs pull` in the model's repository",
    "MIL253": "fetch or export the model again; the ending of MIL text is .mil, of a serialized Program .pb",
    "MIL254": "miltext reads ML Programs: convert the model's source with coremltools, convert_to='mlprogram'",
    "MIL255": "fetch or export the whole model again; of one with links to elsewhere, copy it with the links followed",
    "MIL256": "MIL text and protobuf's text are UTF-8; a serialized Program ends in .pb, a Model in .mlmodel",
    "MIL257": 'choose a model by its index or name, of a nested pipeline as in "1/0"; --model on the command line',
    "MIL258": "fetch the bundle again, or compile its model again",
    "MIL259": "a .txtpb is a CoreML.Specification.MILSpec.Program in protobuf's text format; MIL text is a .mil",
}
"""The way out of each ModelError, by its code.

MIL250 a file that cannot be opened; MIL251 a folder that is no model; MIL252 a git-lfs pointer; MIL253 bytes that
are no Model or Program; MIL254 another kind of model than an ML Program; MIL255 a package or bundle that does not hold
together; MIL256 a text that is none; MIL257 a pipeline, or a place in one that is not there; MIL258 a bundle's
description that cannot be read; MIL259 protobuf's text with a mistake.
"""


def refusal(code: str, message: str, path: str | os.PathLike[str], *notes: Note) -> ModelError:
    """Return a ModelError that names the file, says what is wrong, and what to do about it."""
    return ModelError([error(code, message, None, *notes, Note(WAYS_OUT[code]))], path=os.fspath(path))
