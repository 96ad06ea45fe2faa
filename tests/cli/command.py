"""`ras-flow` as a process of its own, with real arguments, environment, streams and signals.

Importing everything takes seconds, so processes are forked from one that has it imported: what
runs in them is the installed script's own `main`.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

Main = Callable[[list[str]], None]

_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["tests.cli.warm"])


@dataclass(frozen=True)
class Done:
    """A process that ended: its exit code (negative: the signal) and what it printed."""

    code: int
    out: str
    err: str


def ras_flow_main(arguments: list[str]) -> None:
    from ras_flow.cli import main

    sys.argv = ["ras-flow", *arguments]
    main()


def recipes_main(arguments: list[str]) -> None:
    from ras_flow.cli.commands import run
    from recipes.__main__ import app

    sys.argv = ["recipes", *arguments]
    run(app)


class Command:
    """A running `ras-flow`.

    Args:
        arguments: What follows `ras-flow`.
        main: Another program to run.
        terminal: Give it a terminal as standard output and error.
    """

    def __init__(self, *arguments: str, main: Main = ras_flow_main, terminal: bool = False) -> None:
        self._folder = TemporaryDirectory()
        self.out = Path(self._folder.name, "out")
        self.err = Path(self._folder.name, "err")
        self.process: BaseProcess = _FORKS.Process(
            target=_main,
            args=(
                main,
                list(arguments),
                dict(os.environ),
                str(Path.cwd()),
                (str(self.out), str(self.err)),
                terminal,
            ),
        )
        self.process.start()

    def until(self, happened: Callable[[], bool], seconds: float = 60) -> None:
        """Wait for something; fail when the process ends before it."""
        deadline = time.monotonic() + seconds
        while not happened():
            assert self.process.is_alive(), self.wait()
            assert time.monotonic() < deadline, self.out.read_text()
            time.sleep(0.02)

    def send(self, number: signal.Signals) -> None:
        assert self.process.pid is not None
        os.kill(self.process.pid, number)

    def wait(self, seconds: float = 60) -> Done:
        self.process.join(seconds)
        code = self.process.exitcode
        if code is None:
            self.process.kill()
            self.process.join()
            raise AssertionError(f"still running after {seconds} s: {self.out.read_text()}")
        out, err = (
            path.read_bytes().decode(errors="replace") if path.exists() else ""
            for path in (self.out, self.err)
        )
        self._folder.cleanup()
        return Done(code, out, err)


def ras_flow(*arguments: str, terminal: bool = False) -> Done:
    """Run `ras-flow` to its end."""
    return Command(*arguments, terminal=terminal).wait()


def recipe(*arguments: str) -> Done:
    """Run `python -m recipes` to its end."""
    return Command(*arguments, main=recipes_main).wait()


def _main(
    main: Main,
    arguments: list[str],
    environment: dict[str, str],
    cwd: str,
    outputs: tuple[str, str],
    terminal: bool,
) -> None:
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(cwd)
    if terminal:
        return _in_terminal(main, arguments, outputs[0])
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, path in enumerate(outputs, start=1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), number)
    _own_streams()
    main(arguments)


def _in_terminal(main: Main, arguments: list[str], output: str) -> None:
    """Run the command as the child of a terminal, whose output this process writes down."""
    import pty

    child, terminal = pty.fork()
    if not child:
        _own_streams()
        try:
            main(arguments)
        except SystemExit as end:
            sys.stdout.flush()
            os._exit(int(end.code or 0))
        os._exit(0)
    signal.signal(signal.SIGINT, lambda *_: os.kill(child, signal.SIGINT))
    with open(output, "wb", buffering=0) as file:
        while data := _read(terminal):
            file.write(data)
    _, status = os.waitpid(child, 0)
    sys.exit(os.waitstatus_to_exitcode(status))


def _own_streams() -> None:
    """Replace Python's streams, which are set up for the outputs of the process forked from."""
    sys.stdout, sys.stderr = (open(number, "w", closefd=False) for number in (1, 2))


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # What Linux says where others say that the file is at its end.
        return b""


def document(run: str) -> dict[str, Any]:
    done = ras_flow("runs", "show", run, "--json")
    assert done.code == 0, done.err
    return dict(json.loads(done.out))


def ok(*arguments: str) -> str:
    done = ras_flow("runs", *arguments)
    assert (done.code, done.err) == (0, ""), done.err
    return " ".join(done.out.split())


def refused(*arguments: str) -> str:
    """Run a command that fails, and return its one line."""
    done: Done = ras_flow("runs", *arguments)
    [line] = done.err.splitlines()
    assert done.code in (1, 2) and line.startswith("ras-flow: "), done
    return line
