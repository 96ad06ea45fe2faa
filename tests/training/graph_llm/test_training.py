"""Training of tiny Graph LLMs: what changes, stopping and going on, what is written."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from ras_flow.errors import ConfigurationError, InputError
from ras_flow.graph_llm import model
from ras_flow.graph_llm.build import build_graph_llm
from ras_flow.graph_llm.checkpoint import load_graph_llm, load_weights
from ras_flow.graph_llm.manifest import read_manifest
from ras_flow.graph_llm.shared import find_graph_llm
from ras_flow.parts import PlanRequest
from ras_flow.testing import HashEncoder
from ras_flow.training.checkpoints import last_checkpoint
from ras_flow.training.graph_llm.data import load_data
from ras_flow.training.graph_llm.evaluate import evaluate, evaluate_graph_llm
from ras_flow.training.graph_llm.graphs import build_graphs
from ras_flow.training.graph_llm.trained import load_trained, save_trained
from ras_flow.training.graph_llm.training import train_graph_llm
from ras_flow.training.processes import own_gpu
from ras_flow.training.run import Progress, claim
from tests.training.gpus import several_gpus
from tests.training.graph_llm.samples import ENCODER, config, record, records, write_set

FILES = ("adapter_model.safetensors", "gnn.safetensors")


def train(
    base: Path, data: Path, output: Path, seconds: float | None = None, **changes: Any
) -> Progress:
    settings = config(base, **changes)
    return train_graph_llm(settings, output, data=data, seconds=seconds, encoder=ENCODER)


def losses(output: Path) -> list[tuple[int, str, float]]:
    history = json.loads((output / "training.json").read_text())["history"]
    names = ("loss", "eval_loss", "grad_norm", "answer_f1")
    return [(row["step"], n, row[n]) for row in history for n in names if n in row]


@pytest.fixture(scope="module")
def unbroken(base: Path, data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("out") / "unbroken"
    progress = train(base, data, output)
    assert (progress.finished, progress.step, progress.steps) == (True, 4, 4)
    return output


def test_stopped_and_resumed_is_the_same_as_unbroken(
    base: Path, data: Path, unbroken: Path, tmp_path: Path
) -> None:
    steps: list[Progress] = []
    while not steps or not steps[-1].finished:
        steps.append(train(base, data, tmp_path / "broken", seconds=0))
    assert [progress.step for progress in steps] == [1, 2, 3, 4]
    assert not (tmp_path / "broken.run").exists()
    assert losses(tmp_path / "broken") == losses(unbroken)
    assert len(losses(unbroken)) >= 6
    for name in FILES:
        ours, theirs = load_file(tmp_path / "broken" / name), load_file(unbroken / name)
        assert ours.keys() == theirs.keys()
        assert all(torch.equal(ours[key], theirs[key]) for key in ours), name


def test_without_padding_it_learns_the_same(base: Path, data: Path, tmp_path: Path) -> None:
    still = {"lora": {"dropout": 0.0}, "gnn": {"dropout": 0.0}}
    train(base, data, tmp_path / "plain", **still)
    train(base, data, tmp_path / "packed", **still, optimizer={"packed": True})
    plain, packed = losses(tmp_path / "plain"), losses(tmp_path / "packed")
    assert [row[:2] for row in packed] == [row[:2] for row in plain]
    assert [row[2] for row in packed] == pytest.approx([row[2] for row in plain], rel=1e-3)


def test_a_killed_slice_goes_on_from_the_last_whole_checkpoint(
    base: Path, data: Path, unbroken: Path, tmp_path: Path
) -> None:
    train(base, data, tmp_path / "killed", seconds=0)
    half = tmp_path / "killed.run" / "checkpoint-2"
    half.mkdir()
    (half / "trained.safetensors").write_bytes(b"half of it")
    # The run's folder comes from another machine, where it had another path.
    (tmp_path / "elsewhere").mkdir()
    moved = tmp_path / "elsewhere" / "killed"
    (tmp_path / "killed.run").rename(moved.with_name("killed.run"))
    assert train(base, data, moved).finished
    for name in FILES:
        ours, theirs = load_file(moved / name), load_file(unbroken / name)
        assert all(torch.equal(ours[key], theirs[key]) for key in ours)


def test_a_slice_killed_while_it_measures_goes_on_right_before(
    base: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ras_flow.training.graph_llm import training

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    for every, kept in ((3, 2), (100, 3)):  # It also measures at the end.
        watch = {"every": every}
        whole, broken = tmp_path / f"whole{every}", tmp_path / f"broken{every}"
        train(base, data, whole, watch=watch)
        with monkeypatch.context() as patch:
            patch.setattr(training, "evaluate_graph_llm", killed)
            with pytest.raises(KeyboardInterrupt):
                train(base, data, broken, watch=watch)
        assert last_checkpoint(broken.with_name(f"{broken.name}.run")).name == f"checkpoint-{kept}"  # type: ignore[union-attr]
        assert train(base, data, broken, watch=watch).finished
        assert losses(broken) == losses(whole)
        for name in FILES:
            ours, theirs = load_file(broken / name), load_file(whole / name)
            assert all(torch.equal(ours[key], theirs[key]) for key in ours), name


def test_the_log_tells_how_long_a_whole_measurement_took(unbroken: Path) -> None:
    history = json.loads((unbroken / "training.json").read_text())["history"]
    loss = [row["eval_runtime"] for row in history if "eval_runtime" in row]
    whole = [row["measured_seconds"] for row in history if "measured_seconds" in row]
    assert len(whole) == len(loss) == 2
    assert all(all_of_it > part for all_of_it, part in zip(whole, loss, strict=True))


def test_two_trainings_do_not_write_one_output(
    base: Path, data: Path, unbroken: Path, tmp_path: Path
) -> None:
    settings, refused = config(base), False

    def meanwhile(line: str) -> None:
        nonlocal refused
        if line == "starting":
            with pytest.raises(ConfigurationError, match=r"Another training writes to .*out\.run"):
                train(base, data, tmp_path / "out")
            refused = True

    train_graph_llm(settings, tmp_path / "out", data=data, encoder=ENCODER, log=meanwhile)
    assert refused and losses(tmp_path / "out") == losses(unbroken)
    for output in (tmp_path / "out", Path(".")):
        with pytest.raises(ConfigurationError, match="is there already"):
            train(base, data, output)
    with pytest.raises(ConfigurationError, match="name a folder in it"):
        train(base, data, Path("/"))
    assert not (tmp_path / "out.run").exists()


def test_a_run_goes_on_from_whole_checkpoints_only(
    base: Path, data: Path, unbroken: Path, tmp_path: Path
) -> None:
    train(base, data, tmp_path / "cut", seconds=0)
    train(base, data, tmp_path / "cut", seconds=0)

    def damaged(out: str, file: str, content: bytes | None) -> Path:
        """Return a run, of which a file of the newest checkpoint is damaged."""
        run = Path(shutil.copytree(tmp_path / "cut.run", tmp_path / f"{out}.run"))
        damage(run / file, content)
        return run

    def damage(path: Path, content: bytes | None) -> None:
        path.unlink()
        if content is not None:
            path.write_bytes(content)

    lost = damaged("lost", "checkpoint-2/optimizer.pt", None)
    assert train(base, data, tmp_path / "lost", seconds=0).step == 2
    assert train(base, data, tmp_path / "lost").finished and not lost.exists()
    for name in FILES:
        ours, theirs = load_file(tmp_path / "lost" / name), load_file(unbroken / name)
        assert all(torch.equal(ours[key], theirs[key]) for key in ours), name
    half = (tmp_path / "cut.run/checkpoint-2/optimizer.pt").read_bytes()[:999]
    for name, content in (("optimizer.pt", half), ("scheduler.pt", b""), ("rng_state.pth", b"{")):
        run = damaged(name, f"checkpoint-2/{name}", content)
        said = f"{run}/checkpoint-2/{name} cannot be read .* Remove that checkpoint; training goes"
        with pytest.raises(ConfigurationError, match=said):
            train(base, data, tmp_path / name)
    shutil.rmtree(run / "checkpoint-2")
    assert train(base, data, tmp_path / name, seconds=0).step == 2


def test_memory_settings_may_change_in_a_run_and_others_may_not(
    base: Path, data: Path, tmp_path: Path
) -> None:
    train(base, data, tmp_path / "run", seconds=0)
    with pytest.raises(ConfigurationError, match="optimizer.clip was 0.5 and is 9"):
        train(base, data, tmp_path / "run", optimizer={"clip": 9})
    with pytest.raises(ConfigurationError, match="accumulation times processes was 4 and is 2"):
        train(base, data, tmp_path / "run", optimizer={"batch_size": 1})
    halved = {"batch_size": 1, "accumulation": 4}
    assert train(base, data, tmp_path / "run", optimizer=halved).finished


def test_the_watched_loss_is_the_same_whatever_the_batch(
    base: Path, data: Path, tmp_path: Path
) -> None:
    watched: list[list[float]] = []
    for size in (1, 3):
        output = tmp_path / str(size)
        train(base, data, output, watch={"records": 8, "generate": 0, "batch_size": size})
        watched.append([loss for _, name, loss in losses(output) if name == "eval_loss"])
    assert len(watched[0]) == 2
    assert watched[1] == pytest.approx(watched[0], rel=1e-5)


def test_a_run_does_not_go_on_with_other_records(base: Path, tmp_path: Path) -> None:
    rows = records()
    folder = write_set(tmp_path / "set", rows, records(2, first=4))
    train(base, tmp_path, tmp_path / "out", seconds=0)
    changed = [*rows[:-1], {**rows[-1], "target": {"answer": "Bodø"}}]
    write_set(folder, changed, records(2, first=4))
    with pytest.raises(ConfigurationError, match=r"records\.train was .* The data has changed"):
        train(base, tmp_path, tmp_path / "out", seconds=0)
    write_set(folder, rows, records(2, first=4))
    assert train(base, tmp_path, tmp_path / "out").finished


def test_each_step_keeps_its_records_whatever_the_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim(tmp_path, {"optimizer": {"batch_size": 2, "accumulation": 4}}, {})
    monkeypatch.setenv("WORLD_SIZE", "2")
    claim(tmp_path, {"optimizer": {"batch_size": 2, "accumulation": 2}}, {})
    with pytest.raises(ConfigurationError, match=r"was 8 and is 16. Set optimizer.*\(now 2\)"):
        claim(tmp_path, {"optimizer": {"batch_size": 2, "accumulation": 4}}, {})


def test_one_process_takes_one_gpu_of_several(
    base: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    several_gpus(monkeypatch)
    lines: list[str] = []
    settings = config(base, watch={"records": 0})
    train_graph_llm(
        settings, tmp_path / "out", data=data, seconds=0, encoder=ENCODER, log=lines.append
    )
    state = json.loads((tmp_path / "out.run/checkpoint-1/trainer_state.json").read_text())
    assert state["train_batch_size"] == 2
    assert [line for line in lines if "torchrun" in line] == [
        "one of 3 GPUs is used; start it by torchrun to train on more of them"
    ]


@pytest.mark.parametrize(("world", "expected"), [("4", [1]), ("1", [])])
def test_each_process_loads_into_its_own_gpu(
    monkeypatch: pytest.MonkeyPatch, world: str, expected: list[int]
) -> None:
    chosen: list[int] = []
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.cuda.device_count", lambda: 2)
    monkeypatch.setattr("torch.cuda.set_device", chosen.append)
    monkeypatch.setenv("WORLD_SIZE", world)
    monkeypatch.setenv("LOCAL_RANK", "3")
    own_gpu()
    assert chosen == expected


def test_checkpoints_hold_trained_weights_only(base: Path, data: Path, tmp_path: Path) -> None:
    train(base, data, tmp_path / "run", seconds=0)
    [checkpoint] = (tmp_path / "run.run").glob("checkpoint-*")
    names = set(load_file(checkpoint / "trained.safetensors"))
    assert {name.partition(".")[0] for name in names} == {"lm", "encoder", "projector"}
    assert all(".lora_" in name for name in names if name.startswith("lm."))
    weights = {path.name for path in checkpoint.iterdir()}
    assert weights == {
        "trained.safetensors", "optimizer.pt", "scheduler.pt", "rng_state.pth",
        "trainer_state.json",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("without", "expected"),
    [((), {"lora", "encoder", "projector"}), (("graph",), {"lora"}),
     (("lora",), {"encoder", "projector"})],
)  # fmt: skip
def test_exactly_the_intended_weights_change(
    base: Path,
    data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    without: tuple[str, ...],
    expected: set[str],
) -> None:
    from ras_flow.training.graph_llm import start

    built: list[Any] = []
    real = start.build_graph_llm

    def spy(*args: Any) -> Any:
        model = real(*args)
        built.append((model, {name: w.detach().clone() for name, w in model.named_parameters()}))
        return model

    monkeypatch.setattr(start, "build_graph_llm", spy)
    train(base, data, tmp_path / "out", model={"without": without}, watch={"records": 0})
    [(model, before)] = built
    changed = {n for n, w in model.named_parameters() if not torch.equal(w, before[n])}
    parts = {"lora" if ".lora_" in name else name.partition(".")[0] for name in changed}
    assert parts == expected
    wanted = {n for n, w in model.named_parameters() if w.requires_grad}
    # A bias of keys shifts all scores of a softmax alike.
    assert {n for n in wanted - changed if not n.endswith("lin_key.bias")} == set()
    assert changed <= wanted
    files = {path.name for path in (tmp_path / "out").iterdir()}
    assert ("gnn.safetensors" in files) == ("graph" not in without)
    assert ("adapter_model.safetensors" in files) == ("lora" not in without)


def test_a_tiny_set_is_learnt_and_reproduced(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Measured on what was learnt.
    monkeypatch.setattr("ras_flow.training.graph_llm.data.check_apart", lambda *_: None)
    rows = [*records(1), records(2)[-1]]
    write_set(tmp_path / "set", rows, rows)
    progress = train(
        base,
        tmp_path,
        tmp_path / "out",
        mix={"first_subq": 1.0},
        lora={"targets": ("q_proj", "k_proj", "v_proj", "o_proj", "up_proj", "down_proj"), "r": 8,
              "dropout": 0.0},
        optimizer={"batch_size": 5, "accumulation": 1, "steps": 110, "learning_rate": 2e-2,
                   "warmup": 0.1},
        gnn={"dropout": 0.0},
        watch={"every": 55, "records": 5, "generate": 5, "dtype": "float32"},
    )  # fmt: skip
    assert progress.finished
    report = json.loads((tmp_path / "out" / "training.json").read_text())
    assert report["dev_loss"] < 0.05
    measures = evaluate_graph_llm(tmp_path / "out", rows, encoder=ENCODER)  # type: ignore[arg-type]
    for scores in measures.scores.values():
        assert (scores.right, scores.unusable) == (scores.records, 0)
    compared = measures.scores["plan", "all"]
    assert (compared.exact, compared.compared) == (1, 1)
    assert measures.as_record() == report["measures"]
    assert measures.texts == [
        "[SUBQ] it", "[SUBQ] P0?", "[SUFFICIENT]", "Narvik", "Oulu",
    ]  # fmt: skip


def test_training_goes_on_from_an_earlier_one(
    base: Path, data: Path, unbroken: Path, tmp_path: Path
) -> None:
    begun = f"local:{unbroken}"
    still = {"learning_rate": 0.0, "graph_learning_rate": 0.0, "steps": 1}
    train(base, data, tmp_path / "still", model={"start": begun}, optimizer=still)
    for name in FILES:
        ours, theirs = load_file(tmp_path / "still" / name), load_file(unbroken / name)
        assert all(torch.equal(ours[key], theirs[key]) for key in ours), name
    assert f"| Began with | {begun} |" in (tmp_path / "still" / "README.md").read_text()
    elsewhere = {"max_triples": 3, "top_k": 2, "answer_passages": 1, "window": 500}
    gnn = {"place": "label", "dropout": 0.0}
    model = {"start": begun} | elsewhere
    train(base, data, tmp_path / "more", model=model, gnn=gnn, lora={"dropout": 0.0})
    config = read_manifest(tmp_path / "more").config
    assert config.gnn is not None and config.gnn.place == "label"
    assert {name: getattr(config, name) for name in elsewhere} == elsewhere
    before, after = (
        json.loads((folder / "training.json").read_text())["dev_loss"]
        for folder in (unbroken, tmp_path / "more")
    )
    assert after < before


def test_training_goes_on_from_a_run_that_is_not_at_its_end(
    base: Path, data: Path, tmp_path: Path
) -> None:
    cut = train(base, data, tmp_path / "cut", seconds=0)
    [checkpoint] = (tmp_path / "cut.run").glob("checkpoint-*")
    assert not cut.finished
    begun = {"start": f"local:{checkpoint}"}
    still = {"learning_rate": 0.0, "graph_learning_rate": 0.0, "steps": 1}
    exact = {"dtype": "float32"}
    train(base, data, tmp_path / "still", model=begun, optimizer=still, watch=exact)
    written = {
        name: weight
        for file in FILES
        for name, weight in load_file(tmp_path / "still" / file).items()
    }
    kept = load_file(checkpoint / "trained.safetensors")
    for name, weight in kept.items():
        # peft names weights otherwise in its files.
        saved = name.removeprefix("lm.").replace(".default.", ".")
        assert torch.equal(written[saved], weight), name
    with pytest.raises(ConfigurationError, match=r"model\.new_graph"):
        train(base, data, tmp_path / "new", model=begun | {"new_graph": True})
    # Names and shapes of the weights are the same with these.
    with pytest.raises(ConfigurationError, match=r"has lora\.alpha = \d+, and the settings say 64"):
        train(base, data, tmp_path / "alpha", model=begun, lora={"alpha": 64})
    with pytest.raises(ConfigurationError, match=r"has gnn\.scope = 'per_hop'"):
        train(base, data, tmp_path / "scope", model=begun, gnn={"scope": "merged"})
    with pytest.raises(ConfigurationError, match=r"has gnn\.hidden = 16"):
        train(base, data, tmp_path / "wide", model=begun, gnn={"hidden": 8})
    with pytest.raises(ConfigurationError, match="is no Graph LLM"):
        train(base, data, tmp_path / "none", model={"start": f"local:{checkpoint.parent}"})


def test_a_checkpoint_goes_with_the_model_of_its_run_only(
    base: Path, data: Path, tmp_path: Path
) -> None:
    from tests.graph_llm.tiny import save_base

    copy = Path(shutil.copytree(base, tmp_path / "base"))
    train(copy, data, tmp_path / "cut", seconds=0)
    [checkpoint] = (tmp_path / "cut.run").glob("checkpoint-*")
    noted = tmp_path / "cut.run/settings.json"
    run = json.loads(noted.read_text())
    other = HashEncoder(8)
    other.identity = "testing:other"  # type: ignore[misc]

    def used(base: Path = copy, encoder: HashEncoder = ENCODER, **changes: Any) -> None:
        evaluate(config(base, **changes), str(checkpoint), data=data, most=2, encoder=encoder)

    def begun(base: Path = copy, encoder: HashEncoder = ENCODER, **changes: Any) -> None:
        settings = config(base, model={"start": f"local:{checkpoint}"}, **changes)
        train_graph_llm(settings, tmp_path / "out", data=data, encoder=encoder, seconds=0)
        shutil.rmtree(tmp_path / "out.run")

    wrong: list[tuple[dict[str, Any], str]] = [
        ({"base": base}, f"has model.base = '{copy}', and the settings say '{base}'"),
        ({"encoder": other}, "has encoder = 'testing:encoder.*', and the settings say 'testing:o"),
        ({"gnn": {"scope": "merged"}}, "has gnn.scope = 'per_hop', and the settings say 'merged'"),
        ({"lora": {"alpha": 64}}, r"has lora.alpha = \d+, and the settings say 64"),
    ]
    for use in (used, begun):
        use()
        for changes, said in wrong:
            with pytest.raises(ConfigurationError, match=said):
                use(**changes)
        # What earlier runs do not tell is not compared.
        noted.write_text(json.dumps({k: run[k] for k in ("optimizer", "gnn", "lora")}))
        use(encoder=other)
        for content in ("{", "[]", "{}"):
            noted.write_text(content)
            with pytest.raises(ConfigurationError, match=f"{noted} is damaged"):
                use()
        noted.write_text(json.dumps(run))
    save_base(copy, "qwen2")
    for use in (used, begun):
        with pytest.raises(ConfigurationError, match="has base.model_type = 'llama'.* say 'qwen2'"):
            use()


def test_new_soft_tokens_begin_with_what_differs(base: Path, data: Path, tmp_path: Path) -> None:
    still = {"learning_rate": 0.0, "graph_learning_rate": 0.0, "steps": 1}
    train(base, data, tmp_path / "spread", optimizer=still)
    model = load_graph_llm(tmp_path / "spread")
    shown = [one for one in records() if one["chain"]]
    with torch.no_grad():
        graphs = build_graphs(shown, ENCODER)
        tokens = model.soft_tokens([graphs[row] for row in range(len(shown))])
    filled = torch.stack(
        [t[-1] for t, one in zip(tokens, shown, strict=True) if one["chain"][-1]["triples"]]
    )
    rows = torch.nn.functional.normalize(filled, dim=1)
    assert float((rows @ rows.T).mean()) < 0.5


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"lora": {"r": 8}}, "lora.r = 4, and the settings say 8"),
        ({"model": {"without": ("graph",)}}, "gnn"),
        ({"model": {"start": "local:nowhere"}}, "is no Graph LLM"),
    ],
)
def test_training_goes_on_with_the_same_model_only(
    base: Path, data: Path, unbroken: Path, tmp_path: Path, change: Any, problem: str
) -> None:
    model = {"start": f"local:{unbroken}"} | change.pop("model", {})
    with pytest.raises(ConfigurationError, match=problem):
        train(base, data, tmp_path / "out", model=model, **change)
    assert not list(tmp_path.iterdir())


def test_what_is_written_has_the_number_format_of_the_settings(unbroken: Path) -> None:
    kept = {weight.dtype for name in FILES for weight in load_file(unbroken / name).values()}
    assert kept == {torch.float16}


def test_what_is_written_is_a_planner_and_answerer(unbroken: Path) -> None:
    shared = find_graph_llm(f"local:{unbroken}")
    assert shared is not None and shared.takes_soft_tokens
    prompt = shared.formatter.prompt(PlanRequest("Where?"))
    [made] = shared.model().generate([prompt], [None], max_new_tokens=3)
    [again] = load_graph_llm(unbroken).generate([prompt], [None], max_new_tokens=3)
    assert made.output_tokens > 0 and made.text == again.text


def test_the_card_tells_seed_data_and_figures(unbroken: Path) -> None:
    card = (unbroken / "README.md").read_text()
    for said in ("| Seed | 7 |", "| Data | set |", "| Steps | 4 |", "| Left out | nothing |",
                 "| Training records | 16 |", "| Records seen an epoch | 13 |",
                 "| Records a step | 4 |", "Measured on dev: plan"):  # fmt: skip
        assert said in card
    report = json.loads((unbroken / "training.json").read_text())
    assert f"| Loss on dev | {report['dev_loss']} |" in card
    assert report["records"]["train"] == {
        "places/answer": 4, "places/first_subq": 4, "places/plan": 8
    }  # fmt: skip
    assert report["seen_an_epoch"]["places/first_subq"] == 1


def test_every_seed_is_measured_on_the_same_records(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ras_flow.training.graph_llm import evaluate as measuring
    from ras_flow.training.graph_llm import training

    write_set(tmp_path / "set", records(), records(12, first=4))
    asked: list[list[str]] = []

    def spy(model: Any, rows: Any, **more: Any) -> Any:
        asked.append([row["id"] for row in rows])
        return evaluate_graph_llm(model, rows, **more)

    for module in (training, measuring):
        monkeypatch.setattr(module, "evaluate_graph_llm", spy)
    drawn: list[list[str]] = []
    for seed in (7, 8):
        settings = config(base, optimizer={"seed": seed, "steps": 1})
        drawn.append([one.record["id"] for one in load_data(settings, tmp_path).dev])
        output = tmp_path / str(seed)
        train_graph_llm(settings, output, data=tmp_path, encoder=ENCODER)
        evaluate(settings, str(output), data=tmp_path, most=5, encoder=ENCODER)
    assert drawn[0] == drawn[1]
    half = len(asked) // 2
    assert asked[:half] == asked[half:] and [len(asked[0]), len(asked[-1])] == [2, 5]


def test_one_task_alone(base: Path, data: Path, tmp_path: Path) -> None:
    train(base, data, tmp_path / "plan", model={"task": "plan"}, optimizer={"steps": 2})
    report = json.loads((tmp_path / "plan" / "training.json").read_text())
    assert set(report["records"]["train"]) == {"places/first_subq", "places/plan"}
    assert set(report["measures"]) == {"plan"}


def test_shuffled_graphs_are_other_graphs(base: Path, data: Path, tmp_path: Path) -> None:
    own, other = tmp_path / "own", tmp_path / "other"
    train(base, data, own)
    train(base, data, other, model={"graphs": "shuffled"})
    assert losses(own) != losses(other)
    assert "| Graphs | shuffled |" in (other / "README.md").read_text()


def test_no_lower_loss_ends_a_run(base: Path, data: Path, tmp_path: Path) -> None:
    lost = {"learning_rate": 5.0, "graph_learning_rate": 5.0, "steps": 40, "warmup": 0.0}
    watch = {"every": 1, "patience": 2, "generate": 0}
    progress = train(base, data, tmp_path / "out", optimizer=lost, watch=watch)
    assert progress.finished and progress.step < 40
    report = json.loads((tmp_path / "out" / "training.json").read_text())
    assert report["kept_step"] == progress.step - 2
    last = train(base, data, tmp_path / "last", optimizer=lost, watch=watch | {"keep": "last"})
    other = json.loads((tmp_path / "last" / "training.json").read_text())
    assert last == progress and other["kept_step"] == progress.step
    assert other["dev_loss"] > report["dev_loss"]
    assert losses(tmp_path / "last") == losses(tmp_path / "out")
    (ours, theirs) = (load_file(tmp_path / name / "gnn.safetensors") for name in ("out", "last"))
    assert not all(torch.equal(ours[key], theirs[key]) for key in ours)
    kept = evaluate(config(base), str(tmp_path / "out"), data=data, most=2, encoder=ENCODER)
    assert kept.scores["plan", "all"].records == 1 == kept.scores["answer", "all"].records


@pytest.mark.parametrize(
    ("optimizer", "watch"),
    [
        ({"learning_rate": 5.0, "graph_learning_rate": 5.0, "steps": 40, "warmup": 0.0},
         {"patience": 1}),
        ({"learning_rate": 5.0, "graph_learning_rate": 5.0, "steps": 40, "warmup": 0.0},
         {"patience": 1, "keep": "last"}),
        ({"steps": 2}, {}),
    ],
)  # fmt: skip
def test_a_run_that_ended_is_written_and_not_trained_on(
    base: Path,
    data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    optimizer: dict[str, Any],
    watch: dict[str, Any],
) -> None:
    from ras_flow.training.graph_llm import training

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    changes = {"optimizer": optimizer, "watch": {"every": 1, "generate": 0, **watch}}
    train(base, data, tmp_path / "whole", **changes)
    with monkeypatch.context() as patch:
        patch.setattr(training, "finish", killed)
        with pytest.raises(KeyboardInterrupt):
            train(base, data, tmp_path / "out", **changes)
    (tmp_path / "moved").mkdir()
    (tmp_path / "out.run").rename(tmp_path / "moved/out.run")
    progress = train(base, data, tmp_path / "moved/out", **changes)
    assert progress.finished
    assert losses(tmp_path / "moved/out") == losses(tmp_path / "whole")
    for name in FILES:
        ours, theirs = (load_file(tmp_path / one / name) for one in ("moved/out", "whole"))
        assert all(torch.equal(ours[key], theirs[key]) for key in ours)


def test_a_graph_llm_is_measured_by_name(
    base: Path, data: Path, unbroken: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ras_flow.graph_llm.shared.SHIPPED", unbroken)
    measured = [
        evaluate(config(base), name, data=data, most=2, encoder=ENCODER).as_record()
        for name in (str(unbroken), f"local:{unbroken}", "local:default")
    ]
    assert measured[0] == measured[1] == measured[2]


def test_loaded_weights_are_those_that_write(base: Path, unbroken: Path, tmp_path: Path) -> None:
    settings = config(base)
    model = build_graph_llm(settings.graph_llm(ENCODER.identity, ENCODER.dimension))
    save_trained(model, tmp_path)
    prompt = model.formatter.prompt(PlanRequest("Where?"))

    def said() -> str:
        return model.generate([prompt], [None], max_new_tokens=20)[0].text

    first = said()
    load_weights(model, unbroken)
    assert said() != first
    load_trained(model, tmp_path)
    assert said() == first


def test_a_checkpoint_of_a_run_is_measured(
    base: Path, data: Path, unbroken: Path, tmp_path: Path
) -> None:
    settings = config(base)
    model = build_graph_llm(settings.graph_llm(ENCODER.identity, ENCODER.dimension))
    save_trained(model, tmp_path / "run.run/checkpoint-0")
    load_weights(model, unbroken)
    save_trained(model, tmp_path / "run.run/checkpoint-4")
    first, last, finished = (
        evaluate(settings, str(folder), data=data, encoder=ENCODER).texts
        for folder in (*sorted((tmp_path / "run.run").iterdir()), unbroken)
    )
    assert last == finished != first
    checkpoint = tmp_path / "run.run/checkpoint-4"
    others: list[dict[str, Any]] = [
        {"gnn": {"hidden": 8}},
        {"model": {"without": ("graph",)}},
        {"lora": {"targets": ("q_proj", "v_proj", "o_proj")}},
    ]
    for changes in others:
        with pytest.raises(ConfigurationError, match="do not fit"):
            evaluate(config(base, **changes), str(checkpoint), data=data, encoder=ENCODER)
    weights = checkpoint / "trained.safetensors"
    weights.write_bytes(weights.read_bytes()[:-9])
    with pytest.raises(ConfigurationError, match="Remove that checkpoint"):
        evaluate(settings, str(checkpoint), data=data, encoder=ENCODER)


def test_learning_rates_are_apart(base: Path, data: Path, tmp_path: Path) -> None:
    still = {"graph_learning_rate": 0.0, "weight_decay": 0.0}
    seen: dict[str, dict[str, torch.Tensor]] = {}
    for name, changes in (("none", still | {"steps": 1, "warmup": 0.0}), ("four", still)):
        train(base, data, tmp_path / name, optimizer=changes, watch={"records": 0})
        seen[name] = {f: load_file(tmp_path / name / f) for f in FILES}  # type: ignore[misc]
    gnn, lora = ([seen[n][f] for n in ("none", "four")] for f in (FILES[1], FILES[0]))
    assert all(torch.equal(gnn[0][key], gnn[1][key]) for key in gnn[0])  # type: ignore[index]
    assert any(not torch.equal(lora[0][key], lora[1][key]) for key in lora[0])  # type: ignore[index]


def test_memory_that_runs_out_says_what_to_lower(
    base: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ras_flow.graph_llm.model import GraphLLM

    train(base, data, tmp_path / "out", seconds=0)

    def full(*_: Any, **__: Any) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate")

    with monkeypatch.context() as patch:
        patch.setattr(GraphLLM, "forward", full)
        with pytest.raises(ConfigurationError, match=r"Halve optimizer.batch_size \(now 2\)"):
            train(base, data, tmp_path / "out")
    assert train(base, data, tmp_path / "out").finished


@pytest.mark.parametrize(
    ("place", "error", "said", "changes"),
    [
        (
            "ras_flow.training.graph_llm.data.read_split",
            MemoryError("Unable to allocate 3 GiB"),
            r"Lower data.most \(now all\) or watch.records \(now 4\)",
            {},
        ),
        (
            "ras_flow.training.graph_llm.data.build_graphs",
            MemoryError("Unable to allocate 3 GiB"),
            r"Lower data.most \(now all\)",
            {},
        ),
        (
            "ras_flow.testing.HashEncoder.encode",
            torch.OutOfMemoryError("CUDA out of memory"),
            "texts of their graphs embedded. Lower data.most",
            {},
        ),
        (
            "ras_flow.graph_llm.gnn.GraphEncoder.forward",
            torch.OutOfMemoryError("CUDA out of memory"),
            r"Lower gnn.hidden \(now 16\) or gnn.layers \(now 1\)",
            {},
        ),
        (
            "ras_flow.graph_llm.packed.PackedGraphLLM.forward",
            torch.OutOfMemoryError("CUDA out of memory"),
            r"optimizer.packed is checked with. Lower model.window \(now 600\)",
            {"lora": {"dropout": 0.0}, "optimizer": {"packed": True}},
        ),
    ],
)
def test_memory_that_runs_out_before_the_first_step_says_what_to_lower(
    base: Path,
    data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    place: str,
    error: Exception,
    said: str,
    changes: dict[str, Any],
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(place, full)
        with pytest.raises(ConfigurationError, match=said):
            train(base, data, tmp_path / "out", **changes)
    assert train(base, data, tmp_path / "out", seconds=0, **changes).step == 1


def test_a_base_of_another_width_is_told(base: Path, data: Path, tmp_path: Path) -> None:
    from tests.graph_llm.tiny import save_base

    copy = Path(shutil.copytree(base, tmp_path / "base"))
    train(copy, data, tmp_path / "out", seconds=0)
    save_base(copy, "qwen2")
    with pytest.raises(ConfigurationError, match="base.hidden_size was 32 and is 24"):
        train(copy, data, tmp_path / "out")
    train(base, data, tmp_path / "done", optimizer={"steps": 1})
    manifest = tmp_path / "done" / "graph_llm.json"
    manifest.write_text(manifest.read_text().replace(str(base), str(copy)))
    assert read_manifest(tmp_path / "done").config.base == str(copy)
    with pytest.raises(ConfigurationError, match="hidden_size 24 instead of 32"):
        evaluate(config(base), str(tmp_path / "done"), data=data, encoder=ENCODER)


@pytest.mark.parametrize(
    ("window", "target", "after", "dev"),
    [
        (1900, 300, 300, []),
        (1901, 40, 100, records(1, first=4)),
        (1937, 40, 64, records(1, first=4)[:3]),
    ],
)
def test_a_window_beyond_the_base_is_told(
    base: Path, tmp_path: Path, window: int, target: int, after: int, dev: list[dict[str, Any]]
) -> None:
    write_set(tmp_path / "set", records(1), dev)
    with pytest.raises(ConfigurationError, match=rf"the {after} tokens.* exceed the 2000 that"):
        train(base, tmp_path, tmp_path / "out", model={"window": window, "target": target})
    room = {"window": 2000 - after, "target": target}
    assert train(base, tmp_path, tmp_path / "out", seconds=0, model=room).step == 1


def test_wrong_records_are_told_by_file_and_line(base: Path, tmp_path: Path) -> None:
    good = records(1)
    wrong: list[tuple[dict[str, Any], str]] = [
        (good[0] | {"task": "sing"}, r"train.jsonl:2:task"),
        (good[0] | {"split": "dev"}, r"train.jsonl:2: split: this record is for dev"),
        (
            good[0] | {"target": {"label": "SUBQ", "subquery": "?!"}},
            r"train.jsonl:2:target\.subquery: must",
        ),
        (good[0] | {"question": "why " * 300}, r"train.jsonl:2: question"),
    ]
    for number, (row, said) in enumerate(wrong):
        write_set(tmp_path / "set", [good[1], row])
        with pytest.raises(InputError, match=said):
            train(base, tmp_path, tmp_path / f"out{number}")
        assert not (tmp_path / f"out{number}.run").exists()
    with pytest.raises(InputError, match="no records to train on"):
        write_set(tmp_path / "set", [])
        train(base, tmp_path, tmp_path / "none")


def test_data_sets_that_contradict_each_other_are_refused(base: Path, tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for folder in (one, other):
        write_set(folder, records(1))
        (folder / "test.jsonl").write_text("")
    both = {"sets": ("one", "other")}

    (other / "test.jsonl").write_text(json.dumps(records(1, split="test")[3]) + "\n")
    with pytest.raises(InputError, match=rf"{one}/train.jsonl:1: .*{other}/test.jsonl:1"):
        train_graph_llm(config(base, data=both), tmp_path / "out", data=tmp_path, encoder=ENCODER)

    (other / "test.jsonl").write_text("")
    known = {"label": "NO_RETRIEVAL"}
    write_set(other, [record(0, "plan", known, question="where was p0  born?")])
    with pytest.raises(InputError, match=rf"{other}/train.jsonl:1: .*{one}/train.jsonl:1"):
        train_graph_llm(config(base, data=both), tmp_path / "out", data=tmp_path, encoder=ENCODER)
    assert not (tmp_path / "out.run").exists()


@pytest.mark.parametrize("sets", [("set",), ("set", "more")])
def test_one_input_has_one_label_in_one_set_or_in_two(
    base: Path, tmp_path: Path, sets: tuple[str, ...]
) -> None:
    def load(contrary: dict[str, Any], said: str) -> None:
        rows = [records(), [contrary]]
        for name, some in zip(sets, rows if len(sets) > 1 else [sum(rows, [])], strict=True):
            write_set(tmp_path / name, some, records(1, first=4))
        with pytest.raises(InputError, match=said):
            load_data(config(base, data={"sets": sets}), tmp_path)

    load(record(4, "answer", {"answer": "Bodø"}), "learnt from, and measured on in .*dev.jsonl:4")
    load(record(0, "plan", {"label": "NO_RETRIEVAL"}), "the first plan is NO_RETRIEVAL, and SUBQ")
    place = rf"{tmp_path / sets[-1]}/train.jsonl:{17 if len(sets) == 1 else 1}"
    known = f"One input has two labels: {tmp_path}/set/train.jsonl"
    load(record(1, "plan", {"label": "SUFFICIENT"}, []), rf"{known}:6 says .* {place} says")
    hop = [["p1", "Met", "bo"], ["P1", "born in", "Oulu"]]
    load(record(1, "answer", {"answer": "Bodø"}, hop), rf"{known}:8 says 'oulu', {place} says")


def test_a_half_replaced_data_set_is_refused(base: Path, unbroken: Path, tmp_path: Path) -> None:
    for name in ("set", "more"):
        write_set(tmp_path / name, records(), records(2, first=4))
    settings = config(base, pretrain={"sets": ("more",), "epochs": 1})
    for name in ("more", "set"):
        (tmp_path / name / "stats.json").unlink()
        said = f"{tmp_path / name} holds no complete data set: there is no stats.json in it"
        with pytest.raises(InputError, match=said):
            train_graph_llm(settings, tmp_path / "out", data=tmp_path, encoder=ENCODER)
    with pytest.raises(InputError, match=said):
        evaluate(settings, str(unbroken), data=tmp_path, encoder=ENCODER)


def test_another_sentence_encoder_is_refused(unbroken: Path) -> None:
    other = HashEncoder(8)
    other.identity = "testing:other"  # type: ignore[misc]
    with pytest.raises(ConfigurationError, match="testing:encoder.*not with"):
        evaluate_graph_llm(unbroken, records(1), encoder=other)  # type: ignore[arg-type]


def test_a_step_whose_gradients_are_no_numbers_changes_no_weight(
    base: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, calls = model.loss_of, iter(range(100))
    bad = 2  # The first half of the second step.

    def some_bad(*given: Any) -> torch.Tensor:
        return own(*given) * (float("nan") if next(calls) == bad else 1.0)

    monkeypatch.setattr(model, "loss_of", some_bad)
    said: list[str] = []
    settings = config(base, watch={"records": 0})
    train_graph_llm(settings, tmp_path / "out", data=data, encoder=ENCODER, log=said.append)
    assert [line for line in said if "no numbers" in line] == [
        "step 2: the gradients are no numbers, so it changes no weight"
    ]
    for name in FILES:
        assert all(one.isfinite().all() for one in load_file(tmp_path / "out" / name).values())


def test_training_ends_where_no_step_has_gradients_that_are_numbers(
    base: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = model.loss_of
    monkeypatch.setattr(model, "loss_of", lambda *given: own(*given) * float("nan"))
    with pytest.raises(ConfigurationError, match=r"4 steps in a row.*learning_rate"):
        train(base, data, tmp_path / "out")
    assert not (tmp_path / "out").exists()
