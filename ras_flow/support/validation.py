"""One way to check data: pydantic decides, and what it finds is raised as one of our errors."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from ras_flow.errors import ConfigurationError, RasFlowError

if TYPE_CHECKING:
    from pydantic._internal._model_construction import ModelMetaclass
else:
    ModelMetaclass = type(BaseModel)

T = TypeVar("T")
S = TypeVar("S", bound="Settings")

Positive = Annotated[T, Field(gt=0)]
NonNegative = Annotated[T, Field(ge=0)]
Share = Annotated[T, Field(ge=0, lt=1)]
Probability = Annotated[T, Field(ge=0, le=1)]
Texts = Annotated[tuple[str, ...], Field(strict=False)]
FilePath = Annotated[Path, Field(strict=False)]

_SHOWN = 200


class _Told(ModelMetaclass):
    """Raises a ConfigurationError where a caller gives wrong values."""

    def __call__(cls, *args: Any, **values: Any) -> Any:
        try:
            return super().__call__(*args, **values)
        except ValidationError as error:
            raise ConfigurationError(explain(error, cls)) from None


class Settings(BaseModel, metaclass=_Told):
    """Base of all settings: frozen, without implicit conversions or unknown names."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    def override(self: S, values: Mapping[str, Any]) -> S:
        """Return a copy with other values for some fields."""
        return type(self)(**{**self.given(), **values}) if values else self

    def given(self) -> dict[str, Any]:
        """Return the values that were set explicitly, including those equal to the defaults."""
        return {name: getattr(self, name) for name in self.model_fields_set}


def checked(
    kind: Any,
    value: Any,
    what: str = "",
    error: type[RasFlowError] = ConfigurationError,
    *,
    strict: bool | None = None,
) -> Any:
    """Return a value as a type of pydantic's, or a ``TypeAdapter``, makes it.

    ``error`` names the first fault, and ``what`` it is in.
    """
    adapter = kind if isinstance(kind, TypeAdapter) else TypeAdapter(kind)
    try:
        return adapter.validate_python(value, strict=strict)
    except ValidationError as found:
        raise error(explain(found, kind, what)) from None


def read_toml(path: Path, kind: type[S]) -> S:
    """Read settings from a TOML file."""
    return checked(kind, load_toml(path), str(path))  # type: ignore[no-any-return]


def load_toml(path: Path) -> dict[str, Any]:
    """Return a TOML file's tables."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"Cannot read the settings {path}: {error}.") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"The settings {path} are not valid TOML: {error}.") from error


def explain(error: ValidationError, kind: object = None, what: str = "") -> str:
    """Say in one sentence what the first fault is, where it is, and what is expected."""
    fault = error.errors(include_url=False, include_context=False)[0]
    *outer, name = fault["loc"] or ("the value",)
    prefix = f"{what}: " if what else ""
    place = ".".join(map(str, fault["loc"])) or "the value"
    if fault["type"] == "extra_forbidden":
        inside = f" in {'.'.join(map(str, outer))}" if outer else ""
        known = ", ".join(_known(kind, outer))
        hint = f" Known: {known}." if known else ""
        return f"{prefix}unknown name {str(name)[:_SHOWN]!r}{inside}.{hint}"
    if fault["type"] == "missing":
        return f"{prefix}{place} is missing."
    expected = fault["msg"].removeprefix("Value error, ").replace("Input should be", "must be")
    if not expected.startswith("must be"):
        return f"{prefix}{place}: {expected}" if fault["loc"] else f"{prefix}{expected}"
    shown = repr(fault["input"])
    shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
    return f"{prefix}{place} {expected}, not {shown}."


def _known(kind: object, outer: Sequence[int | str]) -> list[str]:
    """Return the names of the model that a path leads to; none where it cannot be followed."""
    fields: dict[str, Any] = getattr(kind, "model_fields", None) or {}
    if not fields and not outer and not isinstance(kind, TypeAdapter):
        return sorted(getattr(kind, "__annotations__", ()))
    for step in outer:
        if step not in fields:
            return []
        hint = fields[str(step)].annotation
        options = [one for one in (hint, *get_args(hint)) if hasattr(one, "model_fields")]
        fields = options[0].model_fields if options else {}
    return sorted(fields)
