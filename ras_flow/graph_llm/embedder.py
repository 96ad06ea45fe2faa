"""Prompts as embeddings, from an export's client part: no layer of the language model is read."""

from __future__ import annotations

import base64
import io
from pathlib import Path

import safetensors.torch
import torch

from ras_flow.errors import ConfigurationError
from ras_flow.graph_llm.export import PART, WORDS, Exported
from ras_flow.graph_llm.manifest import GNN
from ras_flow.graph_llm.prompt import Prompt
from ras_flow.graph_llm.soft_tokens import encode_graphs, graph_part, place
from ras_flow.parts.records import AttributedGraph


class PromptEmbedder:
    """The embeddings of words, and what makes soft tokens of graphs; on the CPU."""

    def __init__(self, exported: Exported, folder: Path) -> None:
        exported.check(folder)
        try:
            self.words = safetensors.torch.load_file(folder / PART / WORDS)["words"]
            self._graph = graph_part(exported.config, self.words.shape[1])
            self._graph.load_state_dict(safetensors.torch.load_file(folder / PART / GNN))
        except (KeyError, RuntimeError) as error:
            raise ConfigurationError(
                f"The weights in {str(folder / PART)!r} do not fit its own description "
                f"({str(error).splitlines()[0]}). Export the Graph LLM again."
            ) from error
        self._graph.eval()

    @torch.inference_mode()
    def embed(self, prompt: Prompt, graph: AttributedGraph | None) -> torch.Tensor:
        """Embed a prompt as a tensor of shape (tokens, width of a word embedding)."""
        ids = torch.tensor([prompt.input_ids])
        soft = encode_graphs(self._graph["encoder"], self._graph["projector"], [graph])
        return place(self.words[ids.clamp(min=0)], ids, soft)[0]

    def encoded(self, prompt: Prompt, graph: AttributedGraph | None) -> str:
        """Embed a prompt as vLLM takes it: a tensor that torch saved, as base64."""
        file = io.BytesIO()
        torch.save(self.embed(prompt, graph), file)
        return base64.b64encode(file.getbuffer()).decode("ascii")
