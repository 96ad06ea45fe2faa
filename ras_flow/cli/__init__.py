"""The command line: arguments in, library call, output. Heavy imports happen inside commands."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; an error, and Ctrl-C, is one line on standard error.

    The exit code is 2 for a command that is written wrongly, 1 for an error of ours, 130 for
    Ctrl-C.
    """
    try:
        # On a busy machine this takes a second.
        from ras_flow.cli.commands import run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("ras-flow: interrupted.\n")
        sys.exit(130)
