"""Presets of the paper's tasks (table 5, appendix F.2)."""

from __future__ import annotations

import pytest

from ras_flow.errors import ConfigurationError
from ras_flow.settings.tasks import TASKS, get_task


@pytest.mark.parametrize(
    ("name", "tokens", "asks_for"),
    [
        ("short_qa", 100, ""),
        ("multiple_choice", 50, "letter"),
        ("fact_check", 50, "'true' or 'false'"),
        ("yes_no", 50, "'yes' or 'no'"),
        ("ambiguous_qa", 300, "each reading"),
        ("explain", 300, "one paragraph"),
    ],
)
def test_limits_and_instructions(name: str, tokens: int, asks_for: str) -> None:
    task = get_task(name)
    assert task.max_answer_tokens == tokens
    assert asks_for in task.instruction
    assert bool(task.instruction) == (name != "short_qa"), "short answers take no instruction"
    assert task.instruction.endswith("[Long Form]") == (tokens == 300)


def test_every_preset_is_tested_and_an_unknown_one_lists_them() -> None:
    assert len(TASKS) == 6
    with pytest.raises(ConfigurationError, match=r"'poetry'.*short_qa.*explain"):
        get_task("poetry")
