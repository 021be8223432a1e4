"""Errors about a model's files, about weights and about the writing of a model, each with its way out."""

from __future__ import annotations

import os

from miltext.diagnostics import ModelError, Note, error
from miltext.diagnostics.home import install
from miltext.syntax.literals import quote

WAYS_OUT = {
    # Models as files and folders.
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
    # Weight files.
    "MIL301": "a weight file is named @model_path/ and a path inside the model's folder; "
    "of a model that has links to elsewhere, use a copy with the links followed (cp -RL)",
    "MIL302": "fetch the whole model, its weight files as regular files: links to them are not followed",
    "MIL303": "run `git lfs pull` in the model's repository",
    "MIL304": "name the weight file of an ML Program; if it is one, fetch or export it again",
    "MIL305": "the offset must be that of a record's metadata; model and weight file may not belong together",
    "MIL306": "the file is damaged or cut short: fetch or export it again",
    "MIL307": "read the records by the offsets that the model names",
    "MIL308": "convert the values to a type that holds them and that a weight file has",
    "MIL309": "give the value the type and shape of the record, or the offset of another",
    "MIL310": "print one of the models with `miltext print --weights-as NAME`, so that its file has another name in "
    "the text, and give that file with --weights NAME=FILE",
    "MIL311": "give a weight file with --weights NAME=FILE, by the name that the text has for it after `@model_path/`",
    # Writing models.
    "MIL401": "name another file with -o: `miltext build` writes .mlpackage, .mlmodel and .mlmodelc, `miltext "
    "extract`, `miltext reduce` and `miltext generate` these and .mil, `miltext print` and `miltext infer` .mil, "
    "`miltext describe` .toml, `miltext print --html` and `miltext diff --format html` .html, `miltext parse` .pb and "
    ".txtpb, `miltext run` .npz",
    "MIL402": "name another output, or move away what is there",
    "MIL403": "copy the model with its links followed (cp -RL) and build from that",
    "MIL404": "name with --from the .mlpackage, .mlmodel or .mlmodelc that the program belongs to",
    "MIL405": "shorten the program: --externalize moves values into the weight file; put pipelines beside one another",
    "MIL410": "give --from the model that the text was printed from, or print without --elide",
    "MIL411": "leave the type of an elided literal as it was printed, or print without --elide and write the values",
    "MIL412": "give the value the array's type and shape, or save the array with those of the value",
    "MIL413": "put the file in the text's folder or below, and name it by its path from there",
    "MIL414": "write the file again, with numpy.save, numpy.savez or safetensors",
    "MIL415": "save the array in a type that MIL has: bool, integers, or floats of 64 bits or fewer",
    "MIL416": "name one of the arrays in the file",
    "MIL417": "use a type that has the value, or fix the value",
    "MIL418": "run the command again, once nothing writes to the file",
    "MIL419": f"install it: {install('safetensors')}",
    "MIL420": "Core ML takes and gives tensors of fp16, fp32, fp64, int32 and int8, states, and what `classify` makes: "
    "cast the value with `cast`, or leave it inside the program",
    "MIL421": "name the opset of each function in the text, as in `func main<ios18>`",
    "MIL422": "return only what an operation of the function's own block makes, or an input",
    "MIL423": "convert the model's source with coremltools, convert_to='mlprogram'",
    "MIL424": "give it the shape of such an image, or describe it as an array with --description",
    "MIL425": "give each axis of an input its size or range, as in x=1,3,64..512,64..512",
    "MIL426": "choose a name of letters, digits, `_` and `@` that begins with a letter or `_`; --no-check takes any",
    "MIL427": "build without --prune-weights, or with a miltext that knows the fields",
    "MIL428": "name a folder with -o, which gets a file for each, or choose one with --model",
    "MIL430": "use the name of a value; `miltext print` shows them all, `miltext info` a pipeline's features",
    "MIL431": "choose a name that the function, and the pipeline around it, does not use",
    "MIL432": "only a value of the function's own block can be an output, and only once",
    "MIL433": "name a place inside the text, as Core ML's error does: LINE or LINE:COL",
    "MIL434": "write sizes as in image=1,3,256,256; a range is 64..512; in a text alone, ? is any size from 1 on",
    "MIL435": "give each dimension of the input's type a size; for another rank, edit the text of the program",
    "MIL438": "fix the value, or write the operation otherwise; `miltext check` reports its errors",
    "MIL439": "leave out --io, or raise the function's opset in the text, as in `func main<ios16>`",
    "MIL440": "compile it with Apple's compiler on a Mac, `xcrun coremlc compile`; miltext writes an .mlpackage of it",
    "MIL441": "compile it with Apple's compiler, or have guesses written with `build --allow-unproven`",
    "MIL444": "name an .mlmodelc with -o, or leave the option out",
    "MIL446": "name another value with --input, or leave it out: then the part has what makes it",
    "MIL447": "leave it out, or name an output that needs it",
    "MIL448": "name values that operations of one function's own block make, each once; `miltext print` shows them all",
    "MIL452": "in Python, ranges={...} has them; the --description of a build can have them, too",
    "MIL454": "leave out --no-loss if that is meant, or keep what is lost: in the program, or with --description",
    "MIL456": "one value has one type in all models of a pipeline: cast or reshape it inside of the model",
    "MIL457": "keep what the other model takes, or edit that model first",
    "MIL458": "leave the name as it is: an app, or another file, asks this model for it by name",
    "MIL470": "a description is what `miltext describe` writes: TOML as UTF-8",
    "MIL486": "have the test pass on the model itself, and fail where what is looked for is gone: `--test` is a shell "
    "command, which exits with 0 then",
    "MIL845": "name revisions of the repository that the current folder is in, as git takes them: HEAD~, main..topic",
    "MIL846": "name a file or folder that git has in one of the two revisions; of a submodule, run this inside of it",
    "MIL860": "name a model that `git status` calls unmerged; `git checkout -m -- FILE` brings back a conflict that "
    "was added to the index",
    "MIL861": "take a side from its commit: `git restore --source=COMMIT --staged --worktree -- MODEL`",
    "MIL862": "keep a copy of it elsewhere, then add --force",
    "MIL863": "edit the text that is beside the model, MODEL.conflict.mil, or take `ours` or `theirs`",
}
"""The way out of each error, by its code; `diagnostics.codes` describes each code."""


class WeightsError(ModelError):
    """An unreadable or unwritable weight file, or a refused name of one: MIL301 to MIL311."""


def reason_of(failure: Exception) -> str:
    """Return the reason for a failure, in the words of the system or of the reader, without a path or a class of
    Python's.

    A missing key is named.
    """
    if isinstance(failure, KeyError):
        return f"it has no {quote(str(failure.args[0]))}"
    if isinstance(failure, OSError) and failure.strerror:
        return failure.strerror
    return str(failure) or "it is in another form"


def refusal(
    code: str, message: str, path: str | os.PathLike[str] | None = None, *notes: Note, about: object = None
) -> ModelError:
    """Return a ModelError, for MIL30x a WeightsError, with the problem and the way out.

    `path` is its file, and `about` its Subject in the program.
    """
    kind = WeightsError if code.startswith(("MIL30", "MIL31")) else ModelError
    name = None if path is None else os.fspath(path)
    made = kind([error(code, message, None, *notes, Note(WAYS_OUT[code]))], path=name)
    made.about = about
    return made
