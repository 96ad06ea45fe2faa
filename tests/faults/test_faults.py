"""Faults on the way: no run is lost, and no wrong answer is presented as right."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.campaign import DATABASES, database_faults, full_disk, kills, model_faults
from tests.faults.world import FAULTS
from tests.servers.quick import quick_retries


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "placeholder")


@pytest.mark.parametrize("kind", FAULTS)
async def test_spoilt_answers_of_a_model_server(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    quick_retries(monkeypatch)
    counts = await model_faults(kind, runs=12, share=0.55)
    assert counts.faults > 10
    assert counts.interrupted + counts.marked > 0, "two attempts are too few for some"
    assert (counts.runs, counts.lost, counts.wrong) == (12, 0, 0)
    assert counts.right > 0


@pytest.mark.parametrize("kind", DATABASES)
async def test_a_database_that_is_out_of_order_for_a_moment(kind: str) -> None:
    counts = await database_faults(kind, 8)
    # Runs on Postgres may not even notice: their connections are made anew.
    assert counts.interrupted > 0 or kind == "Postgres restarted"
    assert (counts.right, counts.lost) == (8, 0)


def test_a_process_that_is_killed_at_random() -> None:
    counts = kills(5, at_once=4)
    assert counts.faults == 5
    assert counts.right == counts.runs >= 4


async def test_a_disk_that_is_full_while_an_index_is_built(tmp_path: Path) -> None:
    counts = await full_disk(tmp_path / "index", [0, 100, 1000, 4000, 8000, 12000, 10**6])
    assert counts.refused >= 4 and counts.done >= 1
