"""What a folder of trained weights says of itself, as JSON: versions, and its files' SHA-256."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Self

from ras_flow.errors import ConfigurationError
from ras_flow.support.files import checksum
from ras_flow.support.validation import Settings, checked


class Description(Settings):
    """The fields that all descriptions have; ``versions`` are those that are read."""

    what: ClassVar[str]
    versions: ClassVar[Mapping[str, int]]

    files: Mapping[str, str]

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a description, and no weights."""
        again = f"Restore the folder, or export or train the {cls.what} again"
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
            found = {name: values[name] for name in cls.versions}
        except FileNotFoundError:
            raise ConfigurationError(
                f"{str(path.parent)!r} holds no {cls.what}: {path.name} is missing. Check the path."
            ) from None
        except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
            raise ConfigurationError(
                f"{path} is damaged ({type(error).__name__}). {again}."
            ) from error
        if found != cls.versions:
            said, read = (
                ", ".join(f"{name} {number!r}" for name, number in some.items())
                for some in (found, cls.versions)
            )
            raise ConfigurationError(
                f"{path} has {said}; this version of ras-flow reads {read}. {again}, or use the "
                "version of ras-flow that wrote it."
            )
        described: Self = checked(cls, values, str(path))
        return described

    def write(self, path: Path) -> None:
        """Write it beside the files that it describes."""
        text = json.dumps(self.to_mapping(), indent=2, ensure_ascii=False)
        path.write_text(f"{text}\n", encoding="utf-8")

    def to_mapping(self) -> dict[str, Any]:
        """Return it as JSON-like data."""
        return self.model_dump(mode="json")

    def check_files(self, folder: Path, needed: Iterable[str]) -> None:
        """Compare files with their checksums."""
        for name in needed:
            file = folder / name
            if file.is_file() and checksum(file) == self.files.get(name):
                continue
            state = "damaged" if file.is_file() else "missing"
            raise ConfigurationError(
                f"{file} is {state}. Restore the folder, or export or train the {self.what} again."
            )
