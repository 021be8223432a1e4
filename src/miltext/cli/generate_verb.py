"""`miltext generate`: a valid program from a seed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from miltext.building.choices import BuildOptions
from miltext.cli.declared import declared
from miltext.cli.streams import output_in_folder, show, write_text

if TYPE_CHECKING:
    from miltext.cli.habits import Chosen
    from miltext.generation.options import Options
    from miltext.schema.proto import Program

LARGEST = 64
"""The largest size of a model for an open size of a generated program."""

STORED_FROM = 10
"""The least number of elements of a weight in the weight file, as in coremltools; an option can lower it."""

EPILOG = """\b
Examples:
  miltext generate --seed 7                                   # the text of a program of 10 operations
  miltext generate --seed 7 --ops 1000 --opset ios17 -o large.mil
  miltext generate --seed 7 --only conv --only relu -o M.mlpackage
  miltext generate --seed 7 --dtype fp16 --functions 3 -o M.mlpackage
  miltext generate --seed 7 --weights 4096 -o M.mlpackage     # with weights in a file
\b
Exit status: 0 the program is made; 1 OUT cannot hold it; 2 usage, impossible options, files.
"""


@click.command("generate", epilog=EPILOG)
@click.option("--seed", type=int, default=0, metavar="N", help="The seed, which determines the program. [0]")
@click.option(
    "--ops", type=int, default=10, metavar="K", help="The number of operations, besides constants and casts.  [10]"
)
@click.option("--opset", metavar="OPSET", help="The opset of its functions: ios15 to ios19.  [one by the seed]")
@click.option("--only", multiple=True, metavar="OP", help="Use this operation; may be repeated.  [all]")
@click.option("--dtype", multiple=True, metavar="TYPE", help="Compute with this data type; may be repeated.")
@click.option("--inputs", type=int, default=3, metavar="N", help="The greatest number of inputs.  [3]")
@click.option("--outputs", type=int, metavar="N", help="The greatest number of outputs.  [all unused values]")
@click.option(
    "--functions", type=int, default=1, metavar="N", help="The greatest number of functions, from ios18 on.  [1]"
)
@click.option("--flexible", is_flag=True, help="Leave sizes of inputs open.")
@click.option(
    "--weights", type=int, default=0, metavar="N", help="Give weights of convolutions and of linear N elements or more."
)
@click.option(
    "-o",
    "--output",
    metavar="OUT",
    default="-",
    callback=output_in_folder,
    help="The .mil, .mlpackage, .mlmodel or .mlmodelc to write.",
)
@declared(BuildOptions, "allow_unproven", "force")
def command(seed: int, output: str, allow_unproven: bool, force: bool, **chosen: Chosen) -> None:
    """Make a valid program at random, of operations with compatible types.

    The same options give the same program, on every system. It passes `miltext check`, `miltext run` computes it, and
    coremltools loads it. Its results have no meaning: it is for tests of converters, compilers and other tools. Casts
    and constants are added where operations need them.
    """
    from miltext.generation.programs import generate
    from miltext.printing.printing import to_text

    made = generate(seed, _options(**chosen))
    if output == "-" or Path(output).suffix.lower() == ".mil":
        write_text(output, [to_text(made)], "mil", force=force)
        return
    from miltext.building.build import require_ending
    from miltext.containers.opening import read
    from miltext.drafting.building import build

    require_ending(Path(output), "a generated program")
    model = read(made.SerializeToString(), f"<seed {seed}>")
    externalize = min(STORED_FROM, chosen["weights"]) or None
    built = build(
        model, output, force=force, externalize=externalize, ranges=_ranges(made), allow_unproven=allow_unproven
    )
    show(built, None, output)


def _ranges(made: Program) -> dict[str, str]:
    """Return the sizes of inputs with open sizes, by name: from 1 to LARGEST."""
    from miltext.schema.types import TensorType, read_type

    inputs = [(each.name, read_type(each.type)) for function in made.functions.values() for each in function.inputs]
    return {
        name: ",".join(f"1..{LARGEST}" if size is None else str(size) for size in held.shape)
        for name, held in inputs
        if isinstance(held, TensorType) and None in held.shape
    }


def _options(**chosen: Chosen) -> Options:
    """Return the options of a generation, from those of the command line."""
    from miltext.generation.options import OPSET_NAMES, Options

    return Options(
        opsets=(chosen["opset"],) if chosen["opset"] else OPSET_NAMES,
        operations=chosen["only"] or None,
        dtypes=chosen["dtype"] or None,
        ops=(chosen["ops"], chosen["ops"]),
        inputs=chosen["inputs"],
        outputs=chosen["outputs"],
        functions=chosen["functions"],
        flexible=chosen["flexible"],
        weights=chosen["weights"],
    )
