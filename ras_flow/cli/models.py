"""Options of all commands that call models."""

from __future__ import annotations

from typing import Annotated

import typer

BaseUrl = Annotated[str | None, typer.Option(help="Address of a compatible model server.")]
ExtractorOutput = Annotated[
    str, typer.Option(help="How a remote extractor is asked: text, json (by a schema), trained.")
]
Window = Annotated[
    int | None,
    typer.Option(
        help="Tokens of prompt and answer that the server's model takes together; if left out, the "
        "model's own limit."
    ),
]
Timeout = Annotated[float, typer.Option(help="Seconds that one call of a model server may take.")]
Retries = Annotated[int, typer.Option(help="Further attempts when a model server fails.")]
