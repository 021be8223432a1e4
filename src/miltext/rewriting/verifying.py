"""Verification of replacements in a program: each different one is proven by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from miltext.checking.findings import named
from miltext.checking.programs import findings_in
from miltext.diagnostics import MiltextError, Note, codes, error
from miltext.ir.graph import Graph
from miltext.rewriting.operands import ConstantContents
from miltext.rewriting.planning import Rewriter
from miltext.rewriting.proving import prove
from miltext.rewriting.site_programs import FUNCTION, site_program

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
        self._known: set[tuple[str, bytes]] = set()

    @property
    def kinds(self) -> int:
        """The number of different replacements that were proven."""
        return len(self._known)

    def require(self, site: AnySite) -> None:
        """Prove the replacement of a site, before it is made. Raise MiltextError (MIL872) if it fails."""
        program = site_program(site, self._contents)
        kind = site.rule.name, _without_names(program)
        if kind in self._known:
            return
        proof = self._proof(site, program)
        if proof is None:
            return
        self.inputs += proof.inputs
        if not proof.is_proven and not proof.is_void:
            value = named(site.root.outputs[0].name)
            message = f"the rule {named(site.rule.name)} is not as exact as declared at {value}: {proof.failure}"
            raise MiltextError([error(codes.UNPROVEN_RULE, message, None, *given_note(proof.given))])
        self._known.add(kind)

    def _proof(self, site: AnySite, program: Program) -> Proof | None:
        """Return the proof of a replacement; None if it is refused for another reason."""
        graph = Graph(program)
        only = {value.name for value in site.root.outputs}
        rewriter = Rewriter(graph, [site.rule], ConstantContents(None), only, limit=1)
        rewriter.run()
        if not rewriter.replaced:
            return None
        return prove_rule(site.rule, program, graph.program(), FUNCTION)


def prove_rule(rule: AnyRule, before: Program, after: Program, function: str) -> Proof:
    """Compare a program with its rewriting by a rule."""
    return prove(before, after, function, rule.exactness, rule.domain)


def new_errors(before: Program, after: Program) -> list[Finding]:
    """Return the errors of `check` that a program did not have before."""
    old = {(each.code, each.message) for each in findings_in(before)}
    found = (each for each in findings_in(after) if each.severity == "error")
    return [each for each in found if (each.code, each.message) not in old]


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
