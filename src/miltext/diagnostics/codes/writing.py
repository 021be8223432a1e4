"""Codes of writing and editing models, of settings, descriptions, generated programs, reduction and resizing."""

from __future__ import annotations

from miltext.diagnostics.codes.table import ERROR, WARNING, code
from miltext.diagnostics.home import install

# ---- writing models

WRONG_ENDING = code(
    "MIL401",
    "ending does not match the output",
    ERROR,
    "choose another ending, or another verb; docs/formats.md lists the endings that each verb writes",
)
TARGET_WOULD_BE_LOST = code(
    "MIL402", "target would be lost", ERROR, "name another output, or move the existing file away"
)
LINK_IN_PACKAGE = code(
    "MIL403", "link in a package", ERROR, "copy the model with its links followed (cp -RL) and build from that"
)
NO_MODEL_IN_ORIGINAL = code(
    "MIL404",
    "no model in the original",
    ERROR,
    "give the .mlpackage, .mlmodel or .mlmodelc of the program with `original=`",
)
MODEL_TOO_LARGE = code(
    "MIL405",
    "model too large or too deep",
    ERROR,
    "move values into the weight file with `externalize=`, and put nested pipelines side by side",
)
ARRAYS_ELSEWHERE = code(
    "MIL406",
    "text without its arrays",
    ERROR,
    "write the text beside its arrays, or first copy the arrays to its folder",
)
COMMENTS_LOST = code(
    "MIL407",
    "lost comments",
    WARNING,
    "copy the comments that still hold into the new text, or keep the old text beside the rules",
)
IMPOSSIBLE_IMPORT = code(
    "MIL409",
    "model that cannot be imported",
    ERROR,
    "name an ML Program in the text's folder or below, by its path from there, without errors of its own",
)
UNKNOWN_ELIDED_LITERAL = code(
    "MIL410",
    "unknown elided literal",
    ERROR,
    "name the model of the text with `original=`, or print the text without `elide=`",
)
ELIDED_LITERAL_TYPE = code(
    "MIL411",
    "elided literal of another type",
    ERROR,
    "restore the printed type of the literal, or print without `elide=` and write the values",
)
MISFIT_ARRAY = code(
    "MIL412",
    "array does not match its type",
    ERROR,
    "give the value the array's type and shape, or save the array with the value's type and shape",
)
MISSING_ARRAY_FILE = code(
    "MIL413",
    "missing array file",
    ERROR,
    "put the file in the text's folder or below, and name it by its path from there",
)
UNREADABLE_ARRAY_FILE = code(
    "MIL414",
    "unreadable array file",
    ERROR,
    "run `git lfs pull` for a git-lfs pointer; write any other file again, with numpy.save, numpy.savez or safetensors",
)
UNKNOWN_ARRAY_TYPE = code(
    "MIL415",
    "array of an unknown data type",
    ERROR,
    "save the array in a type that MIL has: bool, integers, or floats of 64 bits or fewer",
)
UNKNOWN_ARRAY_KEY = code("MIL416", "unknown key of an array", ERROR, "name one of the arrays in the file")
ARRAY_VALUE_OUT_OF_RANGE = code(
    "MIL417", "array with a value out of range", ERROR, "choose a type that contains the value, or fix the value"
)
ARRAY_FILE_CHANGED = code(
    "MIL418", "array file changed", ERROR, "run the command again when no other program writes to the file"
)
NO_SAFETENSORS = code("MIL419", "safetensors is not installed", ERROR, f"install it: {install('safetensors')}")
TYPE_NOT_IN_DESCRIPTIONS = code(
    "MIL420",
    "type not allowed in a description",
    ERROR,
    "cast the value with `cast`, or keep it inside the program. Inputs and outputs of Core ML are tensors of fp16, "
    "fp32, fp64, int32 and int8, states, and the outputs of `classify`",
)
UNKNOWN_SPECIFICATION = code(
    "MIL421",
    "opset without a known specification",
    ERROR,
    "name the opset of each function in the text, as in `func main<ios18>`",
)
UNDEFINED_OUTPUT = code(
    "MIL422", "undefined output", ERROR, "return only inputs, and outputs of operations in the function's own block"
)
COMPILED_NOT_ML_PROGRAM = code(
    "MIL423",
    "compiled model is not an ML Program",
    ERROR,
    "convert the model's source with coremltools, convert_to='mlprogram'",
)
NOT_AN_IMAGE_TYPE = code(
    "MIL424",
    "type does not match an image",
    ERROR,
    "give the value the shape of an image, or describe it as an array with `description=`",
)
IMPOSSIBLE_RANGE = code(
    "MIL425",
    "sizes that an input cannot have",
    ERROR,
    "give each axis of an input its size or range, as in x=1,3,64..512,64..512",
)
WRONG_NAME = code(
    "MIL426",
    "invalid name",
    ERROR,
    "choose a name of letters, digits, `_` and `@` that begins with a letter or `_`. `check=False` accepts any name",
)
UNKNOWN_WEIGHT_REFERENCES = code(
    "MIL427",
    "references to weights unknown",
    ERROR,
    "build without `prune_weights=True`, or use a newer miltext",
)
SEVERAL_TEXTS = code(
    "MIL428",
    "several texts for a single file",
    ERROR,
    "name a folder as the output for one file per program, or choose one program with `model=`",
)
UNKNOWN_NAME = code(
    "MIL430",
    "unknown name",
    ERROR,
    "use a name of the model. `miltext print` shows its functions and values, `miltext info` a pipeline's features",
)
NAME_IN_USE = code("MIL431", "name already in use", ERROR, "choose a name unused in the function and in its pipeline")
NOT_AN_OUTPUT = code(
    "MIL432",
    "value cannot be an output",
    ERROR,
    "choose a value of the function's own block that is not an output yet",
)
POSITION_OUTSIDE_TEXT = code(
    "MIL433",
    "position outside the text",
    ERROR,
    "name a place inside the text, as Core ML's error does: LINE or LINE:COL",
)
UNREADABLE_SIZES = code(
    "MIL434",
    "unreadable sizes",
    ERROR,
    "write sizes as in image=1,3,256,256. A range is written 64..512; in a text alone, `?` means any size from 1",
)
IMPOSSIBLE_SIZES = code(
    "MIL435",
    "sizes that an input cannot have",
    ERROR,
    "give each dimension of the input a size. To change the rank, edit the text of the program",
)
OUTDATED_SIZE = code(
    "MIL436",
    "possibly outdated size",
    WARNING,
    "check the size, and correct it if it does not match the new sizes",
)
KEPT_IN_FP32 = code(
    "MIL437",
    "operations kept in fp32",
    WARNING,
    "replace constants out of fp16's range where the meaning allows it: in a mask, `-6e4` does the same as `-1e9`. "
    "Constants from `1e38` on stand for infinity: they become 65504, and keep no operation in fp32. For integers, "
    "compare the models on the largest expected inputs",
)
UNCONVERTIBLE_VALUE = code(
    "MIL438",
    "value cannot be converted",
    ERROR,
    "fix the value, or write the operation differently; `miltext check` reports its errors",
)
FP16_BORDER = code(
    "MIL439",
    "fp16 input or output in an early opset",
    ERROR,
    "leave out `io=True`, or raise the function's opset in the text, as in `func main<ios16>`",
)
UNCOMPILABLE_MODEL = code(
    "MIL440",
    "model cannot be compiled",
    ERROR,
    "build an .mlpackage, and compile it on a Mac with `xcrun coremlc compile`",
)
UNPROVEN_PART_REFUSED = code(
    "MIL441",
    "unproven part of a compiled model, not allowed",
    ERROR,
    "compile the model with Apple's compiler, or write guesses with `allow_unproven=True`",
)
FILES_NOT_KEPT = code("MIL442", "files of a model are not kept", WARNING, "copy the files that are needed")
NO_COMPILED_PART = code(
    "MIL443",
    "part that a compiled model cannot hold",
    WARNING,
    "keep the package, which contains the part. `no_loss=True` refuses such a build (MIL454)",
)
OPTION_FOR_COMPILED = code(
    "MIL444", "option only for compiled models", ERROR, "name an .mlmodelc as the output, or leave the option out"
)
IMPOSSIBLE_PART_INPUT = code(
    "MIL446",
    "value cannot be an input of a part",
    ERROR,
    "choose another value, or omit it: the part then contains its operations",
)
NEEDLESS_PART_INPUT = code(
    "MIL447", "unneeded input of a part", ERROR, "omit the input, or name an output that needs it"
)
IMPOSSIBLE_PART_OUTPUT = code(
    "MIL448",
    "value cannot be an output of a part",
    ERROR,
    "name outputs of operations in the function's own block, each once; `miltext print` shows them",
)
LEFT_OUT_OF_PART = code(
    "MIL449",
    "opset left out of a part",
    WARNING,
    "no fix is needed if the other opset is not. Otherwise give the values the same names and types in all blocks",
)
FEWER_DETAILS = code(
    "MIL450",
    "description with fewer details",
    WARNING,
    "give the sizes with `ranges=`, or the whole description with `description=`. `no_loss=True` refuses such a "
    "build (MIL454)",
)
WEIGHTS_NOT_IN_ORIGINAL = code("MIL451", "weights missing in the original", WARNING, "fetch the whole original")
INPUT_WITHOUT_RANGE = code(
    "MIL452",
    "input without a range of sizes",
    ERROR,
    "give the range with `ranges=`, or in the `description=` of a build",
)
PIPELINE_DESCRIPTION_CHANGED = code(
    "MIL453",
    "description of a pipeline changed with its model",
    WARNING,
    "check the pipeline's inputs and outputs. To keep them unchanged, keep the model's own",
)
DESCRIPTION_LOSS = code(
    "MIL454",
    "description would lose details",
    ERROR,
    "omit `no_loss=True` if the loss is intended, or restore the lost details in the program or its "
    "description, which `miltext build` takes, too",
)
PIPELINE_TYPE_CLASH = code(
    "MIL456",
    "type differs from another model of the pipeline",
    ERROR,
    "cast or reshape the value inside the model: it has the same type in all models of a pipeline",
)
PIPELINE_CONNECTION_LOST = code(
    "MIL457",
    "connection of a pipeline would be lost",
    ERROR,
    "keep the feature for the other model, or edit that model first",
)
UNRENAMABLE_MODEL = code(
    "MIL458",
    "name cannot be changed in this model",
    ERROR,
    "keep the name: an app or another file uses it to address this model",
)
UNREADABLE_SETTINGS = code(
    "MIL460", "unreadable settings", ERROR, "fix the file; `miltext check --isolated` ignores it"
)
UNKNOWN_SETTING = code("MIL461", "unknown setting", ERROR, "write one of the [settings](settings.md)")
SETTING_TYPE = code("MIL462", "setting of the wrong type", ERROR, "write a value as the message shows")
UNKNOWN_CODE_IN_SETTINGS = code(
    "MIL463",
    "unknown code in the settings",
    ERROR,
    "write a code of this page, the beginning of codes, such as `MIL6`, or `ALL`",
)
PATTERN_WITHOUT_FILES = code(
    "MIL464",
    "pattern matches no file",
    ERROR,
    "write a path relative to the pyproject.toml, with `/` between names, or a single name",
)

