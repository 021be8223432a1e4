"""Calls in the package, followed by names from one function: which functions are reached, without running them.

A name is what its module defines or imports; a method is followed where one class alone has it, of the modules that
the first one can import. So the walk is rough: calls through variables are not seen.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping, Set
from pathlib import Path
from typing import NamedTuple


class Place(NamedTuple):
    """A function by its module, below `miltext`, and its name there."""

    module: str
    name: str


class Calls:
    """The functions of the modules, which `imports` import one another."""

    def __init__(self, modules: Mapping[str, Path], imports: Set[tuple[str, str]]) -> None:
        self._functions: dict[Place, ast.FunctionDef] = {}
        self._methods = defaultdict[str, list[Place]](list)
        self._names = {name: _imported(ast.parse(path.read_bytes())) for name, path in modules.items()}
        self._imports = defaultdict[str, set[str]](set)
        for importer, imported in imports:
            self._imports[importer].add(imported)
        for name, path in modules.items():
            for node in ast.parse(path.read_bytes()).body:
                self._add(name, node)

    def _add(self, module: str, node: ast.stmt) -> None:
        if isinstance(node, ast.FunctionDef):
            self._functions[Place(module, node.name)] = node
        elif isinstance(node, ast.ClassDef):
            for inner in (each for each in node.body if isinstance(each, ast.FunctionDef)):
                place = Place(module, f"{node.name}.{inner.name}")
                self._functions[place] = inner
                self._methods[inner.name].append(place)
                if inner.name == "__init__":
                    self._functions[Place(module, node.name)] = inner

    def reached(self, start: Place) -> set[Place]:
        """The functions that a call of one can reach."""
        within = self._importable(start.module)
        found, todo = {start}, [start]
        while todo:
            place = todo.pop()
            for called in self._called(place, within):
                if called not in found:
                    found.add(called)
                    todo.append(called)
        return found

    def _importable(self, module: str) -> set[str]:
        found, todo = {module}, [module]
        while todo:
            new = self._imports[todo.pop()] - found
            found |= new
            todo += new
        return found

    def _called(self, place: Place, within: set[str]) -> Iterator[Place]:
        for call in ast.walk(self._functions[place]):
            if isinstance(call, ast.Call) and (found := self._target(place.module, call.func, within)):
                yield found

    def _target(self, module: str, called: ast.expr, within: set[str]) -> Place | None:
        names = self._names[module]
        if isinstance(called, ast.Name):
            places = [Place(module, called.id), names.get(called.id)]
        elif isinstance(called, ast.Attribute) and (home := names.get(ast.unparse(called.value))):
            places = [Place(f"{home.module}.{home.name}", called.attr)]
        elif isinstance(called, ast.Attribute):
            methods = [place for place in self._methods[called.attr] if place.module in within]
            places = [*methods] if len(methods) == 1 else []
        else:
            places = []
        return next((place for place in places if place in self._functions and place.module in within), None)


def _imported(tree: ast.Module) -> dict[str, Place]:
    """The names that a module imports from the package, anywhere in it."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("miltext."):
            module = str(node.module).removeprefix("miltext.")
            found.update({alias.asname or alias.name: Place(module, alias.name) for alias in node.names})
    return found
