"""ras-flow export: a Graph LLM or an extractor as a plain model for a server."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from ras_flow.cli.options import path_option
from ras_flow.llms.local.precision import DType


def export(
    model: Annotated[
        str,
        typer.Argument(help="local:default, or a folder that train graph-llm or triples wrote."),
    ],
    out: Annotated[Path, path_option("Folder to write.", metavar="FOLDER")],
    extractor: Annotated[
        bool, typer.Option("--extractor", help="Export the extractor instead of the Graph LLM.")
    ] = False,
    dtype: Annotated[
        DType, typer.Option(help="Number format of the language model's weights.")
    ] = "float32",
) -> None:
    """Merge a trained adapter into a plain model for vLLM; a Graph LLM's encoder goes beside it."""
    name = model if model.partition(":")[0] == "local" else f"local:{model}"
    embeds = ""
    if extractor:
        from ras_flow.llms.local.export import export_extractor

        served = export_extractor(name, out, dtype=dtype)
    else:
        from ras_flow.graph_llm.export import export_graph_llm

        exported = export_graph_llm(name, out, dtype=dtype)
        served = exported.served_name
        embeds = " --enable-prompt-embeds" if exported.config.gnn else ""
    typer.echo(f"vllm serve {quote(str(out))} --served-model-name {served} --dtype {dtype}{embeds}")
