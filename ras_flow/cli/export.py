"""ras-flow export: a Graph LLM as a plain model for a server."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ras_flow.cli.names import path_of


class _Format(StrEnum):
    float32 = "float32"
    bfloat16 = "bfloat16"
    float16 = "float16"


def export(
    model: Annotated[
        str, typer.Argument(help="local:default, or a folder that train graph-llm wrote.")
    ],
    out: Annotated[Path, typer.Option(parser=path_of, metavar="FOLDER", help="Folder to write.")],
    dtype: Annotated[
        _Format, typer.Option(help="Number format of the language model's weights.")
    ] = _Format.float32,
) -> None:
    """Merge a Graph LLM into a plain model for vLLM, with its graph encoder beside it."""
    from shlex import quote

    from ras_flow.graph_llm.export import export_graph_llm

    name = model if model.partition(":")[0] == "local" else f"local:{model}"
    exported = export_graph_llm(name, out, dtype=dtype.value)
    serve = f"vllm serve {quote(str(out))} --served-model-name {exported.served_name}"
    embeds = " --enable-prompt-embeds" if exported.config.gnn else ""
    typer.echo(f"{serve} --dtype {dtype.value}{embeds}")
