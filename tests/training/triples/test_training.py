"""Training on tiny random models: what is learnt, stopping and going on, what is written."""

from __future__ import annotations

import asyncio
import json
import shutil
from dataclasses import replace
from math import ceil
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM
from typer.testing import CliRunner

from ras_flow.cli.commands import app
from ras_flow.errors import ConfigurationError, InputError
from ras_flow.formats.triples import format_triples
from ras_flow.graph_llm.checkpoint import save_graph_llm
from ras_flow.graph_llm.config import LoraConfig
from ras_flow.llms import LocalLanguageModel, load_language_model
from ras_flow.llms.local.export import export_extractor
from ras_flow.llms.local.model import read_model
from ras_flow.llms.local.tuned import find_tuned
from ras_flow.parts.prompted import make_extractor
from ras_flow.parts.prompted.extractor import PromptedExtractor
from ras_flow.parts.prompted.forms import trained_form
from ras_flow.prompts.extractor import source
from ras_flow.state.schema import Passage
from ras_flow.training.texts.config import LengthSettings, RowTraining
from ras_flow.training.texts.encoding import IGNORED, Encoder
from ras_flow.training.texts.rows import train_rows
from ras_flow.training.texts.training import training_tokenizer
from ras_flow.training.triples.config import TrainingConfig
from ras_flow.training.triples.examples import Example
from ras_flow.training.triples.training import encode_example, train
from tests.graph_llm.tiny import build
from tests.llms.test_seq2seq import save_tiny_t5
from tests.llms.tiny import save_tiny_model
from tests.training.triples.samples import NAMES, fact_rows, rows, write_rows

TRIPLES = (("Ann (poet)", "met", "Bo"), ("Ann (poet)", "born in", "Oslo, Norway"))
EXAMPLE = Example("1", "s", "Ann", "Ann, a poet, met Bo.", TRIPLES)
WEIGHTS = "adapter_model.safetensors"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("home")
    save_tiny_model(folder / "causal")
    save_tiny_t5(folder / "seq2seq")
    write_rows(folder / "houses.jsonl.gz", rows())
    write_rows(folder / "2wiki.jsonl", fact_rows())
    return folder


def config(home: Path, kind: str = "causal", **changes: Any) -> TrainingConfig:
    """Return settings; a change like ``lora={"rank": 2}`` is of single values."""
    made = {
        "data": {
            "files": ["houses.jsonl.gz"],
            "facts": ["2wiki.jsonl"],
            "dev": 0.1,
            "test": 0.2,
        },
        "model": {"name": str(home / kind), "kind": kind, "instruction": "Write facts."},
        "lora": {"rank": 4, "dropout": 0.1},
        "optimizer": {"learning_rate": 0.01, "batch_size": 3, "accumulation": 2, "steps": 4},
        "lengths": {"source": 200, "target": 200},
        "saving": {"every": 3},
    }
    return TrainingConfig(**{name: made[name] | changes.get(name, {}) for name in made})


def encoder(home: Path, kind: str = "causal", **lengths: int) -> Encoder:
    settings = config(home, kind)
    limits = LengthSettings(**{"source": 200, "target": 200, **lengths})
    return Encoder(training_tokenizer(settings.model), kind, limits)


def encoded(encode: Encoder, example: Example = EXAMPLE) -> dict[str, list[int]] | None:
    return encode_example(encode, "Write facts.", example)


def learnt(encode: Encoder, row: dict[str, list[int]] | None) -> str:
    assert row is not None
    return str(encode.tokenizer.decode([label for label in row["labels"] if label != IGNORED]))


def same_weights(one: Path, other: Path) -> bool:
    ours, theirs = load_file(one / WEIGHTS), load_file(other / WEIGHTS)
    return ours.keys() == theirs.keys() and all(torch.equal(ours[k], theirs[k]) for k in ours)


