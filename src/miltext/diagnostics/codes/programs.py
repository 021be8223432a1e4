"""Codes of programs (operations, names, types, values, runs and comparisons), of git, and of internal errors."""

from __future__ import annotations

from miltext.diagnostics.codes.table import ERROR, NOTE, WARNING, code
from miltext.diagnostics.home import install

# ---- operations and their signatures

UNKNOWN_OPERATION = code("MIL501", "unknown operation", WARNING, "correct the name, if a known operation was intended")
NOT_IN_OPSET = code(
    "MIL502",
    "not available in this opset",
    ERROR,
    "raise the function's opset, which requires a newer system, or remove it",
)
MISSING_PARAMETER = code("MIL503", "missing required parameter", ERROR, "add the arguments")
UNKNOWN_PARAMETER = code("MIL504", "unknown parameter", ERROR, "correct the name, or remove the argument")
UNSUPPORTED_DTYPE = code("MIL505", "unsupported data type", ERROR, "cast the value, or compute it in a supported type")
DTYPES_DIFFER = code(
    "MIL506", "data types must match", ERROR, "cast one of the values, or write the constant in the other's type"
)
NOT_CONSTANT = code("MIL507", "argument must be a compile-time constant", ERROR, "bind the parameter to a constant")
SEVERAL_VALUES = code("MIL508", "several values for a single parameter", ERROR, "bind a single value")
WRONG_KIND_OF_ARGUMENT = code(
    "MIL509",
    "argument of the wrong kind",
    ERROR,
    "read the state with `read_state`, or bind the state to a parameter that accepts states",
)
WRONG_OUTPUT_COUNT = code("MIL510", "wrong number of outputs", ERROR, "declare as many outputs as the operation has")
WRONG_BLOCK_COUNT = code("MIL511", "wrong number of blocks", ERROR, "write as many blocks as the operation has")
MISFIT_BLOCK = code("MIL512", "block does not match its operation", ERROR, "correct the block's inputs or outputs")
REQUIRED_DEFAULT = code(
    "MIL513",
    "default that some loaders require",
    WARNING,
    "write the argument that the message names. Its value is the default",
)
WRONG_ARGUMENT_RANK = code(
    "MIL514",
    "argument of the wrong rank",
    ERROR,
    "write the argument as in the message, or reshape the named value",
)
WRONG_ARGUMENT_SHAPE = code(
    "MIL515",
    "argument of the wrong shape",
    ERROR,
    "change this argument or the argument in the note",
)
AXIS_OUT_OF_RANGE = code("MIL516", "axis out of range", ERROR, "choose an axis in the message's range")
REPEATED_AXIS = code("MIL517", "repeated axis", ERROR, "remove one of them")
VALUE_OUT_OF_RANGE = code("MIL518", "value out of range", ERROR, "write a number in the range that the message gives")
UNKNOWN_WORD = code("MIL519", "unknown word", ERROR, "write one of the words in the message")
POSITION_OUTSIDE_TENSOR = code(
    "MIL520",
    "position outside the tensor",
    ERROR,
    "use an existing position. For the rest of a dimension, use `end_mask` in a slice by index, or -1 as a `size`",
)
SIZES_DO_NOT_ADD_UP = code(
    "MIL521",
    "inconsistent sizes",
    ERROR,
    "change one of the numbers in the message. In a `reshape`, -1 stands for the remaining size",
)
WRONG_EQUATION = code(
    "MIL522",
    "invalid equation",
    ERROR,
    "write an equation for tensors of this rank, after a `transpose` if their dimensions are in another order; or use "
    "`matmul`",
)
ATTRIBUTE_AS_ARGUMENT = code("MIL523", "attribute among the arguments", ERROR, "move it into the brackets")

# ---- structure: names, types and values

