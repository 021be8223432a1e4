"""Workers of a cluster of dask.distributed, the extra `dask`."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from functools import partial

from miltext.batches.executing import Workers
from miltext.diagnostics import ModelError, Note, codes, error
from miltext.diagnostics.home import install

SECONDS = 10
"""The time in which a scheduler answers."""


def dask_workers(address: str) -> Workers:
    """Return the workers of the cluster of the scheduler at HOST:PORT."""
    return Workers(partial(_cluster, address), None, is_own=False)


@contextmanager
def _cluster(address: str) -> Iterator[Executor]:
    """Yield the executor of a cluster. Raise ModelError (MIL291) without dask, or without the scheduler.

    The scheduler tries a task of a worker that ended on other workers, and gives up after several of them; so it does
    not know of a task which ended them.
    """
    try:
        from distributed import Client
    except ModuleNotFoundError:
        raise _refusal("dask.distributed is not installed", f"install it: {install('dask')}") from None
    try:
        client = Client(f"tcp://{address}", timeout=SECONDS, set_as_default=False)
    except (OSError, ValueError) as failure:
        way = "start one with `dask scheduler`, and workers with `dask worker`; miltext is to be installed there, too"
        raise _refusal(f"no scheduler of dask answers at {address}", way) from failure
    with client:
        yield client.get_executor(pure=False)


def _refusal(message: str, way: str) -> ModelError:
    return ModelError([error(codes.NO_DASK, message, None, Note(way))])
