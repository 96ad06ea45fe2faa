"""docs/settings.md: every setting and environment variable, with the defaults that hold."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from ras_flow.llms.waiting import MOST
from ras_flow.settings.context import Context
from ras_flow.settings.limits import DEFAULTS
from ras_flow.settings.tasks import TASKS

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.splitlines()
    if line.startswith("| `")
]
CELLS = {name: row for row in ROWS for name in re.findall(r"`(\w+)`", row[0])}


@pytest.mark.parametrize("name", Context.model_fields)
def test_each_setting_is_there_with_its_default(name: str) -> None:
    told, default = CELLS[name][-1], Context.model_fields[name].default
    if default in (None, ""):
        assert told.startswith("none" if default is None else "empty")
    elif isinstance(default, bool | float):
        assert told == f"`{json.dumps(default).removesuffix('.0')}`"
    else:
        assert told == f"`{default}`"


def test_each_task_is_there_with_its_length() -> None:
    assert {name: int(CELLS[name][-1]) for name in TASKS} == {
        name: task.max_answer_tokens for name, task in TASKS.items()
    }


def test_each_environment_variable_is_there() -> None:
    sources = (path.read_text(encoding="utf-8") for path in (ROOT / "ras_flow").rglob("*.py"))
    read = {name for text in sources for name in re.findall(r'"(RAS_FLOW_\w+)"', text)}
    assert len(read) > 5 and read <= CELLS.keys()
    assert CELLS["RAS_FLOW_MAX_QUESTION"][-1] == "; ".join(f"{n:,}" for n in DEFAULTS.values())
    assert CELLS["RAS_FLOW_MAX_CALLS"][-1] == f"{MOST:,}"
