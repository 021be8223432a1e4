"""Core ML's MIL programs as text: read, write, edit, review and test them, on any machine.

    program = miltext.parse(text)        # MIL text -> Program
    text = miltext.to_text(program)      # Program -> MIL text, losslessly
    draft = miltext.to_draft(program)    # Program -> MIL text without types that can be inferred
    text = miltext.format_text(text)     # canonical layout, comments kept
    findings = miltext.check(text)       # all errors and warnings, at once
    model = miltext.load(path)           # .mil, .mlmodel, .mlpackage, .mlmodelc, .pb, .txtpb
    model = miltext.open_model(path)     # the same for any model: a pipeline, a neural network
    miltext.build(model, path)           # a model written, edited or not
    toml = miltext.describe(model)       # its description, metadata and labels, as text
    miltext.rename(model, "x", "image", path)  # a renamed value; `expose` and `reshape` edit models, too
    arrays = miltext.weights(model)      # its weights by name: numpy arrays, and facts about them
    largest = miltext.size(model).weights[0]  # the bytes of its weights by scope, operation and weight
    work = miltext.cost(model).work      # its costs: multiply-accumulates, bytes, memory
    done = miltext.convert_weights(model, "fp16", path)  # converted types and weights, and the losses
    outputs = miltext.run(model, {"x": x})  # its outputs, computed in numpy
    patched = miltext.apply(miltext.diff(a, b), a)  # b, by the entries of the difference
    comparison = miltext.compare(a, b)   # the numbers of two models, and where they differ
    merged = miltext.merge_texts(base, ours, theirs)  # the changes of both sides, with conflicts between markers
    done = miltext.rewrite(model, "softmax", path)  # operations replaced by rules; `find` shows the matches
    done = miltext.optimize(model, path)  # operations out that it does not need, number for number
    whole = miltext.link([a, b], path)   # one model of several, with their values bound
    done = miltext.split(model, "parts", parts=3)  # the model in parts, each a model
    results = miltext.many("check", paths)  # a verb on many models, by any executor
    small = miltext.reduce(model, test)  # the smallest part of it on which a test passes
    graph = miltext.Graph(program)       # operations, values and their uses, to be edited
    tree = miltext.lark_parser().parse(text)  # a tree of the text, for Lark's own tools

A function of a model accepts MIL text, the path of a model, a Program or a Model. A string with a line end or a `{` is
text, any other string is a path.

Each name is imported when it is first used, so that `import miltext` costs nothing.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
"""The name by which type checkers know `typing.TYPE_CHECKING`; `typing` takes longer to import than this module."""

if TYPE_CHECKING:
    from typing import Any

    from miltext.advisories.check import check as check
    from miltext.applying.applying import apply as apply
    from miltext.building.choices import BuildOptions as BuildOptions
    from miltext.cli.many_function import ManyResult as ManyResult
    from miltext.cli.many_function import many as many
    from miltext.containers.opening import load as load
    from miltext.containers.opening import open_model as open_model
    from miltext.containers.sources import Source as Source
    from miltext.conversion.converting import Conversion as Conversion
    from miltext.conversion.converting import ConvertOptions as ConvertOptions
    from miltext.conversion.converting import convert_weights as convert_weights
    from miltext.costing.costs import cost as cost
    from miltext.diagnostics import Diagnostic as Diagnostic
    from miltext.diagnostics import MiltextError as MiltextError
    from miltext.diagnostics import ModelError as ModelError
    from miltext.diagnostics import Note as Note
    from miltext.diagnostics import ParseError as ParseError
    from miltext.diagnostics import PrintError as PrintError
    from miltext.diagnostics import Span as Span
    from miltext.diffing import Difference as Difference
    from miltext.diffing import diff as diff
    from miltext.drafting.building import build as build
    from miltext.drafting.describing import describe as describe
    from miltext.drafting.draft import infer_draft as infer_draft
    from miltext.drafting.edits import EditOptions as EditOptions
    from miltext.drafting.edits import expose as expose
    from miltext.drafting.edits import rename as rename
    from miltext.drafting.edits import reshape as reshape
    from miltext.drafting.inferring import infer_types as infer_types
    from miltext.drafting.texts import to_text as to_text
    from miltext.drafting.texts import weights as weights
    from miltext.drafting.writing import to_draft as to_draft
    from miltext.evaluation.comparing.comparing import compare as compare
    from miltext.evaluation.comparing.comparison import Comparison as Comparison
    from miltext.evaluation.comparing.options import CompareOptions as CompareOptions
    from miltext.evaluation.evaluator import Evaluator as Evaluator
    from miltext.evaluation.evaluator import run as run
    from miltext.extraction.extracting import ExtractOptions as ExtractOptions
    from miltext.extraction.extracting import extract as extract
    from miltext.formatting.formatter import format_text as format_text
    from miltext.ir.graph import Graph as Graph
    from miltext.ir.parts import GraphError as GraphError
    from miltext.ir.parts import Op as Op
    from miltext.ir.passes import remove_dead as remove_dead
    from miltext.linking.linking import link as link
    from miltext.linking.options import LinkOptions as LinkOptions
    from miltext.linking.report import Linked as Linked
    from miltext.merging.merging import Merged as Merged
    from miltext.merging.merging import merge_texts as merge_texts
    from miltext.models.model import Model as Model
    from miltext.parsing.parser import parse as parse
    from miltext.parsing.parser import parse_value as parse_value
    from miltext.parsing.source_map import SourceMap as SourceMap
    from miltext.parsing.source_map import parse_with_source as parse_with_source
    from miltext.parsing.strict import strict_findings as strict_findings
    from miltext.reduction.reducing import Reduction as Reduction
    from miltext.reduction.reducing import reduce as reduce
    from miltext.reduction.trials import Candidate as Candidate
    from miltext.reference.records import operations as operations
    from miltext.rewriting.finding import find as find
    from miltext.rewriting.optimizing import OptimizeOptions as OptimizeOptions
    from miltext.rewriting.optimizing import optimize as optimize
    from miltext.rewriting.passes import RuleSite as RuleSite
    from miltext.rewriting.passes import rule as rule
    from miltext.rewriting.results import Rewriting as Rewriting
    from miltext.rewriting.rewriting import RewriteOptions as RewriteOptions
    from miltext.rewriting.rewriting import rewrite as rewrite
    from miltext.sizing.sizes import size as size
    from miltext.splitting.results import Splitting as Splitting
    from miltext.splitting.splitting import SplitOptions as SplitOptions
    from miltext.splitting.splitting import split as split
    from miltext.syntax.tables import lark_parser as lark_parser

_HOMES = {
    "advisories.check": ("check",),
    "applying.applying": ("apply",),
    "building.choices": ("BuildOptions",),
    "costing.costs": ("cost",),
    "cli.many_function": ("ManyResult", "many"),
    "conversion.converting": ("Conversion", "ConvertOptions", "convert_weights"),
    "diagnostics": ("Diagnostic", "MiltextError", "ModelError", "Note", "ParseError", "PrintError", "Span"),
    "diffing": ("Difference", "diff"),
    "drafting.building": ("build",),
    "drafting.describing": ("describe",),
    "drafting.draft": ("infer_draft",),
    "drafting.edits": ("EditOptions", "expose", "rename", "reshape"),
    "drafting.inferring": ("infer_types",),
    "drafting.texts": ("to_text", "weights"),
    "drafting.writing": ("to_draft",),
    "evaluation.comparing.comparing": ("compare",),
    "evaluation.comparing.comparison": ("Comparison",),
    "evaluation.comparing.options": ("CompareOptions",),
    "evaluation.evaluator": ("Evaluator", "run"),
    "extraction.extracting": ("ExtractOptions", "extract"),
    "formatting.formatter": ("format_text",),
    "ir.graph": ("Graph",),
    "ir.parts": ("GraphError", "Op"),
    "ir.passes": ("remove_dead",),
    "linking.linking": ("link",),
    "linking.options": ("LinkOptions",),
    "linking.report": ("Linked",),
    "merging.merging": ("Merged", "merge_texts"),
    "models.model": ("Model",),
    "containers.opening": ("load", "open_model"),
    "containers.sources": ("Source",),
    "parsing.parser": ("parse", "parse_value"),
    "parsing.source_map": ("SourceMap", "parse_with_source"),
    "parsing.strict": ("strict_findings",),
    "reduction.reducing": ("Reduction", "reduce"),
    "reduction.trials": ("Candidate",),
    "reference.records": ("operations",),
    "rewriting.finding": ("find",),
    "rewriting.optimizing": ("OptimizeOptions", "optimize"),
    "rewriting.passes": ("RuleSite", "rule"),
    "rewriting.results": ("Rewriting",),
    "rewriting.rewriting": ("RewriteOptions", "rewrite"),
    "sizing.sizes": ("size",),
    "splitting.results": ("Splitting",),
    "splitting.splitting": ("SplitOptions", "split"),
    "syntax.tables": ("lark_parser",),
}
_HOME = {name: f"miltext.{module}" for module, names in _HOMES.items() for name in names}

__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("miltext")
    if name not in _HOME:
        raise AttributeError(f"module 'miltext' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
