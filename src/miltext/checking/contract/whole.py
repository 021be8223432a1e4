"""The rules of a whole model: all that must agree between its files, apart from the rules of its programs.

`whole_findings` are around all programs: between the stages of a pipeline, in the manifest, in weight files and in the
files of a compiled model. `bundle_files` are in the files of a compiled stage. `contract_findings` are in one program,
which its description must match.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from miltext.checking.contract.files import FileFindings
from miltext.diagnostics import MiltextError
from miltext.files.writing import WITH_DESCRIPTION
from miltext.schema.proto.kinds import PROGRAM
from miltext.syntax.lexer import dialect_of
from miltext.syntax.literals import quote

if TYPE_CHECKING:
    from collections.abc import Iterator

    from miltext.checking.findings import Finding
    from miltext.compiled.stated import CompiledSource
    from miltext.models.model import Model


def whole_findings(whole: Model, source: CompiledSource | None = None) -> list[FileFindings]:
    """Return the findings around the programs of a model, file by file.

    The manifest of an unwritten model has none. The analytics of a compiled model should name the `source`, if known. A
    program that cannot be read has no findings here.
    """
    if whole.kind not in WITH_DESCRIPTION:
        return []
    from miltext.checking.contract.weights import used_files, weight_findings

    used = used_files(whole)
    found = [*_connections(whole), *bundle_files(whole, source), *_unknown_fields(whole)]
    if whole.overlays is not None:
        from miltext.checking.contract.packages import overlay_findings, package_findings

        with suppress(MiltextError):  # of an unreadable model, which is reported by itself
            found += overlay_findings(whole.overlays)
            found += package_findings(whole, whole.overlays, used) if whole.path is not None else ()
    return found + weight_findings(whole, used)


def contract_findings(model: Model) -> Iterator[Finding]:
    """Yield the contradictions between the program of a model and its description, at places of the program."""
    if model.kind not in WITH_DESCRIPTION or (model.is_compiled and not _is_described(model)):
        return
    from miltext.checking.contract.interface import interface_findings

    description, head = model.description, model.spec
    version = model.specification_version if head is None else head.specificationVersion
    if description is None and version is not None:
        from miltext.checking.contract.interface import undescribed

        yield undescribed()
    if description is None or version is None:
        return
    is_updatable = head is not None and head.isUpdatable
    yield from interface_findings(model.program, version, description, is_updatable=is_updatable)
    if model.is_compiled:
        from miltext.checking.compiled.program import program_findings

        yield from program_findings(model.program, version, description, dialect_of(model.text or ""))


def contradictions_in(whole: Model) -> Iterator[Finding]:
    """Yield the contradictions between the programs of a model and their descriptions; the words name the model of a
    pipeline.
    """
    for stage in whole.programs():
        name = quote(stage.model.pipeline_name) if stage.place else ""
        for each in contract_findings(stage.model):
            if each.severity != "note" and name:
                subject = (name, *each.subject) if each.subject else ()
                yield each._replace(message=f"model {name}: {each.message}", subject=subject)
            elif each.severity != "note":
                yield each


def _is_described(model: Model) -> bool:
    """Return whether the description of a compiled model is the file that Core ML reads."""
    from miltext.containers.bundle import BundleModel

    return isinstance(model, BundleModel) and model.is_described


def bundle_files(model: Model, source: CompiledSource | None = None) -> list[FileFindings]:
    """Return the findings in the files of a compiled model, or of a compiled stage; none for another model."""
    if not model.is_compiled or (model.type != PROGRAM and not model.is_pipeline):
        return []
    from miltext.checking.compiled.bundles import bundle_findings

    return bundle_findings(model, source)


def _unknown_fields(whole: Model) -> Iterator[FileFindings]:
    """Yield the note about fields around the programs of a model that the schema lacks; `examine` reports those inside.

    coremldata.bin of a compiled model has rules of its own.
    """
    if whole.is_compiled or whole.spec is None:
        return
    from miltext.checking.contract.unknown_fields import unknown_field_notes

    if found := [*unknown_field_notes(whole.spec)]:
        yield FileFindings(whole.name, found, None)


def _connections(whole: Model) -> Iterator[FileFindings]:
    """Yield the mismatches between the models of a pipeline, and the contradictions in the descriptions around its
    programs.

    A failure to find them is reported with the model that causes it.
    """
    if not whole.is_pipeline:
        return
    from miltext.checking.contract.interface import pipeline_diagnostics
    from miltext.files.refusals import refusal
    from miltext.pipelines.faults import faults_in

    with suppress(MiltextError):
        found = [refusal(fault.code, fault.message).diagnostics[0] for fault in faults_in(whole)]
        found += pipeline_diagnostics(whole)
        if found:
            yield FileFindings(whole.name, found, None)
