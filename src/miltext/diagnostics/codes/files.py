"""Codes of printing, of models as files and folders, and of weight files."""

from __future__ import annotations

from miltext.diagnostics.codes.table import ERROR, NOTE, WARNING, code
from miltext.diagnostics.home import install

# ---- printing

NOT_APPLE_SYNTAX = code(
    "MIL201",
    "not expressible in Apple's syntax",
    ERROR,
    "print without the option. miltext's own spellings can express it",
)
UNKNOWN_FIELD = code("MIL202", "unknown field", ERROR, "use a newer miltext")
OWN_SPELLING = code(
    "MIL203", "miltext's own spelling", ERROR, "write it as Apple does, if Apple's syntax can express it"
)
UNPROVEN_CONSTRUCT = code("MIL204", "unproven construct", WARNING, "try it on a Mac before you rely on it")
NOT_READ_BACK = code(
    "MIL205", "text does not read back equal", ERROR, "please report it, with the model if that can be shared"
)
UNWRITABLE_PROGRAM = code(
    "MIL206", "file cannot hold the Program", ERROR, "write a `.pb`, or keep the Program as MIL text"
)
LEFT_OUT_BY_COMPILER = code(
    "MIL210",
    "left out by Apple's compiler",
    WARNING,
    "print without `as_coremlc=True` to see the whole program. `no_loss=True` refuses such a build (MIL454)",
)
UNPROVEN_OUTPUT = code(
    "MIL211",
    "unproven output of Apple's compiler",
    WARNING,
    "compare this part of the text with the compiler's own output before you rely on it",
)
WRONG_BUILD_INFO = code("MIL212", "buildInfo is not a dictionary of strings", ERROR, "correct or remove the attribute")
FLEXIBLE_SIZE_OUT_OF_RANGE = code("MIL213", "flexible size out of range", ERROR, "correct the model's description")
UNPROVEN_PART = code(
    "MIL214",
    "unproven part of a compiled model",
    WARNING,
    "compare the part with the output of Apple's compiler for the same package: `miltext diff`",
)
UNKNOWN_COMPILER = code(
    "MIL215",
    "not a version of Apple's compiler",
    ERROR,
    "write the version as in `3600.25.1`, or leave it out",
)

# ---- models as files and folders

UNREADABLE_FILE = code(
    "MIL250", "unreadable file", ERROR, "name a .mil, .mlmodel, .mlpackage, .mlmodelc, .pb or .txtpb that can be read"
)
MODEL_WITHOUT_RESULT = code(
    "MIL290",
    "no result for one of many models",
    ERROR,
    "run the verb on this model alone, which shows more. Other models are not affected",
)
NO_DASK = code(
    "MIL291",
    "no cluster of dask",
    ERROR,
    f"start a scheduler and workers, and name the scheduler's address. The extra is installed by {install('dask')}",
)
NOT_A_MODEL_FOLDER = code(
    "MIL251",
    "not a model folder",
    ERROR,
    "name an .mlpackage, which contains a Manifest.json, or an .mlmodelc, which contains a model.mil and a "
    "coremldata.bin",
)
LFS_POINTER_OF_MODEL = code(
    "MIL252", "git-lfs pointer instead of a model", ERROR, "run `git lfs pull` in the model's repository"
)
NOT_A_MODEL = code(
    "MIL253",
    "not a Model or Program",
    ERROR,
    "fetch or export the model again. MIL text ends in .mil, a serialized Program in .pb",
)
NOT_AN_ML_PROGRAM = code(
    "MIL254",
    "not an ML Program",
    ERROR,
    "convert the model's source to an ML Program with coremltools, convert_to='mlprogram'",
)
INCONSISTENT_PACKAGE = code(
    "MIL255",
    "inconsistent package",
    ERROR,
    "fetch or export the whole model again. If it contains links to other folders, copy it with `cp -RL`",
)
NOT_A_TEXT_FILE = code(
    "MIL256",
    "not a text file",
    ERROR,
    "save MIL text and protobuf's text as UTF-8. Name a serialized Program .pb, and a Model .mlmodel",
)
UNKNOWN_PIPELINE_MODEL = code(
    "MIL257",
    "ambiguous or unknown model of a pipeline",
    ERROR,
    'choose a model by its index or name; in a nested pipeline by a path, as in "1/0"',
)
UNREADABLE_COMPILED_DESCRIPTION = code(
    "MIL258", "unreadable description of a compiled model", ERROR, "fetch the bundle again, or compile its model again"
)
PROTOBUF_TEXT_ERROR = code(
    "MIL259",
    "syntax error in protobuf's text",
    ERROR,
    "write a CoreML.Specification.MILSpec.Program in protobuf's text format. Name the file .mil if it is MIL text",
)
UNUSUAL_COMPILED_DESCRIPTION = code(
    "MIL260",
    "unusual description of a compiled model",
    ERROR,
    "no fix is needed if the result is right. After a finding of `miltext check`, fetch the bundle again, or compile "
    "its model again",
)
MISFIT_METADATA = code(
    "MIL261",
    "metadata.json does not match the model",
    WARNING,
    "compile the model again, or build it: `miltext build Model.mlmodelc -o New.mlmodelc`",
)
MISFIT_ANALYTICS = code("MIL262", "analytics do not match the model", WARNING, "compile the package again")
DAMAGED_WEIGHTS = code(
    "MIL263", "damaged weight file", ERROR, "fetch the whole model again, or build it from its source"
)
MISSING_WEIGHTS = code(
    "MIL264",
    "weight file of a model is missing",
    ERROR,
    "fetch the whole model, or run `git lfs pull` in its repository. `miltext check --ignore MIL264` checks a "
    "copy that is kept without its weights",
)
MISFIT_DESCRIPTION = code(
    "MIL265",
    "description does not match the program",
    ERROR,
    "`miltext check --fix Model.mlpackage` makes the description follow the program; `miltext build Model.mlpackage "
    "--description TEXT -o New.mlpackage` gives another one. Compile a compiled model again",
)
MISFIT_COMPILED_PIPELINE = code(
    "MIL266",
    "models of a compiled pipeline do not match",
    ERROR,
    "fetch the bundle again, or compile the pipeline again",
)
UNKNOWN_COMPILED_FILE = code(
    "MIL267", "unknown file in a compiled model", NOTE, "no fix is needed if the files belong there"
)
UNREADABLE_OVERLAY = code(
    "MIL268",
    "unreadable overlay",
    ERROR,
    "correct the file, or remove it and its item in Manifest.json; Xcode writes a new one after an edit of the texts",
)
MISFIT_OVERLAY = code(
    "MIL269",
    "overlay of a feature that the model lacks",
    WARNING,
    "write the name of a feature of the model, or remove the entry from the file",
)
UNKNOWN_PACKAGE_PART = code(
    "MIL270", "unknown part of a package", NOTE, "no fix is needed if the part belongs there: every edit keeps it"
)
MISFIT_MANIFEST = code(
    "MIL271",
    "manifest does not match the package",
    ERROR,
    "correct Manifest.json, or export the package again",
)
UNUSED_STATE = code(
    "MIL272", "state that nothing uses", NOTE, "leave it out of the program and its description, or read and write it"
)

