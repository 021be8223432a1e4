"""The codes of all diagnostics: what each stands for, in a line; docs/diagnostics.md has a part for each.

A code keeps its meaning for good; one that is no longer used is not given to anything else.
"""

from __future__ import annotations

import re
from pathlib import Path

TITLES: dict[str, str] = {
    # The text: what is no MIL text.
    "MIL001": "the text is empty",
    "MIL002": "a byte-order mark",
    "MIL003": "characters that begin nothing",
    "MIL004": "a string or comment that is not closed",
    "MIL005": "the text ends too early",
    "MIL006": "nested too deeply",
    "MIL010": "something else was expected",
    "MIL020": "a number out of range",
    "MIL021": "an element that is not of its type",
    "MIL022": "a literal that is not nested like its type",
    "MIL023": "an escape that no string has",
    "MIL024": "a raw control character",
    # The text: what no Program can hold.
    "MIL101": "an unknown version of MIL text",
    "MIL102": "a reserved word as a name",
    "MIL103": "something twice that may stand once",
    "MIL104": "an unknown type",
    "MIL105": "a literal of another kind than its type",
    "MIL106": "a type that no plain literal can be nested like",
    "MIL107": "an elided literal",
    "MIL108": "a BLOBFILE that is not spelled so",
    "MIL109": "an opset of an operation's own",
    "MIL110": "a type of the Core ML runtime's own",
    "MIL111": "a value that stands in a .npy file",
    "MIL112": "a type that is left out",
    # Printing.
    "MIL201": "Apple's syntax cannot say this",
    "MIL202": "a field that this version of the schema does not know",
    "MIL203": "a spelling of miltext's own",
    "MIL204": "an unproven construct",
    "MIL205": "a text that does not read back equal",
    "MIL206": "a file that would not hold the Program",
    "MIL210": "something that Apple's compiler leaves out",
    "MIL211": "how Apple's compiler writes this is unproven",
    "MIL212": "a buildInfo that is no dictionary of strings",
    "MIL213": "a flexible size that int32 does not hold",
    # Models as files and folders.
    "MIL250": "a file that cannot be read",
    "MIL251": "a folder that is no model",
    "MIL252": "a git-lfs pointer in place of a model",
    "MIL253": "bytes that are no Model or Program",
    "MIL254": "a model that is no ML Program",
    "MIL255": "a package that does not hold together",
    "MIL256": "a text that is none",
    "MIL257": "a pipeline, or no such model in it",
    "MIL258": "a compiled model whose description cannot be read",
    "MIL259": "a mistake in protobuf's text",
    "MIL260": "a compiled model's description with an oddity",
    # Weight files.
    "MIL301": "a weight file outside its model's folder",
    "MIL302": "a weight file that is not there",
    "MIL303": "a git-lfs pointer in place of a weight file",
    "MIL304": "a file that is no weight file",
    "MIL305": "no record at this offset",
    "MIL306": "a record that cannot be right",
    "MIL307": "records that the header does not count",
    "MIL308": "a value that no weight file can store",
    "MIL309": "a record of something else than its value",
    # Writing models.
    "MIL401": "an output of another kind",
    "MIL402": "a target that is not replaced",
    "MIL403": "a link in a package",
    "MIL404": "no model to take this from",
    "MIL405": "a model too large or too deep to write",
    "MIL410": "an elided literal that the original does not have",
    "MIL411": "an elided literal under another type",
    "MIL412": "an array that is no value of its type",
    "MIL420": "a type that no model's description has",
    "MIL421": "an opset whose specification is unknown",
    "MIL422": "an output that nothing makes",
    "MIL423": "a compiled model that is no ML Program",
    "MIL430": "a name that is not there",
    "MIL431": "a name that is taken",
    "MIL432": "a value that cannot be an output",
    "MIL433": "a place that is not in the text",
    "MIL450": "a description made anew that says less",
    "MIL451": "weights that the original lacks too",
    "MIL452": "sizes of an input that nothing tells",
    "MIL453": "a pipeline whose description may no longer fit",
    "MIL480": "coremltools is not installed",
    "MIL481": "weights that coremltools would not find",
    # Operations and their signatures.
    "MIL501": "an unknown operation",
    "MIL502": "something that a later opset brought",
    "MIL503": "a required parameter is missing",
    "MIL504": "an unknown parameter",
    "MIL505": "a data type that the parameter does not take",
    "MIL506": "data types that must be the same and are not",
    "MIL507": "a value that is not known in time",
    "MIL508": "several values for a parameter that takes one",
    "MIL509": "a tensor, list or state where another is taken",
    "MIL510": "a wrong number of outputs",
    "MIL511": "a wrong number of blocks",
    "MIL512": "a block that takes or gives back something else",
    "MIL513": "an argument that Core ML may ask for",
    # Structure: names, types and values.
    "MIL601": "a name that is no identifier",
    "MIL602": "a name that is defined twice",
    "MIL603": "a name that hides another",
    "MIL604": "a name that is not defined",
    "MIL605": "a name that is used before it is defined",
    "MIL606": "a name from inside another block",
    "MIL607": "no block for the function's opset",
    "MIL608": "blocks of a function that give back different values",
    "MIL609": "an unknown opset",
    "MIL610": "a rank that is not the number of dimensions",
    "MIL611": "a constant of an unknown size",
    "MIL612": "a count of elements that its type has no room for",
    "MIL613": "a value of another kind than its type",
    "MIL614": "a BLOBFILE that leads to no record",
    "MIL615": "a data type that no weight file holds",
    "MIL616": "a type that is missing or incomplete",
    "MIL617": "a value that is missing",
    "MIL618": "a state where none can be",
    "MIL619": "values in an unusual field",
    # Types that follow from others.
    "MIL701": "a declared type that cannot be right",
    "MIL702": "inputs that cannot go together",
    "MIL703": "another number of outputs than there are",
    "MIL711": "a type that cannot be inferred",
    "MIL712": "a draft",
    # What others say, and faults.
    "MIL801": "coremltools does not load this",
    "MIL900": "a fault in miltext",
}


def page() -> Path:
    """The page that tells of each code: beside this module when installed, in `docs/` in a source tree."""
    here = Path(__file__).resolve().parent
    installed = here / "diagnostics.md"
    return installed if installed.exists() else here.parents[2] / "docs" / "diagnostics.md"


def explanation(code: str) -> str:
    """What the page says of a code, in Markdown: what it means, an example, the mend. Raises KeyError for no code."""
    _, heading, rest = page().read_text(encoding="utf-8").partition(f"\n### {code}\n")
    if not heading:
        raise KeyError(code)
    return re.split(r"^##", rest, maxsplit=1, flags=re.MULTILINE)[0].strip() + "\n"