INVALID_IDENTIFIER = code(
    "MIL601", "invalid identifier", ERROR, "rename the value. `miltext rename` does so everywhere"
)
DUPLICATE_VALUE = code("MIL602", "duplicate value", ERROR, "rename one of the values")
SHADOWED_VALUE = code("MIL603", "shadowed value", WARNING, "rename one of them to avoid confusion")
UNDEFINED_VALUE = code("MIL604", "undefined value", ERROR, "correct the name, or define the value")
USE_BEFORE_DEFINITION = code("MIL605", "use before definition", ERROR, "move the definition before its first use")
VALUE_OF_OTHER_BLOCK = code(
    "MIL606", "value of another block", ERROR, "return the value from that block, and use the operation's output"
)
MISSING_OPSET_BLOCK = code(
    "MIL607", "missing block for the opset", ERROR, "write a block for the opset, or change the function's opset"
)
BLOCK_OUTPUTS_DIFFER = code(
    "MIL608", "blocks with different outputs", ERROR, "return the same names and types from each block"
)
UNKNOWN_OPSET = code("MIL609", "unknown opset", WARNING, "correct the name, if a known opset was intended")
WRONG_RANK = code("MIL610", "wrong rank", ERROR, "remove the rank, which follows from the dimensions")
CONSTANT_OF_UNKNOWN_SIZE = code("MIL611", "constant of unknown size", ERROR, "write the sizes")
WRONG_ELEMENT_COUNT = code("MIL612", "wrong number of elements", ERROR, "correct the type or the value")
VALUE_TYPE_MISMATCH = code("MIL613", "value does not match its type", ERROR, "correct the type or the value")
INVALID_BLOBFILE = code(
    "MIL614", "invalid BLOBFILE reference", ERROR, "name the file and the record's offset. `miltext weights` lists them"
)
DTYPE_NOT_IN_WEIGHT_FILES = code(
    "MIL615",
    "data type not allowed in a weight file",
    ERROR,
    "write the value in the program, or choose another data type",
)
INCOMPLETE_TYPE = code("MIL616", "missing or incomplete type", ERROR, "write the type. A draft may leave it out")
MISSING_VALUE = code("MIL617", "missing value", ERROR, "bind the argument or remove it, or write the missing value")
MISPLACED_STATE = code("MIL618", "state not allowed here", ERROR, "write the type of the operation's result")
UNUSUAL_FIELD = code("MIL619", "unusual field for a value", WARNING, "write a plain literal, without the field's name")
STATE_NOT_FP16 = code(
    "MIL620",
    "state of another data type than fp16",
    ERROR,
    "make the state fp16. Cast read values to fp32, and written values to fp16",
)
STATE_OF_UNKNOWN_SIZE = code("MIL621", "state of unknown size", ERROR, "write the sizes of the state")
LATER_CONSTANT_TYPE = code(
    "MIL622",
    "constant of a data type from a later opset",
    ERROR,
    "raise the function's opset to ios18 or later, or write the constant as int8 or uint8",
)
STATE_AS_OUTPUT = code(
    "MIL623", "state among the outputs", ERROR, "return the output of `read_state` in place of the state"
)
NO_OUTPUTS = code(
    "MIL624",
    "function without outputs",
    ERROR,
    "return at least one value. If the function only writes a state, return the written value",
)
OUTPUT_TWICE = code(
    "MIL625", "value returned twice", WARNING, "return the output of an `identity` of the value, under another name"
)
INPUT_AS_OUTPUT = code(
    "MIL626", "input returned", WARNING, "return the output of an `identity` of the input, under another name"
)
OPSET_BY_TEXT_NAME = code(
    "MIL627",
    "opset under its text name",
    WARNING,
    "write the opset without quotes. For a model, print the text, correct it, and build with `original=`",
)
MISSPELLED_ATTRIBUTE = code("MIL630", "misspelled attribute", WARNING, "write `name`")

# ---- inferred types