# ---- weight files

WEIGHT_FILE_OUTSIDE = code(
    "MIL301",
    "weight file outside the model",
    ERROR,
    "write `@model_path/` and a path inside the model's folder. If the model contains links to other folders, copy it "
    "with `cp -RL`",
)
MISSING_WEIGHT_FILE = code(
    "MIL302",
    "missing weight file",
    ERROR,
    "fetch the whole model. Its weight files must be regular files: links are not followed",
)
LFS_POINTER_OF_WEIGHTS = code(
    "MIL303", "git-lfs pointer instead of a weight file", ERROR, "run `git lfs pull` in the model's repository"
)
NOT_A_WEIGHT_FILE = code(
    "MIL304",
    "not a weight file",
    ERROR,
    "name the weight file of an ML Program; if it is one, fetch or export it again",
)
NO_RECORD_AT_OFFSET = code(
    "MIL305",
    "no record at the offset",
    ERROR,
    "write the offset of a record's metadata; `miltext weights` lists them. If all offsets are wrong, fetch the "
    "weight file of this model",
)
INVALID_RECORD = code("MIL306", "invalid record", ERROR, "the file is damaged or cut short: fetch or export it again")
WRONG_RECORD_COUNT = code(
    "MIL307", "wrong count of records", ERROR, "read the records at the offsets in the model, not by their count"
)
UNSTORABLE_VALUE = code(
    "MIL308",
    "value cannot be stored in a weight file",
    ERROR,
    "convert the values to a data type of weight files that can hold them",
)
MISFIT_RECORD = code(
    "MIL309",
    "record does not match its value",
    ERROR,
    "give the value the type and shape of the record, or the offset of another",
)
WEIGHT_FILES_OF_ONE_NAME = code(
    "MIL310",
    "two weight files with the same name",
    ERROR,
    "print one of the models with `miltext print --weights-as NAME`, which renames its weight file in the text. Then "
    "give that file with `weights={NAME: FILE}`",
)
UNUSED_WEIGHT_FILE = code(
    "MIL311",
    "given weight file that no value uses",
    ERROR,
    "give the weight file with `weights={NAME: FILE}`, where NAME is its path in the text after `@model_path/`",
)
UNUSED_WEIGHTS = code(
    "MIL312",
    "unused weights",
    NOTE,
    "remove them with `prune_weights=True`, which reports their size. See [How files are "
    "written](writing-files.md#weights-that-nothing-needs)",
)
DOUBTFUL_WEIGHT_DATA = code(
    "MIL313",
    "doubtful numbers in a weight",
    WARNING,
    "export the model again from a checkpoint with the right numbers; keep numbers beyond 65504 in fp32",
)
