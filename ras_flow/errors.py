"""One tree of errors. Every message says what was wrong and what to do."""

from __future__ import annotations


class RasFlowError(RuntimeError):
    """Base class of every error that ras_flow raises on purpose.

    A RuntimeError because LangGraph's server hides the messages of most other exceptions from its
    clients.
    """


class InputError(RasFlowError, ValueError):
    """The caller's input cannot be used: an empty question, a document without text."""


class DocumentError(InputError):
    """A document cannot be read. The message names the file and, where known, the line."""


class EditError(InputError):
    """An edit of a run is malformed or makes no sense there. The message names it by number."""


class ConfigurationError(RasFlowError):
    """A setting is wrong: an unknown model name, a bad limit, a missing path."""


class MissingExtraError(ConfigurationError, ImportError):
    """An optional package is needed. The message has the install command."""


class AuthenticationError(ConfigurationError):
    """A model server refused the key (401, 403), or it has no credit left. Never retried."""


class ClusterError(ConfigurationError):
    """A Ray cluster cannot be reached, or its workers die at the same work again and again."""


class CorpusIndexError(RasFlowError):
    """Base class of what can be wrong with an index on disk."""


class IndexMissingError(CorpusIndexError):
    """The given path has no index."""


class IndexCorruptError(CorpusIndexError):
    """A file of the index is missing, truncated or altered."""


class IndexMismatchError(CorpusIndexError):
    """The index was written by another version, or with another encoder."""


class ModelError(RasFlowError):
    """Base class of failures of a model call."""


class ModelUnavailableError(ModelError):
    """Timeouts, rate limits (429) or server errors (5xx) that outlasted the retries."""


class ModelResponseError(ModelError):
    """The server's answer cannot be used: a rejected request, a broken stream."""


class OverloadedError(RasFlowError):
    """This process has as much under way as it takes. What a run did before is kept."""


class RunError(RasFlowError):
    """A stored run cannot be listed, shown or resumed: unknown, finished, or unreadable."""


class UnknownRunError(RunError):
    """The run, or its branch or step, does not exist."""


class RecordError(RunError):
    """What is stored of a run is damaged, or another program's."""
