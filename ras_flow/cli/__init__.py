"""The command line: arguments in, library call, output. Heavy imports happen inside commands."""

from __future__ import annotations

import gc
import os
import sys


def main() -> None:
    """Run the command line; errors and Ctrl-C are one line on standard error.

    The exit code is 2 for wrong usage, 1 for our errors, 130 for Ctrl-C.
    """
    _open_streams()
    # What is imported lives on: looking through it for garbage takes a tenth of the start.
    gc.set_threshold(100_000)
    try:
        # On a busy machine this takes a second.
        from ras_flow.cli.commands import run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("ras-flow: interrupted.\n")
        sys.exit(130)


def _open_streams() -> None:
    """Open streams that the process started without (``>&-``) on /dev/null.

    Otherwise the next opened file would take the stream's number and its output.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))
