"""A table of settings whose keys are taken one by one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ras_flow.errors import ConfigurationError

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]{0,99}")
"""What benchmarks and systems may be called: names of files are made of it."""


class Table:
    """A table of a settings file; what is left when all known keys were taken is unknown.

    Args:
        value: The table, as TOML has it.
        where: What it is called in errors.

    Raises:
        ConfigurationError: It is no table.
    """

    def __init__(self, value: Any, where: str) -> None:
        if not isinstance(value, Mapping):
            raise ConfigurationError(f"{where} must be a table.")
        self.where = where
        self._left = dict(value)

    def names(self) -> list[str]:
        """Return the keys that are left, as names of what the table lists.

        Raises:
            ConfigurationError: One of them is no good name.
        """
        for name in self._left:
            if not NAME.fullmatch(name) and not self.where.endswith("prices"):
                raise ConfigurationError(
                    f"{self.where}: {name!r} is no good name: use letters, digits and _ . + -"
                )
        return list(self._left)

    def table(self, name: str) -> Table:
        """Take a table within this one; an empty one where it has none.

        Raises:
            ConfigurationError: It is no table.
        """
        return Table(self._left.pop(name, {}), f"{self.where}: {name}")

    def take(self, name: str, kind: Any, default: Any) -> Any:
        """Take a value of a type, or the default.

        Raises:
            ConfigurationError: It is of another type.
        """
        value = self._left.pop(name, default)
        fits = isinstance(value, kind) and not isinstance(value, bool)
        if value is not default and not fits:
            raise ConfigurationError(f"{self.where}: {name} = {value!r} is of a wrong type.")
        return value

    def flag(self, name: str) -> bool:
        """Take a truth value; false where it has none.

        Raises:
            ConfigurationError: It is something else.
        """
        value = self._left.pop(name, False)
        if not isinstance(value, bool):
            raise ConfigurationError(f"{self.where}: {name} = {value!r} must be true or false.")
        return value

    def some(self, names: set[str]) -> dict[str, Any]:
        """Take what there is of these names."""
        return {name: self._left.pop(name) for name in list(self._left) if name in names}

    def nothing_else(self) -> None:
        """Refuse what is left.

        Raises:
            ConfigurationError: Something is.
        """
        for name in self._left:
            raise ConfigurationError(f"{self.where}: there is no setting {name!r} here.")
