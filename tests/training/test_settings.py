"""Training settings: whatever a file says, it is taken or refused by name."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ras_flow.errors import ConfigurationError
from ras_flow.support.validation import read_toml
from ras_flow.training.graph_llm.config import TrainingConfig as GraphLLM
from ras_flow.training.triples.config import TrainingConfig as Triples

FOLDER = Path(__file__).parents[2] / "recipes" / "configs"
SHIPPED: list[tuple[type[GraphLLM | Triples], Path]] = [
    (GraphLLM, FOLDER / "graph-llm.toml"),
    (Triples, FOLDER / "triples.toml"),
]
WRONG: st.SearchStrategy[Any] = st.one_of(
    st.booleans(),
    st.integers(-3, 10**9),
    st.floats(),
    st.text(st.characters(codec="ascii", exclude_categories=["Cc"]), max_size=8),
    st.lists(st.integers() | st.text("ab"), max_size=2),
    st.dictionaries(st.text("ab", min_size=1), st.integers() | st.booleans(), max_size=2),
)


def toml(value: Any) -> str:
    """Write a value as TOML does."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name} = {toml(item)}" for name, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return repr(value) if isinstance(value, float) else json.dumps(value)


def places(table: dict[str, Any], before: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name, value in table.items():
        yield (*before, name)
        if isinstance(value, dict):
            yield from places(value, (*before, name))


@pytest.mark.parametrize(("kind", "file"), SHIPPED, ids=["graph-llm", "triples"])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=100)
@given(data=st.data(), value=WRONG)
def test_any_value_is_taken_or_refused_by_name(
    tmp_path: Path, kind: type[GraphLLM | Triples], file: Path, data: st.DataObject, value: Any
) -> None:
    tables = tomllib.loads(file.read_text(encoding="utf-8"))
    *path, name = data.draw(st.sampled_from(list(places(tables))))
    table = tables
    for key in path:
        table = table[key]
    table[name] = value
    changed = tmp_path / "changed.toml"
    changed.write_text("\n".join(f"{key} = {toml(one)}" for key, one in tables.items()))
    try:
        read_toml(changed, kind)
    except ConfigurationError as error:
        # Two values may not go together: either is to be mended.
        assert any(one in str(error) for one in table)
