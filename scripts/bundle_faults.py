"""Make each fault in compiled models and packages, one at a time, and show those that check does not tell.

`python scripts/bundle_faults.py M.mlmodelc M.mlpackage ...` changes each byte of the binary files and of the records in
weight files, each value of `metadata.json` and of the manifest, and the heads of functions in `model.mil`, in a copy.
The script needs the tests' requirements.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from support.bundle_faults import faults, told, untold


@click.command()
@click.argument("bundles", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--step", default=1, show_default=True, help="Change each so many bytes.")
def main(bundles: tuple[Path, ...], step: int) -> None:
    """Print for each of the BUNDLES, compiled or not, what is told of it as it is, and its faults that are not told."""
    failed = 0
    for bundle in bundles:
        count = sum(1 for _ in faults(bundle, step))
        print(f"{bundle}: {count} faults", flush=True)
        for message in told(bundle):
            print(f"    as it is: {message}")
        with tempfile.TemporaryDirectory() as folder:
            for fault in untold(bundle, Path(folder) / f"Copy{bundle.suffix}", step):
                print(f"    untold: {fault.file}, {fault.what}")
                failed += 1
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
