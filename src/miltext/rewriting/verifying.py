"""Verification of replacements in a program: each different one is proven by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from miltext.checking.findings import named
from miltext.checking.programs import findings_in
from miltext.diagnostics import MiltextError, Note, codes, error
from miltext.ir.graph import Graph
from miltext.ir.parts import GraphError
from miltext.rewriting.operands import ConstantContents
from miltext.rewriting.passes import UNWRITTEN
from miltext.rewriting.planning import Rewriter
from miltext.rewriting.proving import prove
from miltext.rewriting.python_rules import PythonRule
from miltext.rewriting.site_programs import FUNCTION, SIZES, site_program
from miltext.schema.function_io import interfaces

if TYPE_CHECKING:
    from miltext.checking.findings import Finding
    from miltext.evaluation.carried import Named
    from miltext.rewriting.passes import AnyRule
    from miltext.rewriting.proving import Proof
    from miltext.rewriting.sites import AnySite
    from miltext.schema.proto import Program

SHOWN = 8
"""The most elements of an input in a message."""


class Verifying:
    """Proves the replacements of a rewriting; `inputs` is the number of inputs for all of them."""

    def __init__(self, contents: ConstantContents) -> None:
        self._contents = contents
        self.inputs = 0
        self._known: dict[tuple[str, bytes], bool] = {}

    @property
    def kinds(self) -> int:
        """The number of different replacements that were proven."""
        return sum(self._known.values())

    def require(self, site: AnySite) -> None:
        """Prove the replacement of a site, before it is made. Raise MiltextError (MIL872) if it fails."""
        program = site_program(site, self._contents, SIZES[0])
        kind = site.rule.name, _without_names(program)
        if kind in self._known:
            return
        proof = self._first_proof(site, program)
        if proof is None:
            _require_refusal(site)
            return
        self.inputs += proof.inputs
        if not proof.is_proven and not proof.is_void:
            value = named(site.root.outputs[0].name)
            problem = "is not as exact as declared" if proof.has_result else "has no result"
            message = f"the rule `{site.rule.name}` {problem} at {value}: {proof.failure}"
            raise MiltextError([error(codes.UNPROVEN_RULE, message, None, *given_note(proof.given))])
        self._known[kind] = proof.is_proven

    def _first_proof(self, site: AnySite, program: Program) -> Proof | None:
        """Return the proof for the first of SIZES with a result, or a void one; None for a refused replacement.

        `program` is the program of the first size.
        """
        proof = self._proof(site, program)
        for size in SIZES[1:]:
            if proof is None or not proof.is_void:
                break
            proof = self._proof(site, site_program(site, self._contents, size))
        return proof

    def _proof(self, site: AnySite, program: Program) -> Proof | None:
        """Return the proof of a replacement; None if it is refused for another reason."""
        graph = Graph(program)
        only = {value.name for value in site.root.outputs}
        rewriter = Rewriter(graph, [site.rule], ConstantContents(None), only, limit=1)
        rewriter.run()
        if not rewriter.replaced:
            return None
        return prove_rule(site.rule, program, written(graph), FUNCTION)


def _require_refusal(site: AnySite) -> None:
    """Raise MiltextError (MIL872) for a site that a rule in Python does not find in its operations alone."""
    if isinstance(site.rule, PythonRule):
        value = named(site.root.outputs[0].name)
        message = f"the rule {named(site.rule.name)} cannot be proven at {value}: it does not rewrite the operations of"
        note = Note("list all operations that the rule looks at in `others` of the site")
        raise MiltextError([error(codes.UNPROVEN_RULE, f"{message} the site alone", None, note)])


def prove_rule(rule: AnyRule, before: Program, after: Program, function: str) -> Proof:
    """Compare a program with its rewriting by a rule."""
    return prove(before, after, function, rule.exactness, rule.domain)


def new_errors(before: Program, after: Program) -> list[Finding]:
    """Return the errors of `check` that a program did not have before."""
    old = {(each.code, each.message) for each in findings_in(before)}
    found = (each for each in findings_in(after) if each.severity == "error")
    return [each for each in found if (each.code, each.message) not in old]


def written(graph: Graph) -> Program:
    """Return the Program of a rewritten graph. Raise MiltextError (MIL870) for one that contradicts itself."""
    try:
        return graph.program()
    except GraphError as failure:
        raise MiltextError(
            [error(codes.WRONG_RULE, f"a rule leaves a wrong graph: {failure}", None, UNWRITTEN)]
        ) from None


def require_no_new_errors(before: Program, after: Program) -> None:
    """Raise MiltextError for errors that a program did not have before."""
    new = [error(each.code, each.message, None, UNWRITTEN) for each in new_errors(before, after)]
    if new:
        raise MiltextError(new)


def require_interfaces(before: Program, after: Program) -> None:
    """Raise MiltextError (MIL870) if a function has other inputs, states or outputs than before."""
    old, new = interfaces(before), interfaces(after)
    for name in sorted({*old, *new}):
        sides = [[[*side.items()] for side in each[name]] if name in each else None for each in (old, new)]
        if sides[0] != sides[1]:
            message = f"a rule changes names or types of the inputs and outputs of {named(name)}, which must stay"
            raise MiltextError([error(codes.WRONG_RULE, message, None, UNWRITTEN)])


def given_note(given: Named) -> list[Note]:
    """Return a note with the inputs of a failed proof, if there are any."""
    listed = [f"`{name}` = {_shown(np.asarray(array).reshape(-1).tolist())}" for name, array in given.items()]
    return [Note(f"the input is {', '.join(listed)}")] if listed else []


def _shown(numbers: list[object]) -> str:
    more = f", and {len(numbers) - SHOWN} more" if len(numbers) > SHOWN else ""
    return f"[{', '.join(map(str, numbers[:SHOWN]))}{more}]"


def _without_names(program: Program) -> bytes:
    """Return the bytes of a Program whose values have names by their order."""
    graph = Graph(program)
    for function in graph.functions.values():
        for place, value in enumerate([*function.defined()]):
            value.name = f"v{place}"
        for op in function.walk():
            op.own().attributes.pop("name", None)
    return graph.program().SerializeToString(deterministic=True)
