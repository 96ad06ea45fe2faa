"""What a caller may ask for: bounds that whoever runs the graph sets by the environment.

Callers choose a run's settings; these bounds are not theirs to choose.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from urllib.parse import SplitResult, urlsplit

from ras_flow.errors import ConfigurationError, InputError
from ras_flow.settings.context import CHAIN_ENDS, NO_EXTRACTOR, SIMILARITY, Context
from ras_flow.state.schema import Passage

MAX_QUESTION = "RAS_FLOW_MAX_QUESTION"
"""Environment variable: characters of a question."""

MAX_DOCUMENTS = "RAS_FLOW_MAX_DOCUMENTS"
"""Environment variable: documents given with a question."""

MAX_CHARACTERS = "RAS_FLOW_MAX_CHARACTERS"
"""Environment variable: characters of these documents together, with titles and sources."""

MODEL_SERVERS = "RAS_FLOW_MODEL_SERVERS"
"""Environment variable: addresses of model servers that callers may name, with commas between."""

MODELS = "RAS_FLOW_MODELS"
"""Environment variable: models and sentence encoders that callers may name, with commas between."""

INDEXES = "RAS_FLOW_INDEXES"
"""Environment variable: indexes that callers may name, with commas between."""

DEFAULTS = {MAX_QUESTION: 20_000, MAX_DOCUMENTS: 1_000, MAX_CHARACTERS: 2_000_000}


def limit(name: str, default: int, *, least: int = 1) -> int:
    """Return a limit."""
    given = os.environ.get(name)
    if not given:
        return default
    if not (given.isascii() and given.isdigit() and int(given) >= least):
        raise ConfigurationError(
            f"The environment variable {name} is {given!r}: set it to a whole number of at least "
            f"{least}, or not at all."
        )
    return int(given)


def check_question(question: str) -> None:
    """Refuse a question that is too long."""
    if len(question) > (most := _own(MAX_QUESTION)):
        raise InputError(
            f"The question has {len(question)} characters; at most {most} are taken "
            f"({MAX_QUESTION}). Shorten it, or pass long texts as `documents`."
        )


def check_count(documents: int) -> None:
    """Refuse too many documents."""
    if documents > (most := _own(MAX_DOCUMENTS)):
        raise InputError(
            f"There are {documents} documents; at most {most} are taken ({MAX_DOCUMENTS}). "
            "Give fewer, or build an index of them."
        )


def check_sizes(passages: Mapping[str, Passage]) -> None:
    """Refuse documents that are too long together."""
    total = sum(
        len(passage["title"]) + len(passage["text"]) + len(passage.get("source", ""))
        for passage in passages.values()
    )
    if total > (most := _own(MAX_CHARACTERS)):
        raise InputError(
            f"The documents have {total} characters together; at most {most} are taken "
            f"({MAX_CHARACTERS}). Give less, or build an index of them."
        )


def listed(variable: str) -> list[str] | None:
    """Return the names that callers may use, or None if they may use any."""
    given = os.environ.get(variable)
    return None if given is None else [name for one in given.split(",") if (name := one.strip())]


def check_names(context: Context, own: Context) -> None:
    """Refuse models and indexes that the deployment does not allow."""
    names = {MODELS: (*context.model_roles, "encoder", "kg_retriever"), INDEXES: ("index", "kg")}
    for variable, settings in names.items():
        may = listed(variable)
        if may is None:
            continue
        allowed = {*may, NO_EXTRACTOR, CHAIN_ENDS, SIMILARITY}
        allowed |= {getattr(own, setting) for setting in settings}
        for setting in settings:
            if getattr(context, setting) not in allowed:
                # Callers may be strangers: they are not told what it holds.
                raise ConfigurationError(
                    f"This deployment does not take that name as {setting}. Leave it out, or have "
                    "whoever runs the deployment add it to the environment variable "
                    f"{variable}."
                )


def check_server(address: str, *, deployed: bool) -> None:
    """Refuse a model server that was not allowed: prompts go there, with the provider's key.

    Scheme and host have to be those of an address in :data:`MODEL_SERVERS`; the port too, where
    that names one.
    """
    given = os.environ.get(MODEL_SERVERS)
    if given is None and not deployed:
        return
    allowed = _model_servers(given or "")
    try:
        asked = urlsplit(address)
        known = any(_same_server(asked, one) for one in allowed)
    except ValueError:
        known = False
    if not known:
        raise ConfigurationError(
            "This deployment does not send prompts and keys to that base_url. "
            "Leave it out, or have whoever runs the deployment add it to the environment variable "
            f"{MODEL_SERVERS}."
        )


def _model_servers(given: str) -> list[SplitResult]:
    try:
        servers = [urlsplit(one.strip()) for one in given.split(",") if one.strip()]
        # Reading a wrong port raises.
        named = all(one.scheme and one.hostname and one.port != 0 for one in servers)
    except ValueError:
        named = False
    if not named:
        # Callers may be strangers: they are not told what it holds.
        raise ConfigurationError(
            f"The environment variable {MODEL_SERVERS} holds something else than addresses: set it "
            "to addresses like https://HOST or https://HOST:PORT, with commas between."
        )
    return servers


def _same_server(asked: SplitResult, allowed: SplitResult) -> bool:
    same = (asked.scheme, asked.hostname) == (allowed.scheme, allowed.hostname)
    return same and allowed.port in (None, asked.port)


def _own(name: str) -> int:
    return limit(name, DEFAULTS[name])
