"""An answerer learns from what the default loop shows it, where that tells the answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ras_flow.formats.hop_view import LAST
from ras_flow.testing import ScriptedModel
from ras_flow.training.graph_llm.data import read_split
from recipes import answers
from recipes.answers import play_answers
from recipes.graph_llm.config import load_config
from recipes.lessons import play_texts
from tests.cli.command import recipe
from tests.recipes.graph_llm.test_playing import write_mix
from tests.recipes.test_lessons import TASKS, settings

DOCS = [
    ("Salt Road", "Salt Road is a silent film about smugglers that Tora Veland made in Molde."),
    ("Tora Veland", "Tora Veland was a director who was born in Kuortane and died in Bergen."),
    ("Nils Aune", "Nils Aune played the violin in Trondheim until he went blind."),
]
QUESTIONS: list[dict[str, Any]] = [
    {"question": "Where was the maker of Salt Road born?", "answer": "Kuortane", "docs": [0, 1]},
    {"question": "Who played the violin at Trondheim?", "answer": "Aune's son", "docs": [2]},
    {"question": "Was Salt Road made where Tora Veland died?", "answer": "no", "docs": [0, 1]},
    {"question": "What did the Salt Road film cost?", "answer": "", "docs": []},
]


def write_worlds(home: Path, *, name: str = "worlds.jsonl", more: str = "") -> Path:
    docs = [{"title": title, "text": text + more} for title, text in DOCS]
    asked = [{"kind": "bridge", **question} for question in QUESTIONS]
    path = home / name
    path.write_text(json.dumps({"docs": docs, "questions": asked}) + "\n")
    return path


def reply(shown: str) -> str:
    """Search for the maker of the film, and answer then."""
    if "Question: Who played" in shown:
        return "Nils Aune | played | violin [1]\n[ANSWER] Nils Aune [1]"
    noted = "Salt Road | director | Tora Veland [1]\n" if "[Salt Road]" in shown else ""
    if "Search:" in shown or LAST in shown:
        return f"{noted}[ANSWER] Kuortane [1]"
    return f"{noted}[SUBQ] Where was Tora Veland born and where did she die?"


@pytest.mark.parametrize("unnoted", [0, 1])
async def test_it_sees_what_users_answerer_sees(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unnoted: float
) -> None:
    monkeypatch.setattr(answers, "UNNOTED", unnoted)
    mix, worlds = load_config(write_mix(tmp_path)), [write_worlds(tmp_path)]
    await play_answers(mix, ScriptedModel(reply), worlds, tmp_path / "records")
    made = [
        one
        for split in ("train", "dev")
        for one in read_split([tmp_path / "records"], split)
        if one["source"] == "invented"
    ]
    by_answer = {one["target"]["answer"]: one for one in made}
    assert by_answer.keys() <= {"Kuortane", "no"}, "what nothing shown tells is a guess"
    assert "Kuortane" in by_answer
    links = by_answer["Kuortane"]["chain"]
    noted = [["Salt Road", "director", "Tora Veland"]]
    assert links[0]["triples"] == ([] if unnoted else noted)
    titles = [title for link in links for title, _ in link.get("passages", ())]
    assert {"Salt Road", "Tora Veland"} <= set(titles)


def test_a_run_without_a_label_teaches_nothing(tmp_path: Path) -> None:
    worlds = ["--worlds", str(write_worlds(tmp_path))]
    done = recipe("play-answers", str(write_mix(tmp_path)), "--out", str(tmp_path / "r"), *worlds)
    assert done.code == 0 and "/r: 0 records" in done.out, done.err


async def test_worlds_are_played_for_hop_readers_too_each_file_by_itself(tmp_path: Path) -> None:
    mix = load_config(write_mix(tmp_path))
    other = write_worlds(tmp_path, name="other.jsonl", more=" So others tell it.")
    rows = await play_texts(
        mix,
        "one_call",
        base=settings(tmp_path).model.name,
        tasks=TASKS,
        top_k=2,
        student=ScriptedModel(reply),
        worlds=[write_worlds(tmp_path), other],
    )
    later = [row["input"] for row in rows if row["id"].startswith("invented/worlds-0-0/")]
    assert any("Salt Road | director | Tora Veland [1]" in shown for shown in later)
    assert not any("others tell it" in shown for shown in later)
    assert any("others tell it" in row["input"] for row in rows)
