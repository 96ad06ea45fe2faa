"""Worker processes of a Ray cluster: a local one, or that of RAY_ADDRESS.

A worker that dies is started again, and its units of work are done again; see :data:`RETRIES`. The
models that they name are opened once in each worker.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import version
from typing import Any, TypeVar, TypeVarTuple

from ras_flow.errors import ClusterError
from ras_flow.support.extras import require

T = TypeVar("T")
Given = TypeVarTuple("Given")

RETRIES = 3
"""How often a unit of work is repeated if its worker dies."""

PATIENCE = 120.0
"""Seconds until a first worker must have started."""

_AHEAD = 2
"""Units for each worker: one that it does, and one that waits for it."""


class Workers:
    """An :class:`~ras_flow.support.engine.Engine` of Ray's actors; see :func:`open_workers`."""

    def __init__(self, ray: Any, actors: list[Any]) -> None:
        self._ray = ray
        self._busy = dict.fromkeys(actors, 0)
        self.at_once = _AHEAD * len(actors)

    def __len__(self) -> int:
        """Return the number of workers."""
        return len(self._busy)

    async def do(self, work: Callable[[*Given], Awaitable[T]], *given: *Given) -> T:
        """Give a unit of work to the least busy worker."""
        actor = min(self._busy, key=self._busy.__getitem__)
        self._busy[actor] += 1
        task = actor.do.remote(work, *given)
        try:
            with _told(self._ray):
                made: T = await task
        except asyncio.CancelledError:
            self._ray.cancel(task)
            raise
        finally:
            self._busy[actor] -= 1
        return made


@contextmanager
def _told(ray: Any) -> Iterator[None]:
    """Raise what a worker's work raised, or tell that Ray lost it."""
    try:
        yield
    except ray.exceptions.RayTaskError as error:
        raise error.cause from error
    except ray.exceptions.RayError as error:
        raise ClusterError(_lost(error)) from error


class _Worker:
    """What runs in a worker's process, any number of units at once."""

    def __init__(self, folder: str, theirs: str) -> None:
        self._theirs = theirs
        with suppress(OSError):  # Another machine may have no such folder.
            os.chdir(folder)

    async def check(self) -> None:
        if version("ras-flow") != self._theirs:
            raise ClusterError(
                f"A worker of the Ray cluster has ras-flow {version('ras-flow')}, this process has "
                f"{self._theirs}: install the same version on every machine."
            )

    async def do(self, work: Callable[[*Given], Awaitable[T]], *given: *Given) -> T:
        await self.check()
        return await work(*given)


@contextmanager
def open_workers(most: int | None = None) -> Iterator[Workers]:
    """Start workers, one for each free GPU of the cluster, or each free processor if it has none.

    The cluster is the one that this process is connected to, else that of the environment variable
    RAY_ADDRESS, else a local one, which ends with the workers. This takes seconds, and blocks: call
    it before there is an event loop.
    """
    _set_up()
    ray = require("ray", extra="ray")
    ours = not ray.is_initialized()
    actors: list[Any] = []
    try:
        if ours:
            _connect(ray)
        actors += _start(ray, most)
        yield Workers(ray, actors)
    finally:
        with _undisturbed():
            for actor in actors:
                ray.kill(actor)
            if ours:
                ray.shutdown()


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Have Ctrl-C wait: half-way through, Ray hangs, prints tracebacks or leaves processes.

    Not where the cluster is elsewhere, which may stand still.
    """
    here = threading.current_thread() is threading.main_thread()
    if not here or os.environ.get("RAY_ADDRESS"):
        yield
        return
    pressed = False

    def press(*_: object) -> None:
        nonlocal pressed
        pressed = True

    before = signal.signal(signal.SIGINT, press)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if pressed:
        raise KeyboardInterrupt


def _set_up() -> None:
    """Set what Ray reads when it is imported."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    # Ray prints what happens to workers into the command's output, whatever `log_to_driver` says.
    os.environ.setdefault("RAY_DEDUP_LOGS_SKIP_REGEX", ".")
    if os.environ.get("RAY_ADDRESS"):
        # One attempt takes 40 seconds where nobody answers, and Ray would make twenty.
        os.environ.setdefault("RAY_gcs_server_port_wait_time_s", "1")
    else:
        # On all systems, despite its name: a cluster that listens to this machine alone.
        os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"


def _connect(ray: Any) -> None:
    address = os.environ.get("RAY_ADDRESS")
    quiet = {"log_to_driver": False, "logging_level": "ERROR"}
    try:
        if address:
            _reach(address)
            ray.init(address, **quiet)
        else:
            with _undisturbed():
                ray.init("local", include_dashboard=False, **quiet)
    except Exception as error:  # Ray raises nothing more exact if a node does not start in time.
        where = f"at RAY_ADDRESS={address}" if address else "on this machine"
        raise ClusterError(
            f"No Ray cluster {where} ({error}). If the machine was too busy to start it in time, "
            "try again. Start one with `ray start --head` and put its address into RAY_ADDRESS "
            "(with RAY_AUTH_MODE=token if it asks for a token), or unset both to use a local one."
        ) from error


def _reach(address: str) -> None:
    """Check that something listens there: Ray itself would take minutes to find out."""
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()


def _start(ray: Any, most: int | None) -> list[Any]:
    free = ray.available_resources()
    gpus, cpus = (int(free.get(name, 0)) for name in ("GPU", "CPU"))
    count = max(1, gpus or cpus)
    worker = ray.remote(_Worker).options(
        num_cpus=1,
        num_gpus=1 if gpus else 0,
        max_restarts=-1,
        max_task_retries=RETRIES,
    )
    given = os.getcwd(), version("ras-flow")
    actors = [worker.remote(*given) for _ in range(min(count, most or count))]
    with _told(ray):
        started, _ = ray.wait([actor.check.remote() for actor in actors], timeout=PATIENCE)
        ray.get(started)
    if not started:
        raise ClusterError(
            f"The Ray cluster started no worker within {PATIENCE:.0f} s: other programs use all "
            "its processors. Wait for them, or add machines."
        )
    return actors


def _lost(error: Exception) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    # What kept a worker from starting comes after a traceback.
    said = lines[-1 if "creation task" in lines[0] else 0].rstrip(".")
    return (
        f"The Ray cluster gave up a piece of work: {said}. A worker that dies again and again "
        "often has too little memory; ras-flow must be installed on every machine. See the logs of "
        "Ray (/tmp/ray/session_latest/logs)."
    )