# ---- descriptions as text

UNREADABLE_DESCRIPTION = code(
    "MIL470", "unreadable description", ERROR, "write TOML as UTF-8, in the form that `miltext describe` writes"
)
UNKNOWN_DESCRIPTION_KEY = code(
    "MIL471", "unknown key in a description", ERROR, "write one of the keys of [the description](description.md)"
)
DESCRIPTION_VALUE_TYPE = code(
    "MIL472", "value of the wrong type in a description", ERROR, "write a value as the message shows"
)
UNKNOWN_DESCRIPTION_WORD = code(
    "MIL473", "unknown word in a description", ERROR, "write one of the words in the message"
)
DESCRIPTION_NUMBER_RANGE = code(
    "MIL474", "number out of range in a description", ERROR, "write a number within the range"
)
DESCRIPTION_ENTRY_COUNT = code(
    "MIL475", "missing or duplicate entry in a description", ERROR, "add the missing name, or remove the second entry"
)
DESCRIPTION_OF_NOTHING = code(
    "MIL476",
    "described feature does not exist",
    ERROR,
    "describe each input and output of the program under its name, and nothing else",
)
DESCRIPTION_OF_OTHER_TYPE = code(
    "MIL477", "description of another type", ERROR, "change the entry, or the type in the program"
)
SPECIFICATION_TOO_SMALL = code(
    "MIL478",
    "specification version too small",
    ERROR,
    "write the version in the message, or omit `specificationVersion` to get the smallest possible one",
)
MISFIT_LABELS = code(
    "MIL479",
    "labels do not match the classifier",
    ERROR,
    "give one label for each probability, as strings or integers like those of the program",
)
NO_COREMLTOOLS = code("MIL480", "coremltools is not installed", ERROR, f"{install('coremltools')}")
WEIGHTS_IN_SEVERAL_FOLDERS = code(
    "MIL481", "weights in several folders", ERROR, "build the model first, which writes one weight file"
)

