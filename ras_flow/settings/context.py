"""What a caller may tune for each run: plain JSON values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal, Self, get_args

from ras_flow.errors import ConfigurationError
from ras_flow.formats.text import scrub
from ras_flow.settings.tasks import TASKS

RetrieverKind = Literal["hybrid", "bm25", "dense"]
Planning = Literal["iterative", "static"]
ExtractorOutput = Literal["text", "json", "trained"]

LARGEST = 2**63 - 1
"""The largest whole number that a checkpoint can hold."""

LONGEST_NAME = 4096
"""Characters of a model's, index's or server's name: as many as paths have on most systems."""

LONGEST_INSTRUCTION = 20_000
"""Characters of an instruction, which every prompt repeats and every checkpoint keeps."""

_SHOWN = 200

PAUSES = ("pause_before_retrieval", "pause_after_merge", "pause_before_answer")
"""The settings that make a run wait for a person."""

DEFAULT_MODEL = "local:default"
"""The embedded model: no key, no server and no model hub."""

NO_EXTRACTOR = "none"
"""The extractor of runs that keep passages as text."""

DEMO_INDEX = "demo"
"""Name of the index over the corpus that ships with the package."""


@dataclass(frozen=True, kw_only=True)
class Context:
    """Settings of one run, given as ``context=`` to any of LangGraph's run methods.

    What it names holds over the graph's own settings (``build_graph(defaults=…)``). One that is
    made without any value counts as none: the thread's own settings hold.

    Attributes:
        index: Folder of the passage index, or ``"demo"`` for the corpus that ships with ras_flow.
        retriever: ``"hybrid"`` (reciprocal rank fusion), ``"bm25"`` or ``"dense"``.
        top_k: Passages for each subquery (eq. 3); None for as many as the answerer reads best,
            which is 5 unless a Graph LLM's own settings say otherwise.
        planner: ``provider:model`` of the planner, ``local:NAME_OR_PATH``, or ``vllm:NAME_OR_PATH``
            for a vLLM server (an export of `ras-flow export`, or any model by the server's name).
        extractor: As ``planner``, for f_t2t, the text-to-triples model (eq. 4); or ``"none"``,
            which makes no triples: planner and answerer read the passages' text.
        extractor_output: ``"json"`` has a remote extractor write JSON by a schema, where its
            server takes one; ``"trained"`` asks a remote one that `ras-flow train triples` trained
            as it was trained; ``"text"`` any for the triple format.
        answerer: As ``planner``, for the answerer.
        base_url: Address of an OpenAI-compatible (or Anthropic-compatible) server, if not the
            provider's own. Used for every role that has a remote model.
        encoder: Sentence encoder of dense retrieval and of the graph's attributes (eq. 5).
        planning: ``"static"`` answers from the given documents without planning.
        instruction: Task-specific wording (paper table 5), 20,000 characters at most; the preset's
            own if empty.
        task: Preset of :mod:`ras_flow.settings.tasks`: instruction and answer length.
        max_triples: Of each hop's triples, how many planner and answerer read at most: those
            nearest to its subquery, by ``encoder``; None for as many as each model reads best,
            which is all unless a Graph LLM's own settings say otherwise. The graph, its
            citations and what is stored stay whole.
        answer_passages: Of each hop's passages, how many the answerer reads as text beside the
            triples, the best first: 0 for none, as in the paper; None for as many as it reads best,
            which is none unless a Graph LLM's own settings say otherwise.
        max_hops: Subqueries at most; the planner is not called after the last.
        max_tokens: Budget for the tokens of all model calls, input and output; None for no limit.
        max_seconds: Budget for working time in seconds; None for no limit. A call under way is
            not cut off: the run goes on to its answer after it.
        model_window: Tokens of a prompt and its answer that a chat model takes together, as its
            server is set up; None for its own limit where that is known, else 9,000. What does not
            fit of the graph is left out, with a warning.
        model_timeout: Seconds after which one remote call counts as failed, without the wait for
            the ``rate_limiter`` of a chat model that is given as an object.
        max_retries: Further attempts after timeouts, rate limits and server errors.
        max_concurrency: Calls of one remote model under way at once, whatever the roles and runs;
            runs with another number count theirs apart.
        pause_before_retrieval: Wait for a person to approve or edit each subquery. For this and
            the next two the graph needs a checkpointer; see :mod:`ras_flow.nodes.review`.
        pause_after_merge: Wait for a person to approve or edit the graph after each hop.
        pause_before_answer: Wait for a person to approve or edit what the answer will rest on.
    """

    # Pydantic, by which a parent's context may have ours, would drop a misspelt name.
    __pydantic_config__: ClassVar = {"extra": "forbid"}

    index: str = DEMO_INDEX
    retriever: RetrieverKind = "hybrid"
    top_k: int | None = None
    planner: str = DEFAULT_MODEL
    extractor: str = DEFAULT_MODEL
    extractor_output: ExtractorOutput = "text"
    answerer: str = DEFAULT_MODEL
    base_url: str | None = None
    encoder: str = "sentence-transformers/all-MiniLM-L6-v2"
    planning: Planning = "iterative"
    task: str = "short_qa"
    instruction: str = ""
    max_triples: int | None = None
    answer_passages: int | None = None
    max_hops: int = 5
    max_tokens: int | None = None
    max_seconds: float | None = None
    model_window: int | None = None
    model_timeout: float = 60.0
    max_retries: int = 4
    max_concurrency: int = 8
    pause_before_retrieval: bool = False
    pause_after_merge: bool = False
    pause_before_answer: bool = False

    def __new__(cls, **given: object) -> Self:
        """Note what was given; see :meth:`named`.

        Raises:
            ConfigurationError: A name is unknown, as in a mapping that LangGraph makes one of.
        """
        _check_names(given)
        context = super().__new__(cls)
        object.__setattr__(context, "_given", tuple(given))
        return context

    def __post_init__(self) -> None:
        """Check every value.

        Raises:
            ConfigurationError: A value is out of range; the message names it.
        """
        _one_of("task", self.task, tuple(TASKS))
        _one_of("retriever", self.retriever, get_args(RetrieverKind))
        _one_of("planning", self.planning, get_args(Planning))
        _one_of("extractor_output", self.extractor_output, get_args(ExtractorOutput))
        if self.answer_passages is not None:
            _at_least("answer_passages", self.answer_passages, 0)
        _at_least("max_hops", self.max_hops, 0)
        _at_least("max_retries", self.max_retries, 0)
        _at_least("max_concurrency", self.max_concurrency, 1)
        for name in ("top_k", "max_triples", "max_tokens", "model_window"):
            if (value := getattr(self, name)) is not None:
                _at_least(name, value, 1)
        if self.max_seconds is not None:
            _positive("max_seconds", self.max_seconds)
        _positive("model_timeout", self.model_timeout)
        for name in ("index", "planner", "extractor", "answerer", "encoder"):
            value = getattr(self, name)
            if not isinstance(value, str) or not value:
                raise ConfigurationError(
                    f"{name} must be a text that is not empty, not {_shown(value)}."
                )
            _text(name, value, LONGEST_NAME)
        _text("instruction", self.instruction, LONGEST_INSTRUCTION)
        if self.base_url is not None:
            _text("base_url", self.base_url, LONGEST_NAME)
        for name in PAUSES:
            value = getattr(self, name)
            if not isinstance(value, bool):
                raise ConfigurationError(f"{name} must be true or false, not {_shown(value)}.")

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> Context:
        """Make a context from JSON-like values.

        Args:
            values: Names and values of fields.

        Returns:
            The context.

        Raises:
            ConfigurationError: A name is unknown or a value is out of range.
        """
        _check_names(values)
        return cls(**values)

    def override(self, values: Mapping[str, Any]) -> Context:
        """Return a copy in which some fields have other values; where there are none, itself.

        Args:
            values: Names and values of these fields, JSON-like.

        Raises:
            ConfigurationError: A name is unknown or a value is out of range.
        """
        _check_names(values)
        return type(self)(**{**self.named(), **values}) if values else self

    def named(self) -> dict[str, Any]:
        """Return the values that it was made with, also where they are the standard ones.

        They are none where LangGraph's server made it, since a caller gave no context. Where
        ``dataclasses.replace`` or pydantic made it, which give all or none by name, they are those
        that are not the standard ones.
        """
        given = getattr(self, "_given", ())
        if len(given) in (0, len(_DEFAULTS)):
            return self.changed()
        return {name: getattr(self, name) for name in given}

    def pauses(self) -> bool:
        """Tell whether the run is to wait for a person anywhere."""
        return any(getattr(self, name) for name in PAUSES)

    def changed(self) -> dict[str, Any]:
        """Return the values that differ from the defaults, as stored with a run."""
        return {
            name: value
            for name, default in _DEFAULTS.items()
            if (value := getattr(self, name)) != default
        }


