"""Plans and answers of any language model, against the targets of records."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ras_flow.components import Generation, Message
from ras_flow.errors import ConfigurationError
from ras_flow.training.graph_llm.evaluate import evaluate_language_model
from ras_flow.training.graph_llm.training import evaluate
from tests.training.graph_llm.samples import config, records


class Canned:
    """Answers by what the last message asks."""

    identity, window, batch_size = "canned", 4000, 8

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    async def generate(
        self, prompts: Sequence[Sequence[Message]], *, max_new_tokens: int, stop: Sequence[str] = ()
    ) -> list[Generation]:
        return [Generation(self._said(prompt), 1, 1) for prompt in prompts]

    def _said(self, prompt: Sequence[Message]) -> str:
        planning = "[SUFFICIENT]" in prompt[0]["content"]
        asked = prompt[-1]["content"]
        if not planning:
            return "Narvik"
        return "[SUFFICIENT]" if "born in" in asked else "[SUBQ] P0?"


async def test_a_language_model_is_measured_as_a_graph_llm_is() -> None:
    rows = records(2)
    measures = await evaluate_language_model(Canned(), rows)  # type: ignore[arg-type]
    plans, answers = measures.scores["plan", "all"], measures.scores["answer", "all"]
    assert (plans.records, plans.right, plans.unusable) == (6, 6, 0)
    # Subqueries of first plans are not compared; "P1?" is another than "P0?".
    assert (plans.compared, plans.exact) == (2, 1)
    assert (answers.records, answers.right, answers.f1) == (2, 1, 1.0)
    assert measures.texts[rows[3]["id"]] == "Narvik"


def test_a_name_that_is_no_folder_is_a_model(tmp_path: object, base: object, data: object) -> None:
    with pytest.raises(ConfigurationError, match="nonesuch"):
        evaluate(config(base), "nonesuch:model", data=data)  # type: ignore[arg-type]