TYPE_MISMATCH = code("MIL701", "type mismatch", ERROR, "write the inferred type, or correct the inputs")
INCOMPATIBLE_INPUTS = code("MIL702", "incompatible inputs", ERROR, "correct the inputs listed in the message")
OUTPUT_COUNT_FOR_INPUTS = code(
    "MIL703", "wrong number of outputs for these inputs", ERROR, "declare as many outputs as in the message"
)
NOT_INFERRED = code("MIL711", "type cannot be inferred", ERROR, "write the type")
DRAFT = code(
    "MIL712",
    "draft",
    NOTE,
    "run `miltext infer` to fill in the missing parts. `miltext build` also does that, and builds a model",
)
USELESS_IGNORE = code(
    "MIL713",
    "comment that ignores nothing",
    WARNING,
    "remove the comment, or the code from it, as `miltext check --fix` does",
)
IGNORE_WITHOUT_CODE = code(
    "MIL714",
    "ignore comment without a known code",
    WARNING,
    "write the codes, or beginnings of codes, in brackets, with commas between them",
)

# ---- coremltools

NOT_LOADABLE = code(
    "MIL801", "not loadable by coremltools", WARNING, "change the program, if coremltools has to load the model"
)

# ---- running programs

NO_RULE = code(
    "MIL830",
    "operation without a rule",
    ERROR,
    "remove the operation, or return values that do not depend on it",
)
MISSING_INPUT = code("MIL831", "missing input", ERROR, "give an array of the type that the note shows")
UNKNOWN_INPUT = code("MIL832", "unknown input or state", ERROR, "give the array under the right name")
WRONG_INPUT_SHAPE = code(
    "MIL833",
    "input of the wrong shape",
    ERROR,
    "give an array of that shape. An image as an array is [1, channels, height, width]",
)
WRONG_INPUT_DTYPE = code(
    "MIL834",
    "input of the wrong data type",
    ERROR,
    "convert the array to numbers of the declared type, for example with `astype`",
)
NOT_FINITE_INPUT = code(
    "MIL835",
    "NaN or infinity in an input",
    ERROR,
    "fix the array. If the program expects them, as in a mask of infinities, allow them",
)
UNREADABLE_INPUT_FILE = code(
    "MIL836",
    "unreadable array or picture",
    ERROR,
    "write the file again with `numpy.save` or `numpy.savez`; scale the numbers of such a picture to 0 to 255",
)
UNKNOWN_RUN_NAME = code(
    "MIL837", "unknown function or value", ERROR, "choose one in the program; `miltext print` shows them"
)
NO_RESULT = code(
    "MIL838",
    "operation without a result",
    ERROR,
    "pass inputs with a defined result, or fix the operation. `values=` shows its arguments",
)
NO_PILLOW = code("MIL839", "pillow is not installed", ERROR, f"{install('images')}")
TOO_FAR = code(
    "MIL841",
    "value too far from its reference",
    ERROR,
    "check this operation for numbers too small for fp16, which become 0. Scale its inputs, keep it in fp32, or lower "
    "the threshold with `min_snr=`",
)
PORTS_DIFFER = code(
    "MIL842",
    "inputs or outputs differ between two models",
    ERROR,
    "compare models with the same inputs and outputs, or rename these in one model, so that the names match",
)
NOTHING_TO_COMPARE = code(
    "MIL843", "nothing to compare", ERROR, "give an output of both models the same name, or compare other models"
)
UNKNOWN_COMPARED_VALUE = code(
    "MIL844", "unknown value to compare with", ERROR, "save the arrays under the names that `miltext print` shows"
)

# ---- comparing revisions of git

UNKNOWN_REVISION = code(
    "MIL845",
    "unknown git revision",
    ERROR,
    "name revisions of the current folder's repository in git's syntax: HEAD~, main..topic",
)
FILE_IN_NO_REVISION = code(
    "MIL846",
    "file in neither revision",
    ERROR,
    "name a file or folder of one of the revisions; for a submodule, run the command in its folder",
)

# ---- ranges of numbers

OUT_OF_RANGE = code(
    "MIL850",
    "sum or result out of range",
    WARNING,
    "scale the inputs or the weights, and the result afterwards, or give the smaller range that the inputs really have",
)
FAILS_IN_HALF = code(
    "MIL851", "function that fails in fp16", WARNING, "write the function in the way that the message shows"
)
UNKNOWN_RANGE = code("MIL852", "unknown range of an input", NOTE, "give the range of the input")

