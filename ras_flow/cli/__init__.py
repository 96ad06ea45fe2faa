"""The command line: arguments in, library call, output. Heavy imports happen inside commands."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command line; an error, and Ctrl-C, is one line on standard error.

    The exit code is 2 for a command that is written wrongly, 1 for an error of ours, 130 for
    Ctrl-C.
    """
    _open_streams()
    try:
        # On a busy machine this takes a second.
        from ras_flow.cli.commands import run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("ras-flow: interrupted.\n")
        sys.exit(130)


def _open_streams() -> None:
    """Open the streams that the process was started without (``>&-``), as if on /dev/null.

    The next file to be opened would take such a stream's number, and be written to in its place.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))
