"""What a caller may tune for each run: plain JSON values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import AfterValidator, Field

from ras_flow.errors import ConfigurationError
from ras_flow.formats.text import scrub
from ras_flow.settings.tasks import TASKS
from ras_flow.support.validation import Settings

RetrieverKind = Literal["hybrid", "bm25", "dense"]
Planning = Literal["iterative", "static"]
ExtractorOutput = Literal["text", "json", "trained"]
WhenUnknown = Literal["say so", "guess"]
Loop = Literal["one_call", "paper"]
Reads = Literal["facts", "passages", "both"]
History = Literal["triples", "chains"]

LARGEST = 2**63 - 1
"""The largest whole number that a checkpoint can hold."""

LONGEST_NAME = 4096
"""The most characters in a name of a model, index or server: a path's limit on most systems."""

LONGEST_INSTRUCTION = 20_000
"""The most characters in an instruction: every prompt repeats it, every checkpoint keeps it."""

DEFAULT_MODEL = "local:default"
"""The embedded model: no key, no server and no model hub."""

NO_EXTRACTOR = "none"
"""The extractor of runs that keep passages as text."""

CHAIN_ENDS = "chain-ends"
"""The answerer that needs no model: it answers with what the best evidence chain leads to."""

SIMILARITY = "similarity"
"""The untrained retriever of a knowledge graph's facts."""

DEMO_INDEX = "demo"
"""Name of the index over the corpus that ships with the package."""


def _storable(text: str) -> str:
    if scrub(text) != text:
        raise ValueError("must be text that UTF-8 can hold")
    return text


def _known_task(name: str) -> str:
    if name not in TASKS:
        raise ValueError(f"must be one of {', '.join(TASKS)}")
    return name


Name = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME), AfterValidator(_storable)]
_Instruction = Annotated[str, Field(max_length=LONGEST_INSTRUCTION), AfterValidator(_storable)]
Count = Annotated[int, Field(ge=0, le=LARGEST)]
Number = Annotated[int, Field(ge=1, le=LARGEST)]
Seconds = Annotated[float, Field(gt=0, le=LARGEST)]