# ---- conflicts that git left

NO_CONFLICT = code(
    "MIL860",
    "model without a conflict",
    ERROR,
    "name a model that `git status` lists as unmerged. `git checkout -m -- FILE` restores a conflict that was added "
    "to the index",
)
COMMITS_UNKNOWN = code(
    "MIL861",
    "ambiguous commits of a merge",
    ERROR,
    "take a side from its commit: `git restore --source=COMMIT --staged --worktree -- MODEL`",
)
CHANGES_WOULD_BE_LOST = code(
    "MIL862",
    "changes that would be lost",
    ERROR,
    "copy the changed file elsewhere, then run `miltext merge --force --resolve` again",
)
UNRESOLVED_CONFLICT = code(
    "MIL863",
    "text does not resolve a conflict",
    ERROR,
    "edit the text that is beside the model, MODEL.conflict.mil, or take `ours` or `theirs`",
)

# ---- rewriting by rules

WRONG_RULE = code("MIL870", "mistake in a rule file", ERROR, "correct the rule; `docs/rewrite.md` describes rule files")
NEVER_AT_REST = code(
    "MIL871",
    "rules that never come to rest",
    ERROR,
    "change a rule so that its replacement does not match again: with `where`, or an `unless_` function",
)
UNPROVEN_RULE = code(
    "MIL872",
    "rule without the declared exactness",
    ERROR,
    "correct the rule, or declare the exactness that it has. The note shows the numbers",
)
UNKNOWN_SITE = code("MIL873", "unknown site or rule", ERROR, "name a site or a rule that a dry run lists")
RULE_MATCHES = code(
    "MIL874", "match of a rule", NOTE, "apply the rule with `miltext rewrite`, or take it out of the setting `rules`"
)
RULES_NOT_PROGRAM = code(
    "MIL875",
    "rule file in place of a program",
    ERROR,
    "name a model or a program. `miltext rewrite RULES MODEL` applies the rules to it",
)

# ---- known faults of Core ML and coremltools, on request

WRONG_NUMBERS = code(
    "MIL881",
    "known fault: wrong numbers",
    WARNING,
    "follow the message, or ignore the code where it cannot apply",
)
NOT_FINITE = code(
    "MIL882",
    "known fault: infinities or NaN",
    WARNING,
    "follow the message, or ignore the code where the numbers are small enough",
)
STOPS_CORE_ML = code(
    "MIL883",
    "known fault: Core ML crashes or refuses the program",
    WARNING,
    "follow the message, or ignore the code if the model is not for these systems",
)
CHANGED_BY_CONVERSION = code(
    "MIL884",
    "known fault: conversion changes the program, or fails",
    NOTE,
    "follow the message before coremltools converts the program again",
)

# ---- placement on backends

UNREADABLE_PLAN = code(
    "MIL890",
    "file without a placement",
    ERROR,
    "name a dump of the runtime, or an export of an MLComputePlan with the operation and the device in each row",
)
UNKNOWN_PROFILE = code("MIL891", "unknown profile", ERROR, "choose a profile of `miltext check --profile list`")
NOT_ON_ENGINE = code(
    "MIL892",
    "operation that the Neural Engine does not take",
    WARNING,
    "follow the message, or ignore the code where the operation may run on the CPU",
)
NOT_PAIRED = code(
    "MIL893",
    "placements that cannot be compared",
    ERROR,
    "compare exports that name the output of each operation",
)

UNKNOWN_ON_ENGINE = code(
    "MIL894",
    "operations without a rule",
    NOTE,
    "dump the model on a device, and read the dump with `miltext placement`",
)

UNKNOWN_DEVICE = code(
    "MIL895",
    "unknown device",
    WARNING,
    "name the device as Core ML does: CPU, GPU or Neural Engine",
)

# ---- internal errors

INTERNAL_ERROR = code("MIL900", "internal error", ERROR, "please report it, with the text if that can be shared")