@pytest.mark.parametrize("kind", ["causal", "seq2seq"])
def test_only_the_triples_and_the_end_are_learnt(home: Path, kind: str) -> None:
    encode = encoder(home, kind)
    row = encoded(encode)
    assert row is not None
    assert learnt(encode, row) == format_triples(TRIPLES) + encode.tokenizer.eos_token
    if kind == "causal":
        prompt = row["input_ids"][: -len(format_triples(TRIPLES)) - 1]
        assert row["labels"][: len(prompt)] == [IGNORED] * len(prompt)
        assert prompt == encode.prompt("Write facts.", source("Ann", EXAMPLE.text))


def test_what_is_partial_or_cut_does_not_say_that_it_ends(home: Path) -> None:
    whole, first = format_triples(TRIPLES), format_triples(TRIPLES[:1])
    encode, short = encoder(home), encoder(home, target=len(first) + 5)
    assert learnt(encode, encoded(encode, replace(EXAMPLE, complete=False))) == whole[:-1]
    assert learnt(short, encoded(short)) == first[:-1]
    assert encoded(encoder(home, target=9)) is None
    assert encoded(encoder(home, source=9)) is None


async def test_training_prompts_are_those_of_inference(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ras_flow.llms.local import model as local

    asked: list[list[int]] = []
    real = local.generation.generate

    def spy(loaded: Any, tokenizer: Any, prompts: Any, **more: Any) -> Any:
        asked.extend([*prompt.prefix, *prompt.rest] for prompt in prompts)
        return real(loaded, tokenizer, prompts, **more)

    monkeypatch.setattr(local.generation, "generate", spy)
    form = trained_form("Write facts.", max_new_tokens=2)
    extractor = PromptedExtractor(LocalLanguageModel(str(home / "causal")), form)
    await extractor.extract([Passage(id="1", title="Ann", text=EXAMPLE.text)])
    assert asked == [encoder(home).prompt("Write facts.", source("Ann", EXAMPLE.text))]


@pytest.fixture(scope="module")
def unbroken(home: Path) -> Path:
    progress = train(config(home), home / "unbroken", data=home)
    assert (progress.finished, progress.step, progress.steps) == (True, 4, 4)
    return home / "unbroken"


@pytest.mark.filterwarnings("error::FutureWarning")
def test_stopped_and_resumed_ends_with_the_same_weights(home: Path, unbroken: Path) -> None:
    broken, steps = home / "broken", []
    while not steps or not steps[-1].finished:
        settings = config(home, optimizer={"gradient_checkpointing": len(steps) % 2 == 1})
        steps.append(train(settings, broken, data=home, seconds=0))
    assert [progress.step for progress in steps] == [1, 2, 3, 4]
    assert not (home / "broken.run").exists()
    assert same_weights(broken, unbroken)
    assert find_tuned(str(broken)).key == find_tuned(str(unbroken)).key  # type: ignore[union-attr]


def test_a_run_goes_on_with_its_settings_only(home: Path, tmp_path: Path) -> None:
    train(config(home), tmp_path / "begun", data=home, seconds=0)
    with pytest.raises(ConfigurationError, match="lora.rank"):
        train(config(home, lora={"rank": 2}), tmp_path / "begun", data=home)


@pytest.mark.parametrize("kind", ["causal", "seq2seq"])
def test_the_loss_is_that_of_a_step_however_it_is_cut(
    home: Path, tmp_path: Path, kind: str
) -> None:
    made = rows()
    for number, row in enumerate(made):  # One target in four is long.
        subject, _, town = row["triples"][0]
        rooms = [[subject, "has", f"{name} Hall"] for name in NAMES[:3]]
        row["triples"] = [[subject, "opened in", town], *([] if number % 4 else rooms)]
        row["text"] += f" It has {', '.join(room for _, _, room in rooms)}."
    write_rows(tmp_path / "uneven.jsonl", made)
    model = Path(shutil.copytree(home / kind, tmp_path / kind))
    facts = json.loads((model / "config.json").read_text())
    (model / "config.json").write_text(json.dumps(facts | {"dropout_rate": 0.0}))
    said = []
    for batch_size, accumulation in ((4, 1), (1, 4)):
        settings = config(
            tmp_path,
            kind,
            data={"files": ["uneven.jsonl"], "facts": [], "dev": 0.0, "test": 0.0},
            optimizer={"batch_size": batch_size, "accumulation": accumulation, "steps": 1},
            lora={"dropout": 0.0},
        )
        lines: list[str] = []
        train(settings, tmp_path / str(accumulation), data=tmp_path, log=lines.append)
        said += [float(line.rpartition(" ")[2]) for line in lines if ": loss" in line]
    assert said[0] == pytest.approx(said[1], rel=1e-4)


def test_training_goes_on_from_a_trained_adapter(home: Path, unbroken: Path) -> None:
    begun = config(
        home,
        model={"start": f"local:{unbroken}"},
        optimizer={"learning_rate": 0.0, "steps": 1, "precision": "bf16"},
    )
    train(begun, home / "same", data=home)
    assert same_weights(home / "same", unbroken)
    key = find_tuned(str(unbroken)).key  # type: ignore[union-attr]
    assert json.loads((home / "same/trained.json").read_text())["trained"]["began"] == key
    assert key in (home / "same/README.md").read_text()


def test_training_goes_on_from_a_graph_llms_adapter(home: Path, tmp_path: Path) -> None:
    lora = LoraConfig(r=4, alpha=32, targets="all-linear")
    saved = build(home / "causal", lora=lora)
    save_graph_llm(saved, tmp_path / "graph-llm", dtype="float16")
    begun = config(
        home,
        model={"start": f"local:{tmp_path / 'graph-llm'}"},
        optimizer={"learning_rate": 0.0, "steps": 1, "precision": "bf16"},
    )
    train(begun, tmp_path / "same", data=home)
    assert same_weights(tmp_path / "same", tmp_path / "graph-llm")


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"model": {"start": "local:nowhere"}}, "adapter"),
        ({"lora": {"rank": 0}}, "lora.rank"),
        ({"lora": {"rank": 2}}, "rank 4, alpha 32.*rank 2"),
        ({"lora": {"alpha": 8}}, "alpha 32.*alpha 8"),
        ({"model": {"instruction": "x"}}, "instructions"),
    ],
)
def test_a_start_that_does_not_fit_is_refused(
    home: Path, unbroken: Path, tmp_path: Path, changes: dict[str, Any], problem: str
) -> None:
    model = {"start": f"local:{unbroken}"} | changes.get("model", {})
    with pytest.raises(ConfigurationError, match=problem):
        train(config(home, **changes | {"model": model}), tmp_path / "out", data=home)
    assert not (tmp_path / "out").exists()


