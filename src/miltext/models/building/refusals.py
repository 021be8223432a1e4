"""What may keep a model from being built, and what to do about each."""

from __future__ import annotations

from contextlib import AbstractContextManager

from miltext.diagnostics import Diagnostic, ModelError, Note, error, refusing, warning

WAYS_OUT = {
    "MIL401": "name another file with -o: `miltext build` writes .mlpackage and .mlmodel, `miltext print` and `miltext "
    "infer` .mil, `miltext print --html` .html, `miltext parse` .pb and .txtpb",
    "MIL402": "name another output, or move away what is there",
    "MIL403": "copy the model with its links followed (cp -RL) and build from that",
    "MIL404": "name with --from the .mlpackage, .mlmodel or .mlmodelc that the program belongs to",
    "MIL405": "shorten the program: --externalize moves values into the weight file; put pipelines beside one another",
    "MIL410": "give --from the model that the text was printed from, or print without --elide",
    "MIL411": "leave the type of an elided literal as it was printed, or print without --elide and write the values",
    "MIL412": "save the array with numpy.save in a folder beside the text, in the type and shape of the value",
    "MIL420": "Core ML takes and gives tensors of fp16, fp32, fp64, int32 and int8, states, and what `classify` makes: "
    "cast the value with `cast`, or leave it inside the program",
    "MIL421": "name the opset in the text, as in `func main<ios18>`",
    "MIL422": "return only what an operation of the function's own block makes, or an input",
    "MIL423": "convert the model's source with coremltools, convert_to='mlprogram'",
    "MIL430": "use the name of a value; `miltext print` shows them all",
    "MIL431": "choose a name that the function does not use",
    "MIL432": "only a value of the function's own block can be an output, and only once",
    "MIL433": "name a place inside the text, as Core ML's error does: LINE or LINE:COL",
}
"""The way out of each error, by its code.

MIL401 an output of another kind; MIL402 a target that is not replaced; MIL403 a link in a package; MIL404 a model
that is asked for and not there; MIL405 a model too large or too deep to write; MIL410 and MIL411 an elided literal
that the original does not have, or has under another type; MIL412 an array that is no value of its type; MIL420 a type
that no description has; MIL421 an opset whose specification is unknown; MIL422 an output that nothing makes; MIL423 a
compiled model that is no ML Program; MIL430 a name that is not there, MIL431 one that is taken; MIL432 a value that
cannot be an output; MIL433 a place that is not in the text.
"""


def refusal(code: str, message: str, path: str | None = None, *notes: Note, about: object = None) -> ModelError:
    """Return a ModelError that says what is wrong, what to do about it, and which Subject of the program it is
    about.
    """
    made = ModelError([error(code, message, None, *notes, Note(WAYS_OUT[code]))], path=path)
    made.about = about
    return made


def refusing_depth(path: str | None = None) -> AbstractContextManager[None]:
    """Return a `with` block in which protobuf refuses what stands inside one another too deeply, and nothing else
    (MIL405).
    """
    message = "the model's pipelines are nested more deeply than protobuf's readers allow"
    return refusing(lambda _: refusal("MIL405", message, path))


def caution(code: str, message: str) -> Diagnostic:
    """Return a warning: the model is built, and something about it is to be known.

    MIL450 a description made anew that says less; MIL451 weights that the original lacks too; MIL452 sizes of an
    input that nothing tells; MIL453 a pipeline whose own description may no longer fit.
    """
    return warning(code, message)
