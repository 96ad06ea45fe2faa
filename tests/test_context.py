"""Settings: wrong ones are refused by name, and they are found wherever a run carries them."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from ras_flow.errors import ConfigurationError
from ras_flow.settings.context import Context, settings_given


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("top_k", 0),
        ("top_k", "5"),
        ("max_seconds", True),
        ("instruction", "x" * 20_001),
        ("max_hops", -1),
        ("max_seconds", -1.0),
        ("model_timeout", 0),
        ("retriever", "google"),
        ("task", "poetry"),
        ("planner", ""),
        ("top_k", 2**63),
        ("max_seconds", float("inf")),
        ("instruction", "Answer \ud800"),
        ("planner", "openai:\0"),
        ("pause_before_retrieval", "yes"),
    ],
)
def test_a_wrong_value_is_refused_by_name(name: str, value: Any) -> None:
    with pytest.raises(ConfigurationError, match=name):
        Context.from_mapping({name: value})


@pytest.mark.parametrize(
    "settings",
    [
        {"planner": "openai:" + "x" * 1_000_000},
        {"task": "x" * 1_000_000},
        {"x" * 1_000_000: 1},
        {f"x{number}": 1 for number in range(100_000)},
    ],
)
def test_a_wrong_value_of_a_megabyte_is_told_shortly(settings: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError) as told:
        Context.from_mapping(settings)
    assert len(str(told.value)) < 3_000


def test_an_unknown_name_is_refused_and_the_known_ones_are_listed() -> None:
    with pytest.raises(ConfigurationError, match="topk.*top_k"):
        Context.from_mapping({"topk": 3})


def test_only_changed_values_are_kept_and_they_survive_json() -> None:
    context = Context(top_k=3, max_seconds=2.5)
    assert context.changed() == {"top_k": 3, "max_seconds": 2.5}
    assert Context.from_mapping(json.loads(json.dumps(context.changed()))) == context
    assert Context().changed() == {}


def test_settings_are_found_in_what_a_run_carries() -> None:
    ours = Context(top_k=3)
    for given in (
        ours,
        {"ras_flow": ours},
        {"ras_flow": {"top_k": 3}},
        SimpleNamespace(ras_flow=ours),
    ):
        assert settings_given(given) == {"top_k": 3}
    for nothing in (None, Context(), {}, {"tone": "calm"}, SimpleNamespace(), {"ras_flow": None}):
        assert settings_given(nothing) == {}


@pytest.mark.parametrize("wrong", [5, "top_k", [1], {1: 2}])
def test_settings_of_another_kind_are_told_and_not_left_out(wrong: Any) -> None:
    for given in ({"ras_flow": wrong}, SimpleNamespace(ras_flow=wrong)):
        with pytest.raises(ConfigurationError, match="settings"):
            settings_given(given)


def test_settings_in_a_pydantic_context_hold() -> None:
    class App(BaseModel):
        ras_flow: Context

    app = App.model_validate({"ras_flow": {"max_hops": 2}})
    assert settings_given(app) == {"max_hops": 2}
    with pytest.raises(ValidationError, match="max_hop"):
        App.model_validate({"ras_flow": {"max_hop": 2}})
