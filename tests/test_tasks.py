"""Presets of the paper's tasks (table 5, appendix F.2)."""

from __future__ import annotations

import pytest

from ras_flow.errors import ConfigurationError
from ras_flow.settings.tasks import TASKS, get_task


@pytest.mark.parametrize("name", TASKS)
def test_instructions_suit_the_length(name: str) -> None:
    task = get_task(name)
    assert bool(task.instruction) == (name != "short_qa"), "short answers take no instruction"
    assert task.instruction.endswith("[Long Form]") == (task.max_answer_tokens == 300)


def test_an_unknown_preset_is_told_which_there_are() -> None:
    with pytest.raises(ConfigurationError, match=r"'poetry'.*short_qa.*explain"):
        get_task("poetry")
