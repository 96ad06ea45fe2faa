"""The sentence encoder that an index is built with, by name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ras_flow.cli.commands import app
from ras_flow.cli.index import settings_of
from tests.indexes.helpers import WordEncoder


def test_an_index_is_built_with_the_encoder_that_is_named(
    docs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "ras_flow.cluster.encoder.LocalSentenceEncoder", lambda name: WordEncoder(f"{name}@1")
    )
    run = CliRunner().invoke
    index = str(tmp_path / "index")
    built = run(app, ["index", "build", index, str(docs), "--encoder", "my/encoder"])
    assert built.exit_code == 0, built.output
    info = json.loads(run(app, ["index", "info", index, "--json"]).stdout)
    assert (info["encoder"], info["passages"]) == ("my/encoder@1", 4)
    (tmp_path / "model").mkdir()
    monkeypatch.chdir(tmp_path)
    run(app, ["index", "build", index, str(docs), "--encoder", "./model"])
    assert settings_of(Path(index)) == {"encoder": str(tmp_path / "model")}