# ---- generated programs

NOTHING_TO_GENERATE = code(
    "MIL482",
    "nothing of the kind to generate",
    ERROR,
    "use existing names; `miltext ops` lists the operations with their opsets",
)
LATER_OUTPUT = code(
    "MIL465",
    "input with the name of a later output",
    WARNING,
    "name the models in the order in which they run, or bind the input with `bind=`",
)
NOTHING_GENERATED = code("MIL483", "nothing could be generated", ERROR, "allow more operations, data types or inputs")
NO_HYPOTHESIS = code(
    "MIL484",
    "hypothesis is not installed",
    ERROR,
    "`pip install '.[hypothesis]'` in a checkout of miltext, or `pip install 'WHEEL[hypothesis]'` with its wheel",
)
IMPOSSIBLE_LINK = code(
    "MIL485",
    "models that cannot be linked",
    ERROR,
    "choose other models, names or bindings, as the message shows; `miltext info` shows inputs and outputs of a model",
)
TEST_FAILS_ON_MODEL = code(
    "MIL486",
    "test fails on the model itself",
    ERROR,
    "write a test that passes on the original model, and fails without the fault: on the command line, the "
    "test is a shell command, which passes if its exit status is 0",
)
UNSTEADY_TEST = code(
    "MIL487",
    "test with varying results",
    WARNING,
    "repeat the check several times in the command, and exit with 0 if the fault occurred at least once. Then reduce "
    "the "
    "original again",
)
TYPES_OF_BINDING = code(
    "MIL488",
    "types of a binding differ",
    ERROR,
    "cast the value with `cast=True`, give one model other sizes with `miltext reshape`, or bind other values",
)
INPUTS_DIFFER = code(
    "MIL489",
    "inputs of one name differ",
    ERROR,
    "give them one type and description, or do not bind them to each other",
)
CONSTANT_RESIZED = code(
    "MIL490",
    "constant written for the new sizes",
    WARNING,
    "compare it with a conversion at these sizes. If it is wrong, reshape to a text, such as `model.mil`, and "
    "correct the constant there",
)
CONSTANT_MAY_FOLLOW = code(
    "MIL491",
    "constant that may follow from a size",
    WARNING,
    "if the constant was computed from the size, reshape to a text, such as `model.mil`, and write its value for the "
    "new size. Otherwise keep it",
)
CONSTANT_CANNOT_FOLLOW = code(
    "MIL492",
    "constant cannot be adapted to a size",
    ERROR,
    "write the constant for the new sizes in a text, and reshape the text; or convert the source again at these "
    "sizes. If a range was requested, choose one size",
)
IMPOSSIBLE_PACKAGE_SIZE = code("MIL493", "size too large for a package", ERROR, "choose smaller sizes")
IMPOSSIBLE_BOUNDARY = code(
    "MIL494",
    "value that parts nothing",
    ERROR,
    "name the output of an operation in the function's own block that later operations use; `miltext print` shows them",
)
DIFFERENCE_OF_ANOTHER_MODEL = code(
    "MIL495",
    "difference of another model",
    ERROR,
    "apply the difference to the model that was compared as the old one, or compare again",
)
PART_NOT_APPLICABLE = code(
    "MIL496",
    "difference that cannot be applied",
    ERROR,
    "apply the difference without these entries, and take these parts from the new model",
)
LACKING_ENTRY = code(
    "MIL497",
    "difference without a needed entry",
    ERROR,
    "keep the entries that the others need, or compare again",
)
NEW_WEIGHT_NOT_FOUND = code(
    "MIL498",
    "new weight not found",
    ERROR,
    "compare the models where their weight files are, or pass a model that has the new weights as `weights_from`",
)
IMPOSSIBLE_SPLIT = code(
    "MIL499",
    "impossible division of a model",
    ERROR,
    "allow fewer parts or larger ones, or cast a value that prevents a boundary to a type that a model can have as an "
    "input",
)
