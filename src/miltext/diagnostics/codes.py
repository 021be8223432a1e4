"""The codes of all diagnostics, with their titles. docs/diagnostics.md has a section for each.

A code keeps its meaning for good. A code that is no longer used is not reused.
"""

from __future__ import annotations

import re
from pathlib import Path

TITLES: dict[str, str] = {
    # The syntax of a text.
    "MIL001": "empty text",
    "MIL002": "byte-order mark",
    "MIL003": "unexpected character",
    "MIL004": "unterminated string or comment",
    "MIL005": "unexpected end of the text",
    "MIL006": "nested too deeply",
    "MIL010": "syntax error",
    "MIL020": "number out of range",
    "MIL021": "element does not match its type",
    "MIL022": "literal does not match its shape",
    "MIL023": "unknown escape",
    "MIL024": "control character",
    "MIL025": "spelling of another language",
    # Text that does not become a Program.
    "MIL101": "unknown version of MIL text",
    "MIL102": "reserved word used as a name",
    "MIL103": "duplicate definition",
    "MIL104": "unknown type",
    "MIL105": "literal and type of different kinds",
    "MIL106": "type without a shape for a literal",
    "MIL107": "elided literal",
    "MIL108": "malformed BLOBFILE",
    "MIL109": "opset of a single operation",
    "MIL110": "type of the Core ML runtime",
    "MIL111": "value in a file of arrays",
    "MIL112": "missing type in a draft",
    "MIL113": "short spelling of a draft",
    "MIL114": "argument without a parameter",
    "MIL115": "nested operation without one value",
    "MIL117": "unknown word in the marker of a draft",
    "MIL116": "record without a type",
    # Printing.
    "MIL201": "not expressible in Apple's syntax",
    "MIL202": "unknown field",
    "MIL203": "miltext's own spelling",
    "MIL204": "unproven construct",
    "MIL205": "text does not read back equal",
    "MIL206": "file cannot hold the Program",
    "MIL210": "left out by Apple's compiler",
    "MIL211": "unproven output of Apple's compiler",
    "MIL212": "buildInfo is not a dictionary of strings",
    "MIL213": "flexible size out of range",
    # Models as files and folders.
    "MIL250": "unreadable file",
    "MIL251": "not a model folder",
    "MIL252": "git-lfs pointer instead of a model",
    "MIL253": "not a Model or Program",
    "MIL254": "not an ML Program",
    "MIL255": "inconsistent package",
    "MIL256": "not a text file",
    "MIL257": "ambiguous or unknown model of a pipeline",
    "MIL258": "unreadable description of a compiled model",
    "MIL259": "syntax error in protobuf's text",
    "MIL260": "unusual description of a compiled model",
    # Weight files.
    "MIL301": "weight file outside the model",
    "MIL302": "missing weight file",
    "MIL303": "git-lfs pointer instead of a weight file",
    "MIL304": "not a weight file",
    "MIL305": "no record at the offset",
    "MIL306": "invalid record",
    "MIL307": "wrong count of records",
    "MIL308": "value cannot be stored in a weight file",
    "MIL309": "record does not match its value",
    # Writing models.
    "MIL401": "ending does not match the output",
    "MIL402": "target would be lost",
    "MIL403": "link in a package",
    "MIL404": "no model in the original",
    "MIL405": "model too large or too deep",
    "MIL410": "unknown elided literal",
    "MIL411": "elided literal of another type",
    "MIL412": "array does not match its type",
    "MIL413": "missing array file",
    "MIL414": "unreadable array file",
    "MIL415": "array of an unknown data type",
    "MIL416": "unknown key of an array",
    "MIL417": "array with a value out of range",
    "MIL418": "array file changed",
    "MIL419": "safetensors is not installed",
    "MIL420": "type not allowed in a description",
    "MIL421": "opset without a known specification",
    "MIL422": "undefined output",
    "MIL423": "compiled model is not an ML Program",
    "MIL430": "unknown name",
    "MIL431": "name already in use",
    "MIL432": "value cannot be an output",
    "MIL433": "position outside the text",
    "MIL450": "description with fewer details",
    "MIL451": "weights missing in the original",
    "MIL452": "unknown sizes of an input",
    "MIL453": "outdated description of a pipeline",
    "MIL460": "unreadable settings",
    "MIL461": "unknown setting",
    "MIL462": "setting of the wrong type",
    "MIL463": "unknown code in the settings",
    "MIL464": "pattern that fits no file",
    "MIL480": "coremltools is not installed",
    "MIL481": "weights in several folders",
    # Operations and their signatures.
    "MIL501": "unknown operation",
    "MIL502": "not available in this opset",
    "MIL503": "missing required parameter",
    "MIL504": "unknown parameter",
    "MIL505": "unsupported data type",
    "MIL506": "data types must match",
    "MIL507": "argument must be a compile-time constant",
    "MIL508": "several values for a single parameter",
    "MIL509": "argument of the wrong kind",
    "MIL510": "wrong number of outputs",
    "MIL511": "wrong number of blocks",
    "MIL512": "block does not match its operation",
    "MIL513": "default that some loaders require",
    "MIL514": "argument of the wrong rank",
    "MIL515": "argument of the wrong shape",
    "MIL516": "axis out of range",
    "MIL517": "repeated axis",
    "MIL518": "value out of range",
    "MIL519": "unknown word",
    "MIL520": "position outside the tensor",
    "MIL521": "sizes that do not add up",
    "MIL522": "wrong equation",
    "MIL523": "attribute among the arguments",
    # Structure: names, types and values.
    "MIL601": "invalid identifier",
    "MIL602": "duplicate value",
    "MIL603": "shadowed value",
    "MIL604": "undefined value",
    "MIL605": "use before definition",
    "MIL606": "value of another block",
    "MIL607": "missing block for the opset",
    "MIL608": "blocks with different outputs",
    "MIL609": "unknown opset",
    "MIL610": "wrong rank",
    "MIL611": "constant of unknown size",
    "MIL612": "wrong number of elements",
    "MIL613": "type mismatch between a value and its type",
    "MIL614": "invalid BLOBFILE reference",
    "MIL615": "data type not allowed in a weight file",
    "MIL616": "missing or incomplete type",
    "MIL617": "missing value",
    "MIL618": "state not allowed here",
    "MIL619": "unusual field for a value",
    # Inferred types.
    "MIL701": "type mismatch",
    "MIL702": "incompatible inputs",
    "MIL703": "wrong number of outputs for these inputs",
    "MIL711": "type cannot be inferred",
    "MIL712": "draft",
    "MIL713": "comment that ignores nothing",
    "MIL714": "ignore comment without a known code",
    # coremltools.
    "MIL801": "not loadable by coremltools",
    # Programs that are run.
    "MIL830": "operation without a rule",
    "MIL831": "missing input",
    "MIL832": "unknown input or state",
    "MIL833": "input of the wrong shape",
    "MIL834": "input of the wrong data type",
    "MIL835": "NaN or infinity in an input",
    "MIL836": "unreadable array or picture",
    "MIL837": "unknown function or value",
    "MIL838": "operation without a result",
    "MIL839": "pillow is not installed",
    "MIL841": "value too far from its reference",
    "MIL842": "inputs or outputs that differ between two models",
    "MIL843": "nothing to compare",
    "MIL844": "unknown value to compare with",
    # Internal errors.
    "MIL900": "internal error",
}


def page() -> Path:
    """Return the page that explains each code: beside this module when installed, in `docs/` in a source tree."""
    here = Path(__file__).resolve().parent
    installed = here / "diagnostics.md"
    return installed if installed.exists() else here.parents[2] / "docs" / "diagnostics.md"


def explanation(code: str) -> str:
    """Return the section of a code, in Markdown: meaning, example, fix. Raise KeyError for an unknown code."""
    _, heading, rest = page().read_text(encoding="utf-8").partition(f"\n### {code}\n")
    if not heading:
        raise KeyError(code)
    return re.split(r"^##", rest, maxsplit=1, flags=re.MULTILINE)[0].strip() + "\n"