def kept_settings(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that a state keeps: its graph's own, and over them what was named.

    Args:
        values: The state, which others may have filled with anything.
    """
    return {**(values.get("defaults") or {}), **(values.get("settings") or {})}


_DEFAULTS = {field.name: field.default for field in fields(Context)}


def named_settings(given: object, kept: Mapping[str, Any]) -> Mapping[str, Any]:
    """Find our settings in whatever context a run was given.

    LangGraph hands a parent's context to a subgraph's nodes unchanged, and None where the caller
    passed none; LangGraph's server makes an empty context of none.

    Args:
        given: ``runtime.context``: None, a Context, or a parent's own object or mapping that may
            have ours (a Context or a mapping of its fields) under ``ras_flow``.
        kept: The fields that the thread keeps; they hold where ``given`` names none.

    Returns:
        The fields that the caller named, now or for an earlier question; not checked.

    Raises:
        ConfigurationError: What is under ``ras_flow`` is neither.
    """
    if isinstance(given, Context):
        ours: object = given
    elif isinstance(given, Mapping):
        ours = given.get("ras_flow")
    else:
        ours = getattr(given, "ras_flow", None)
    if isinstance(ours, Context):
        ours = ours.named()
    if isinstance(ours, Mapping | None):
        return ours or kept
    raise ConfigurationError(
        f"The context's `ras_flow` is a {type(ours).__name__}: pass a Context, or a mapping of its "
        "fields."
    )


def _check_names(values: object) -> None:
    if not isinstance(values, Mapping):
        raise ConfigurationError(
            f"The settings are a {type(values).__name__}: pass names with their values."
        )
    unknown = [text[:_SHOWN] for text in sorted(map(str, set(values) - _DEFAULTS.keys()))[:10]]
    if unknown:
        raise ConfigurationError(
            f"Unknown setting(s) {', '.join(unknown)}. Known: {', '.join(sorted(_DEFAULTS))}."
        )


def _one_of(name: str, value: object, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ConfigurationError(
            f"{name} must be one of {', '.join(allowed)}, not {_shown(value)}."
        )


def _at_least(name: str, value: object, least: int) -> None:
    # For Python true is the number 1.
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= LARGEST:
        raise ConfigurationError(
            f"{name} must be a whole number of at least {least} and at most {LARGEST}, "
            f"not {_shown(value)}."
        )


def _positive(name: str, value: object) -> None:
    number = None if isinstance(value, bool) else value
    if not isinstance(number, int | float) or not 0 < number <= LARGEST:
        raise ConfigurationError(
            f"{name} must be a finite number greater than 0, not {_shown(value)}."
        )


def _text(name: str, value: object, most: int) -> None:
    if not isinstance(value, str) or scrub(value) != value:
        raise ConfigurationError(f"{name} must be text that UTF-8 can hold, not {_shown(value)}.")
    if len(value) > most:
        raise ConfigurationError(f"{name} must have at most {most} characters, not {len(value)}.")


def _shown(value: object) -> str:
    """Return a wrong value for a message, which is kept with the run: no 20 megabytes of it."""
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
