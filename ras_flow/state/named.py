"""The channel of the settings that a caller named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

from langgraph.channels import LastValue

from ras_flow.errors import ConfigurationError
from ras_flow.settings.context import Context

_KEPT, _REFUSED = "kept", "refused"
"""Keys of a checkpoint that has both; no setting is called so."""


class NamedSettings(LastValue[Any]):
    """Holds the last settings; those that are none for one step, in which they are refused.

    A question with wrong settings is written to the state before any node can refuse it. Without
    this the thread would lose those that it had, and refuse each further question.
    """

    __slots__ = ("refused",)

    def __init__(self, typ: Any, key: str = "") -> None:
        super().__init__(typ, key)
        self.refused: tuple[Any, ...] = ()

    def copy(self) -> Self:
        """Return a copy of the channel."""
        other = super().copy()
        other.refused = self.refused
        return other

    def update(self, values: Sequence[Any]) -> bool:
        """Take what a step wrote; one that wrote nothing ends the step of what was refused."""
        over, self.refused = bool(self.refused), ()
        if not values:
            return over
        try:
            Context.from_mapping(values[-1] or {})
        except ConfigurationError:
            self.refused = (values[-1],)
            return True
        return super().update(values)

    def get(self) -> Any:
        """Return the settings, or those that are to be refused."""
        return self.refused[0] if self.refused else super().get()

    def is_available(self) -> bool:
        """Tell whether there are any."""
        return bool(self.refused) or super().is_available()

    def checkpoint(self) -> Any:
        """Return what is stored."""
        if not self.refused:
            return super().checkpoint()
        kept = self.value if super().is_available() else None
        return {_KEPT: kept, _REFUSED: self.refused[0]}

    def from_checkpoint(self, checkpoint: Any) -> Self:
        """Return the channel with what is stored."""
        if not isinstance(checkpoint, Mapping) or set(checkpoint) != {_KEPT, _REFUSED}:
            return super().from_checkpoint(checkpoint)
        made = super().from_checkpoint(checkpoint[_KEPT])
        made.refused = (checkpoint[_REFUSED],)
        return made