class Context(Settings):
    """Settings of one run, given as ``context=`` to any of LangGraph's run methods.

    Values set here override the graph's own (``build_graph(defaults=…)``). ``start`` resolves both
    once and stores the result with the run; resume and fork read it there.

    Attributes:
        index: Folder of the passage index, TOML file of a vector database, or ``"demo"`` for the
            corpus that ships with ras_flow. Without an index, a run can answer only from given
            documents or a knowledge graph.
        retriever: ``"hybrid"`` (BM25 and similarity together), ``"bm25"`` or ``"dense"``.
        top_k: Passages for each subquery (eq. 3). None for as many as the answerer reads best: 5,
            unless a Graph LLM's own settings say otherwise. With one call a hop, 3 for each
            subquery after the question.
        min_score: In searches after the first, the share of the best passage's score that the
            others need. None for what suits the answerer: 0, which takes all, unless a Graph LLM's
            own settings say otherwise.
        kg: Folder of a knowledge graph, ``"demo"`` for the one that ships with ras_flow, or a TOML
            file that names a server. ReG answers from it. RAS searches it for each subquery, beside
            the index; T²RAG searches it in place of an index.
        kg_retriever: What scores the facts of ``kg``: ``"similarity"``, ``"local:default"`` for the
            retriever that ships with ras_flow, or ``local:FOLDER`` for one from
            `ras-flow train retriever`.
        kg_triples: The most facts of ``kg`` that a search takes. None for as many as the answerer
            reads best: 200, or 20 for the embedded model and beside an index.
        kg_depth: The most edges from an entity that a question names to a fact.
        planner: ``provider:model`` of the planner, ``local:NAME_OR_PATH``, or ``vllm:NAME_OR_PATH``
            for a vLLM server (an export of `ras-flow export`, or any model by the server's name).
        extractor: As ``planner``, for f_t2t, the text-to-triples model (eq. 4). ``"none"`` makes no
            triples: planner and answerer read the passages' text.
        extractor_output: What a remote extractor writes: ``"text"``, a triple per line; ``"json"``,
            JSON by a schema, if its server takes one; ``"trained"``, what `ras-flow train triples`
            taught it.
        answerer: As ``planner``, for the answerer. Where it reads chains, also ``"chain-ends"``,
            which needs no model: it answers with what the best chain leads to.
        base_url: Address of an OpenAI-compatible (or Anthropic-compatible) server, if it is not the
            provider's own. Every role with a remote model uses it.
        encoder: Sentence encoder of dense retrieval and of the graph's attributes (eq. 5).
        loop: ``"one_call"`` has one model read each hop, note its facts and name the next step, in
            one call; ``"paper"`` asks planner, extractor and answerer separately.

            None for one call where these three are the same chat model, or ``"local:default"``
            without a knowledge graph; else for the paper's loop. There chat models search for
            the question first, take only new passages, extract those of a hop in one call, and
            read facts by subject.

            With one call a hop, the embedded Graph LLM still answers. The answer that came with
            the facts is taken if it is the only one that the documents support.
        reads: What a call of ``"one_call"`` sees of earlier hops: the ``"facts"`` noted from
            them, their ``"passages"``, or ``"both"``.
        planning: ``"static"`` answers from the given documents without planning.
        instruction: Task-specific wording (paper table 5), at most 20,000 characters. If empty, the
            preset's own.
        task: Preset of :mod:`ras_flow.settings.tasks`: instruction and answer length. None for
            ``"qa"`` with one call a hop, and ``"short_qa"`` in the paper's loop.
        when_unknown: ``"say so"``: if the documents do not support an answer, the run answers that
            they do not say. ``"guess"``: it always gives the model's best answer.
        max_triples: The most triples of each hop that planner and answerer read: those nearest to
            its subquery, by ``encoder``. None for as many as each model reads best: all, unless a
            Graph LLM's own settings say otherwise. The graph, its citations and what is stored
            stay whole.
        answer_passages: How many passages of each hop, the best first, the answerer reads as text
            beside the triples; 0 for none, as in the paper. None for as many as it reads best: 0,
            unless a Graph LLM's own settings say otherwise.
        history: What the answerer reads: ``"triples"`` by hop, or evidence ``"chains"`` from what
            the question names. None for what it reads best.
        max_hops: The most subqueries; the planner is not called after the last. If nobody sets it,
            a Graph LLM's own settings may ask for fewer.
        max_tokens: Token budget of all model calls, input and output; None for no limit.
        max_seconds: Budget for working time in seconds; None for no limit. A running call is not
            cut off; after it, the run goes on to its answer.
        model_window: Tokens that a chat model takes, prompt and answer together, as its server is
            set up. None for its own limit if that is known, else 9,000. A graph that does not fit
            is cut, with a warning.
        model_timeout: Seconds to wait for a model's server in one attempt. For a chat model passed
            as an object, seconds for its whole call, without the wait for its ``rate_limiter``.
        max_retries: Further attempts after timeouts, rate limits and server errors.
        max_concurrency: The most calls to one remote model at once, over all roles and runs. Runs
            with another value are counted separately.
        pause_before_retrieval: Wait for a person to approve or edit each subquery. For this and
            the next two, the graph needs a checkpointer; see :mod:`ras_flow.nodes.review`.
        pause_after_merge: Wait for a person to approve or edit the graph after each hop.
        pause_before_answer: Wait for a person to approve or edit what the answer will rest on.
    """

    model_roles: ClassVar[tuple[str, ...]] = ("planner", "extractor", "answerer")
    """The settings that name a role's model, including a system's own roles."""

    bare_roles: ClassVar[tuple[str, ...]] = ()
    """Those of these roles that the system's own nodes ask, with their own prompts."""

    unread: ClassVar[frozenset[str]] = frozenset()
    """Settings that the system does not read, so that the command line can refuse them."""

    index: Name | None = None
    retriever: RetrieverKind = "hybrid"
    top_k: Number | None = None
    min_score: Annotated[float, Field(ge=0, le=1)] | None = None
    kg: Name | None = None
    kg_retriever: Name = DEFAULT_MODEL
    kg_triples: Number | None = None
    kg_depth: Number = 2
    planner: Name = DEFAULT_MODEL
    extractor: Name = DEFAULT_MODEL
    extractor_output: ExtractorOutput = "text"
    answerer: Name = DEFAULT_MODEL
    base_url: Name | None = None
    encoder: Name = "sentence-transformers/all-MiniLM-L6-v2"
    loop: Loop | None = None
    reads: Reads = "facts"
    planning: Planning = "iterative"
    task: Annotated[str, AfterValidator(_known_task)] | None = None
    instruction: _Instruction = ""
    when_unknown: WhenUnknown = "say so"
    max_triples: Number | None = None
    answer_passages: Count | None = None
    history: History | None = None
    max_hops: Count = 5
    max_tokens: Number | None = None
    max_seconds: Seconds | None = None
    model_window: Number | None = None
    model_timeout: Seconds = 60.0
    max_retries: Count = 4
    max_concurrency: Number = 8
    pause_before_retrieval: bool = False
    pause_after_merge: bool = False
    pause_before_answer: bool = False

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> Self:
        """Make a context from JSON-like values.

        Args:
            values: Names and values of fields.

        Returns:
            The context.

        Raises:
            ConfigurationError: A name is unknown or a value is out of range.
        """
        return cls(**as_mapping(values))

    @classmethod
    def of(cls, given: object) -> Self:
        """Make settings of this class from those of any system, or from a mapping."""
        return given if isinstance(given, cls) else cls(**values_of(given))

    def model_name(self, role: str) -> str:
        """Return the name of the model that plays a role."""
        return str(getattr(self, role))

    def pauses(self) -> list[str]:
        """Return the points at which the run is to wait for a person."""
        names = [name for name in type(self).model_fields if name.startswith("pause_")]
        return [name.removeprefix("pause_") for name in names if getattr(self, name)]

    def changed(self) -> dict[str, Any]:
        """Return the values that differ from the defaults, as stored with a run."""
        return self.model_dump(exclude_defaults=True)


DEFAULTS = Context()
"""The settings where neither the graph nor the caller says otherwise."""


def settings_given(context: object) -> Mapping[str, Any]:
    """Find our settings in whatever context a run was given.

    LangGraph hands a parent's context to a subgraph's nodes unchanged. If the caller passed none,
    the context is None; on LangGraph's server it is then an empty context. A parent's own object or
    mapping may have our settings, a Context or a mapping of its fields, as ``ras_flow``.

    Raises:
        ConfigurationError: What is at ``ras_flow`` is neither.
    """
    if isinstance(context, Context):
        return context.given()
    if isinstance(context, Mapping):
        return values_of(context.get("ras_flow"))
    return values_of(getattr(context, "ras_flow", None))


def values_of(given: object) -> Mapping[str, Any]:
    """Return the settings that a Context or a mapping names; for None, no settings."""
    return given.given() if isinstance(given, Context) else as_mapping(given or {})


def as_mapping(values: object) -> Mapping[str, Any]:
    """Refuse settings that are not names with values."""
    if not isinstance(values, Mapping) or not all(isinstance(name, str) for name in values):
        raise ConfigurationError(
            f"The settings are a {type(values).__name__}: pass names with their values."
        )
    return values
