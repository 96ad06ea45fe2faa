"""Parts that work in workers are asked as they are in this process."""

from __future__ import annotations

import pytest

from ras_flow.cluster.parts import EngineParts
from ras_flow.t2rag.parts import answer_form
from ras_flow.t2rag.settings import T2Context


@pytest.mark.parametrize("answerer", ["openai:a", "openai:b"])
async def test_one_model_for_two_roles_is_known_as_one(
    answerer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "test")
    context = T2Context(resolver="openai:a", answerer=answerer)
    parts = EngineParts(defaults=T2Context())
    resolver = await parts.get_model("resolver", context)
    form = answer_form(resolver, await parts.get_answerer(context), context)
    assert (form is not None) == (answerer == "openai:a")
