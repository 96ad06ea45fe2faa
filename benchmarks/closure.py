"""What one must read to understand a node: the modules that its file pulls in by imports.

The files of the packages that these are in count too. Left out are imports inside functions or for
type checking alone, and files that hold a docstring only. Run it with:

    python benchmarks/closure.py [MODULE …]
"""

from __future__ import annotations

import argparse
import ast
from pathlib import Path

ROOT = Path(__file__).parents[1]


def file_of(module: str) -> Path | None:
    """Return the file of a module of the package, if it is one."""
    path = ROOT / module.replace(".", "/")
    return next((f for f in (path.with_suffix(".py"), path / "__init__.py") if f.exists()), None)


def imported(path: Path) -> set[str]:
    """Return the modules of the package that a file imports when it is loaded."""
    found: set[str] = set()
    waiting: list[ast.stmt] = list(ast.parse(path.read_text(encoding="utf-8")).body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{name.name}" for name in node.names]
            found |= {node.module, *(name for name in names if file_of(name))}
        elif isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            waiting += node.orelse
        elif isinstance(node, ast.If | ast.Try):
            waiting += [*node.body, *node.orelse]
    return {name for name in found if name.split(".")[0] == "ras_flow"}


def closure(module: str) -> dict[Path, int]:
    """Return the lines of a module's file and of all that it pulls in, by file."""
    found: dict[Path, int] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        path = file_of(name)
        if path is None or path in found:
            continue
        text = path.read_text(encoding="utf-8")
        found[path] = len(text.splitlines()) if len(ast.parse(text).body) > 1 else 0
        waiting += [*imported(path), *filter(None, [name.rpartition(".")[0]])]
    return {path: lines for path, lines in found.items() if lines}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modules", nargs="*", default=["ras_flow.nodes.plan", "ras_flow.graph"])
    for name in parser.parse_args().modules:
        files = closure(name)
        print(f"{name}: {len(files)} files, {sum(files.values())} lines")
        for path, lines in sorted(files.items()):
            print(f"  {lines:5} {path.relative_to(ROOT)}")