def trained_extract(folder: Path, text: str) -> str:
    model = load_language_model(f"local:{folder}")
    prompt = [{"role": "system", "content": "Write facts."}, {"role": "user", "content": text}]
    (made,) = asyncio.run(model.generate([prompt], max_new_tokens=12))  # type: ignore[list-item]
    return made.text


def test_an_adapter_is_its_base_with_the_adapter_merged(home: Path, unbroken: Path) -> None:
    merged, base = read_model(str(unbroken)), read_model(str(home / "causal"))
    assert type(merged) is type(base)
    changed = [
        name
        for (name, ours), theirs in zip(merged.named_parameters(), base.parameters(), strict=True)
        if not torch.equal(ours, theirs)
    ]
    assert len(changed) == 2 * 7  # All linear layers of both blocks, and nothing else.


def test_an_export_is_a_plain_model_that_writes_the_same(unbroken: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = CliRunner().invoke(app, ["export", str(unbroken), "--extractor", "--out", str(out)])
    assert done.stdout.startswith(f"vllm serve {out} --served-model-name extractor-"), done.output
    assert find_tuned(str(out)) is None
    served = AutoModelForCausalLM.from_pretrained(out, dtype=torch.float32).state_dict()
    trained = read_model(str(unbroken)).state_dict()
    assert all(torch.equal(trained[name], value) for name, value in served.items())
    assert trained_extract(out, "Ann met Bo.") == trained_extract(unbroken, "Ann met Bo.")
    half = export_extractor(f"local:{unbroken}", tmp_path / "half", dtype="bfloat16")
    assert half != done.stdout.split()[4]


def test_a_trained_extractor_is_asked_as_it_was_trained(home: Path, unbroken: Path) -> None:
    extractor = make_extractor(load_language_model(f"local:{unbroken}"))
    assert [m["content"] for m in extractor.form.prefix] == ["Write facts."]
    assert extractor.form.max_new_tokens == 200
    other = make_extractor(load_language_model(f"local:{home / 'causal'}"))
    assert extractor.identity != other.identity


def test_a_whole_model_learns_in_as_many_epochs_as_there_are(home: Path) -> None:
    said: list[str] = []
    whole = config(
        home,
        lora={"rank": 0},
        saving={"every": 100, "dtype": "float32"},
        optimizer={"batch_size": 8, "accumulation": 1, "epochs": 25.5, "steps": 1_000},
    )
    done = train(whole, home / "whole", data=home, log=said.append)
    assert (done.finished, done.step) == (True, ceil(25.5 * ceil(int(said[0].split()[0]) / 8)))
    losses = [float(line.split()[-1]) for line in said if ": loss" in line]
    assert losses[-1] < losses[0] * 0.8
    tuned = find_tuned(str(home / "whole"))
    assert tuned and not tuned.adapter
    files = list((home / "whole").iterdir())
    assert home / "whole" / "model.safetensors" in files
    assert all(file.stat().st_mode & 0o777 == 0o644 for file in files)
    assert make_extractor(load_language_model(f"local:{home / 'whole'}")).identity


def test_an_identity_follows_the_weights_not_the_place(unbroken: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(unbroken, tmp_path / "copy"))
    same = load_language_model(f"local:{copy}").identity
    assert same == load_language_model(f"local:{unbroken}").identity
    record = json.loads((copy / "trained.json").read_text())
    record["files"][WEIGHTS] = "0" * 64
    (copy / "trained.json").write_text(json.dumps(record))
    assert load_language_model(f"local:{copy}").identity != same
    with pytest.raises(ConfigurationError, match="damaged"):
        read_model(str(copy))


def test_a_model_learns_several_tasks_each_by_its_instruction(home: Path, tmp_path: Path) -> None:
    asked = {"split": "Split it.", "join": "Join it."}
    made = [
        {"split": part, "task": task, "input": f"{name} {task}", "output": name, "source": task}
        for part in ("train", "dev", "test")
        for task in asked
        for name in NAMES[:4]
    ]
    write_rows(tmp_path / "rows.jsonl", made)
    common = config(home).model_dump(include={"lora", "optimizer", "lengths", "saving"})
    model = {"name": str(home / "causal")}
    data = {"files": ["rows.jsonl"], "most_of": {"split": 3}}
    settings = RowTraining(data=data, tasks=asked, model=model, **common)
    assert train_rows(settings, tmp_path / "out", data=tmp_path).finished
    tuned = find_tuned(str(tmp_path / "out"))
    assert tuned and tuned.instruction("join") == "Join it."
    counts = json.loads((tmp_path / "out/trained.json").read_text())["trained"]["counts"]
    assert counts["train"] == {"join: join": 4, "split: split": 3}
    with pytest.raises(ConfigurationError, match="split, join"):
        make_extractor(load_language_model(f"local:{tmp_path / 'out'}"))
    skipped = settings.override({"data": settings.data.override({"skip": len(made)})})
    with pytest.raises(InputError, match=r"data\.skip"):
        train_rows(skipped, tmp_path / "other", data=tmp_path)
    write_rows(tmp_path / "rows.jsonl", [{**made[0], "task": "other"}])
    with pytest.raises(InputError, match="task"):
        train_rows(settings, tmp_path / "other", data=tmp_path)
