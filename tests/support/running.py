"""`miltext run` in tests: a draft with inputs, and what the command says."""

from __future__ import annotations

from inspect import signature
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from miltext.cli import command

STREAMS: dict[str, Any] = {"mix_stderr": False} if "mix_stderr" in signature(CliRunner).parameters else {}
RUNNER = CliRunner(**STREAMS)
"""click before 8.2 mixes the two streams unless it is told not to."""

DRAFT = """program(1.3)
{
    func main<ios18>(tensor<fp32, [2, 3]> x, tensor<int32, [1]> n) {
            a = relu(x = x);
            y = add(x = a, y = 0.5);
            z = add(x = n, y = 1);
        } -> (y, z);
    func other<ios18>(tensor<fp32, [3]> x) {
            y = exp(x = x);
        } -> (y);
}
"""
GIVEN = ("--input", "x=[[1,-2,3],[4,5,-6]]", "--input", "n=7")
TABLE = """\
name  type                  min  max  mean  NaN  inf  zeros
y     tensor<fp32, [2, 3]>  [[1.5, 0.5, 3.5], [4.5, 5.5, 0.5]]
z     tensor<int32, [1]>    [8]
"""


def run(*arguments: object, input: str | None = None) -> Result:
    return RUNNER.invoke(command, ["run", *map(str, arguments)], input=input)


def done(*arguments: object, input: str | None = None) -> str:
    result = run(*arguments, input=input)
    assert (result.exit_code, result.stderr) == (0, ""), result
    return result.stdout


def refused(*arguments: object, status: int = 2) -> str:
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (status, ""), result
    assert "Traceback" not in result.stderr
    return result.stderr


def text(path: str, data: str) -> None:
    Path(path).write_text(data, encoding="utf-8")
