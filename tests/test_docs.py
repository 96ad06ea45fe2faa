"""The pages that people read: their links lead somewhere, their commands and imports exist."""

from __future__ import annotations

import ast
import importlib
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from ras_flow.cli.commands import app
from ras_flow.runs.systems import info_of

ROOT = Path(__file__).parents[1]
RESULTS = sorted((ROOT / "benchmarks" / "results").glob("*.md"))
PAGES = [
    *(page for folder in (".", "docs", "recipes") for page in sorted((ROOT / folder).glob("*.md"))),
    *RESULTS,
]
MANUALS = [page for page in PAGES if page not in RESULTS]
FOLDERS = ("benchmarks", "examples", "ras_flow", "recipes", "tests", r"\w+_configs")
BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def blocks(page: Path, language: str) -> list[str]:
    text = page.read_text(encoding="utf-8")
    return [block for _, kind, block in BLOCK.findall(text) if kind == language]


def anchors(page: Path) -> set[str]:
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    broken = []
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if re.match(r"\w+:", link):
            continue
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


@pytest.mark.parametrize("page", MANUALS, ids=name)
def test_files_of_the_repository_that_are_named_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    paths = re.findall(rf"(?<![\w/.])(?:{'|'.join(FOLDERS)})/[\w./-]*\w", text)
    assert [path for path in paths if "NAME" not in path and not (ROOT / path).exists()] == []


@pytest.mark.parametrize("page", MANUALS, ids=name)
def test_commands_and_their_options_exist(page: Path) -> None:
    lines = "\n".join(blocks(page, "")).replace("\\\n", " ").splitlines()
    for line in lines:
        found = re.search(r"(?:^|\$ |until |&& )ras-flow (.*)", line)
        if found:
            words = shlex.split(found[1].replace("…", "x"), comments=True)
            command: Any = get_command(app)
            while commands := getattr(command, "commands", None):
                named = words and words[0] in commands
                command = commands[words.pop(0) if named else "run"]  # `eval` alone runs.
            options = {name for option in command.params for name in option.opts}
            given = {word.partition("=")[0] for word in words if word.startswith("--")}
            if command.name in ("fork", "resume"):  # A run's system says which edits it takes.
                options |= {f"--{op.replace('_', '-')}" for op in info_of("ras")["operations"]}
            assert given <= options, line


@pytest.mark.parametrize("page", MANUALS, ids=name)
def test_programs_parse_and_import_what_is_there(page: Path) -> None:
    for program in blocks(page, "python"):
        for node in ast.walk(ast.parse(program)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ras_flow"):
                module = importlib.import_module(node.module or "")
                for alias in node.names:
                    assert hasattr(module, alias.name), f"{node.module}.{alias.name}"
