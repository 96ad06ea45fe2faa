"""A language model as a plain checkpoint of transformers, which any server loads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ras_flow.errors import ConfigurationError
from ras_flow.llms.local.generation import end_tokens, memory_errors_say
from ras_flow.llms.local.model import read_model
from ras_flow.llms.local.precision import DType
from ras_flow.llms.local.tokenizer import load_tokenizer
from ras_flow.llms.local.tuned import extractor_name, find_tuned
from ras_flow.llms.local.weights import hash_text, reading_weights
from ras_flow.support.extras import require
from ras_flow.support.files import let_all_read, whole_folder


def export_extractor(name: str, folder: Path, *, dtype: DType = "float32") -> str:
    """Merge an extractor's adapter into its base model, and write all that serving needs."""
    source = extractor_name(name).partition(":")[2]
    tuned = find_tuned(source)
    if tuned is None:
        raise ConfigurationError(
            f"{name!r} does not name a trained extractor. Name local:default, or local: with a "
            "folder that `ras-flow train triples` wrote."
        )
    if tuned.kind != "causal":
        raise ConfigurationError(
            f"{name!r} is an encoder-decoder model, which vLLM does not serve. Use it as "
            f"local:{source}, or train one with model.kind = 'causal'."
        )
    with export_folder(folder) as scratch:
        model, tokenizer = read_model(source), load_tokenizer(source)
        save_plain(model, tokenizer, end_tokens(model, tokenizer), scratch, dtype)
    return f"extractor-{hash_text(f'{tuned.key} {dtype}')}"


def save_plain(model: Any, tokenizer: Any, ends: Iterable[int], folder: Path, dtype: DType) -> None:
    """Write a language model and its tokenizer."""
    torch = require("torch", extra="local")
    transformers = require("transformers", extra="local")
    model = model.to(getattr(torch, dtype))
    # Servers take sampling from these settings unless a request says otherwise.
    model.generation_config = transformers.GenerationConfig(
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=sorted(ends),
        pad_token_id=tokenizer.pad_token_id,
    )
    with reading_weights():
        model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


@contextmanager
def export_folder(folder: Path) -> Iterator[Path]:
    """Give a folder to write an export to, which gets its name when all of it is there."""
    safetensors = require("safetensors", extra="local")
    folder = folder.resolve()
    if folder in (Path.cwd(), Path(folder.anchor)):
        # It is replaced: a shell would stay in the one that is gone.
        raise ConfigurationError(
            f"The export cannot take the place of {str(folder)!r}, the current folder or the "
            "root. Name a new folder."
        )
    memory = (
        "Memory ran out: an export has all weights in memory. Use a machine with more, or hide a "
        "GPU that is too small: CUDA_VISIBLE_DEVICES="
    )
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise ConfigurationError(f"{str(folder)!r} exists and is not empty. Name a new folder.")
        folder.parent.mkdir(parents=True, exist_ok=True)
        with whole_folder(folder) as scratch, memory_errors_say(memory):
            yield scratch
            let_all_read(scratch)
    except (OSError, safetensors.SafetensorError) as error:
        raise ConfigurationError(
            f"The export to {str(folder)!r} cannot be written ({error}). Name a folder that can be "
            "written, on a disk with room."
        ) from error
