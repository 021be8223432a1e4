"""Diagnostics in formats for programs: JSON, SARIF 2.1.0, and the workflow commands of GitHub's actions.

Lines and columns count from 1, columns in code points; offsets count code points from 0, and ends are exclusive.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from miltext.diagnostics import Diagnostic, Span, line_and_column
from miltext.diagnostics.codes import TITLES, explanation
from miltext.diagnostics.home import HOME

if TYPE_CHECKING:
    from miltext.diagnostics.dynamic import Record

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"

FORM = 1
"""The version of the JSON form; it changes when readers would break."""

_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}
"""GitHub's words for severities; SARIF's are ours."""


class Report(NamedTuple):
    """The findings in one program.

    The spans point into `text`, which is None if there are no spans. If `printed`, the program was not a text, and the
    places are in the output of `miltext print`. For a program in a pipeline, `model` is its path for `--model`, `title`
    that path with the model's name, and `name` a name to show instead of the file's path.
    """

    path: str
    diagnostics: Sequence[Diagnostic]
    text: str | None
    printed: bool = False
    model: str = ""
    title: str = ""
    name: str = ""


# ---- JSON


def as_json(reports: Sequence[Report]) -> str:
    """`{"form": 1, "diagnostics": [...], "errors": 1, "warnings": 0}`, with the records of `findings`."""
    return _text({"form": FORM, **findings(reports)})


def findings(reports: Sequence[Report]) -> Record:
    """Return the findings as `diagnostics`, a record for each in order, and the numbers of `errors` and `warnings`."""
    found = [(report, diagnostic) for report in reports for diagnostic in report.diagnostics]
    counts = {f"{kind}s": sum(diagnostic.severity == kind for _, diagnostic in found) for kind in ("error", "warning")}
    return {"diagnostics": [_record(*pair) for pair in found], **counts}


def _text(record: Record) -> str:
    return json.dumps(record, indent=2, ensure_ascii=False) + "\n"


def _record(report: Report, diagnostic: Diagnostic) -> Record:
    return {
        "path": _path(report),
        "model": report.model or None,
        "printed": report.printed,
        "severity": diagnostic.severity,
        "code": diagnostic.code,
        "message": diagnostic.message,
        **place(report.text, diagnostic.span),
        "suggestion": diagnostic.suggestion,
        "applicability": None if diagnostic.suggestion is None else diagnostic.applicability,
        "notes": [{"message": note.message, **place(report.text, note.span)} for note in diagnostic.notes],
    }


def _path(report: Report) -> str:
    """Return the path, with U+FFFD for bytes of a file's name outside UTF-8."""
    return os.fsencode(report.path).decode(errors="replace")


def place(text: str | None, span: Span | None) -> Record:
    """Return the `start` and the `end` of a span; None if the finding has no place in a text."""
    if text is None or span is None:
        return {"start": None, "end": None}
    return {"start": _point(text, span.start), "end": _point(text, span.end)}


def _point(text: str, offset: int) -> dict[str, int]:
    line, column = line_and_column(text, offset)
    return {"line": line, "column": column, "offset": offset}


# ---- SARIF


def as_sarif(reports: Sequence[Report], version: str) -> str:
    """Return a SARIF log of one run; `version` is miltext's."""
    return _sarif([_result(report, found) for report in reports for found in report.diagnostics], version)


def joined_sarif(logs: Sequence[str], version: str) -> str:
    """Return one SARIF log of the results in several, each of one run."""
    return _sarif([result for log in logs for run in json.loads(log)["runs"] for result in run["results"]], version)


def _sarif(results: Sequence[Record], version: str) -> str:
    codes = sorted({result["ruleId"] for result in results})
    numbered = [{**each, "ruleIndex": codes.index(each["ruleId"])} for each in results]
    driver = {
        "name": "miltext",
        "version": version,
        **({"informationUri": HOME} if HOME else {}),
        "rules": [_rule(code) for code in codes],
    }
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": numbered}
    return _text({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})


def _rule(code: str) -> Record:
    page = explanation(code)
    return {"id": code, "shortDescription": {"text": TITLES[code]}, "help": {"text": page, "markdown": page}}


def _result(report: Report, diagnostic: Diagnostic) -> Record:
    result = {
        "ruleId": diagnostic.code,
        "ruleIndex": 0,  # of the rules of a run, which are not known yet
        "level": diagnostic.severity,
        "message": {"text": diagnostic.message},
        "locations": [_location(report, diagnostic.span)],
    }
    if diagnostic.notes:
        related = [(_location(report, note.span), note.message) for note in diagnostic.notes]
        result["relatedLocations"] = [{**location, "message": {"text": message}} for location, message in related]
    if diagnostic.suggestion is not None and diagnostic.span is not None and report.text and not report.printed:
        replacement = {
            "deletedRegion": _region(report.text, diagnostic.span),
            "insertedContent": {"text": diagnostic.suggestion},
        }
        change = {"artifactLocation": {"uri": _uri(report.path)}, "replacements": [replacement]}
        result["fixes"] = [{"artifactChanges": [change], "properties": {"applicability": diagnostic.applicability}}]
    return result


def _location(report: Report, span: Span | None) -> Record:
    physical: Record = {"artifactLocation": {"uri": _uri(report.path)}}
    if report.text is not None and span is not None:
        physical["region"] = _region(report.text, span)
    if not report.model:
        return {"physicalLocation": physical}
    logical = {"fullyQualifiedName": report.model, "name": report.title, "kind": "module"}
    return {"physicalLocation": physical, "logicalLocations": [logical]}


def _region(text: str, span: Span) -> dict[str, int]:
    (line, column), (end_line, end_column) = line_and_column(text, span.start), line_and_column(text, span.end)
    return {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}


def _uri(path: str) -> str:
    """Return a path in the form of SARIF: a URI for an absolute path, otherwise relative to the working folder of the
    check.
    """
    pure = PurePath(path)
    return pure.as_uri() if pure.is_absolute() else quote(os.fsencode(pure.as_posix()))


# ---- GitHub


def as_github(reports: Sequence[Report]) -> str:
    """Return one workflow command per line, which GitHub shows beside the line of the file."""
    return "".join(line for report in reports for line in _commands(report))


def _commands(report: Report) -> Iterator[str]:
    for diagnostic in report.diagnostics:
        properties: Record = {"file": PurePath(_path(report)).as_posix()}
        if diagnostic.span is not None and report.text is not None:
            region = _region(report.text, diagnostic.span)
            properties |= {"line": region["startLine"], "endLine": region["endLine"]}
            if region["startLine"] == region["endLine"]:
                properties |= {"col": region["startColumn"], "endColumn": region["endColumn"]}
        properties["title"] = f"{diagnostic.code} in model {report.title}" if report.model else diagnostic.code
        message = "\n".join([diagnostic.message, *[f"note: {note.message}" for note in diagnostic.notes]])
        listed = ",".join(f"{name}={_escaped(str(value), ':,')}" for name, value in properties.items())
        yield f"::{_COMMANDS[diagnostic.severity]} {listed}::{_escaped(message)}\n"


def _escaped(text: str, further: str = "") -> str:
    """Return a text with the special characters of workflow commands escaped, such as `%0A` for a line feed."""
    for character in f"%\r\n{further}":
        text = text.replace(character, f"%{ord(character):02X}")
    return text
