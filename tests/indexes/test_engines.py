"""Vector databases: real PostgreSQL with pgvector, and Qdrant in its local mode."""

from __future__ import annotations

import asyncio
import os
import traceback
from collections.abc import Sequence
from pathlib import Path
from zlib import crc32

import numpy as np
import numpy.typing as npt
import pytest
from typer.testing import CliRunner

from ras_flow.cli.index import app
from ras_flow.documents import SourceDocument
from ras_flow.errors import (
    ConfigurationError,
    IndexMismatchError,
    IndexMissingError,
    InputError,
    RasFlowError,
)
from ras_flow.indexes import CorpusIndex, ann, open_retriever
from ras_flow.indexes.engines.config import read_engine
from ras_flow.indexes.engines.retriever import push
from ras_flow.indexes.opening import settings_of
from ras_flow.parts.chosen import Parts
from ras_flow.settings.context import Context
from tests.indexes.helpers import DOCUMENTS, WordEncoder, titles
from tests.indexes.test_vectors import WORDS, corpus, small, unit

ENGINES = ["qdrant", "pgvector"]
QUERIES = [f"{a} {b}" for a, b in zip(WORDS[:20], WORDS[9:], strict=False)]


class Apart(WordEncoder):
    """No two texts are equally near to a third."""

    async def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        vectors = await super().encode(texts)
        seeds = [crc32(text.encode()) for text in texts]
        noise = [np.random.default_rng(seed).normal(size=self.dimension) for seed in seeds]
        return unit(vectors + 0.01 * np.array(noise))


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> CorpusIndex:
    path = tmp_path_factory.mktemp("index")
    return asyncio.run(CorpusIndex.build(path, corpus(300), encoder=Apart(dimension=64), shards=3))


@pytest.fixture(scope="module")
def pgvector(postgres: str) -> str:
    """Address of a server that has pgvector."""
    import psycopg

    with psycopg.connect(postgres) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    return postgres


@pytest.fixture(params=ENGINES)
def engine(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    index: CorpusIndex,
    monkeypatch: pytest.MonkeyPatch,
) -> Path:
    """A file that names an empty database; its collection has the test's own name."""
    path = tmp_path / "engine.toml"
    lines = [
        f'engine = "{request.param}"',
        f'bm25 = "{index.path}"',
        f'collection = "c{tmp_path.name}"',
    ]
    if request.param == "qdrant":
        lines.append('path = "qdrant"')
    else:
        monkeypatch.setenv("TEST_PGVECTOR", request.getfixturevalue("pgvector"))
        lines.append('url = "$TEST_PGVECTOR"')
    path.write_text("\n".join(lines))
    return path


async def test_a_database_gives_the_same_passages_as_the_index(
    index: CorpusIndex, engine: Path
) -> None:
    await push(index, read_engine(engine))
    encoder = Apart(dimension=64)
    opened = CorpusIndex.open(index.path, encoder=encoder)
    for kind in ("dense", "hybrid"):
        found = await open_retriever(engine, kind, encoder).retrieve(QUERIES, 5)
        expected = await opened.retriever(kind).retrieve(QUERIES, 5)
        for ours, theirs in zip(found, expected, strict=True):
            assert [hit.passage for hit in ours] == [hit.passage for hit in theirs]
            assert [hit.score for hit in ours] == pytest.approx(
                [hit.score for hit in theirs], abs=1e-4
            )


async def test_a_large_table_gives_as_many_as_asked_for_also_after_a_restart(
    tmp_path: Path, pgvector: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import psycopg

    monkeypatch.setattr(ann, "FLAT_UNTIL", 999)
    encoder = Apart(dimension=64)
    made = await CorpusIndex.build(tmp_path / "a", corpus(1000), encoder=encoder, vectors="flat")
    path = tmp_path / "engine.toml"
    path.write_text(f'engine = "pgvector"\ncollection = "c{tmp_path.name}"\nurl = "{pgvector}"')
    await push(made, read_engine(path))
    retriever = open_retriever(path, "dense", encoder)
    assert len(await titles(retriever, QUERIES[0], 60)) == 60
    with psycopg.connect(pgvector) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
        )
    assert len(await titles(retriever, QUERIES[0], 60)) == 60


async def test_a_collection_is_replaced_only_on_purpose(engine: Path, tmp_path: Path) -> None:
    config = read_engine(engine)
    first = await CorpusIndex.build(tmp_path / "a", DOCUMENTS, encoder=WordEncoder())
    await push(first, config)
    spaced = SourceDocument("ada.txt", " Ada \n Lovelace ", "She wrote programs.")
    second = await first.update([spaced], remove=["lodz.txt"])
    with pytest.raises(ConfigurationError, match=r"already.*--replace"):
        await push(second, config)
    await push(second, config, replace=True)
    engine.write_text(engine.read_text().replace(config.bm25, str(second.path)))
    both = open_retriever(engine, "hybrid", WordEncoder())
    assert "Łódź" not in await titles(both, "mills")
    assert (await titles(both, "programs")).count("Ada Lovelace") == 1


@pytest.mark.parametrize("name", ["/models/words@0123456789ab", "others"])
async def test_only_the_encoder_that_filled_a_database_searches_it(
    engine: Path, tmp_path: Path, name: str
) -> None:
    """Its folder may have been moved."""
    encoder = WordEncoder("./model@0123456789ab")
    made = await CorpusIndex.build(tmp_path / "a", DOCUMENTS, encoder=encoder)
    await push(made, read_engine(engine))
    retriever = open_retriever(engine, "dense", WordEncoder(name))
    with pytest.raises(InputError):
        await retriever.retrieve([" "], 2)
    if name == "others":
        with pytest.raises(IndexMismatchError, match="model@0123456789ab"):
            await retriever.retrieve(["mills"], 2)
    else:
        assert (await titles(retriever, "textile mills"))[0] == "Łódź"


async def test_a_run_names_the_file_as_its_index(engine: Path) -> None:
    retriever = await Parts.of().get_retriever(Context(index=str(engine)))
    assert retriever.identity.startswith("hybrid(bm25:")
    assert read_engine(engine).identity in retriever.identity
    with pytest.raises(ConfigurationError, match="dense or hybrid, not 'bm25'"):
        open_retriever(engine, "bm25")


@pytest.mark.parametrize("engine_name", ENGINES)
async def test_a_server_that_is_away_is_a_clear_error(
    engine_name: str, tmp_path: Path, index: CorpusIndex
) -> None:
    url = {"qdrant": "http://127.0.0.1:9", "pgvector": "postgresql://me:secret@127.0.0.1:9/x"}
    path = tmp_path / "engine.toml"
    path.write_text(f'engine = "{engine_name}"\ncollection = "c"\nurl = "{url[engine_name]}"')
    with pytest.raises(RasFlowError, match=r"(?s)could not be filled.*the server runs") as raised:
        await push(index, read_engine(path))
    assert "secret" not in str(raised.value)
    with pytest.raises(RasFlowError, match=r"failed on the query 'ba'"):
        await open_retriever(path, "dense", small()).retrieve(["ba"], 1)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("engine = ", "TOML"),
        ('engine = "oracle"\ncollection = "c"', "'qdrant' or 'pgvector'"),
        ('engine = "qdrant"\nurl = "x"', "collection is missing"),
        ('engine = "pgvector"\ncollection = "c"\npath = "p"', "url"),
        ('engine = "qdrant"\ncollection = ""\nurl = "x"', "collection"),
        ('engine = "pgvector"\ncollection = "c"\nurl = "$NOT_SET_AT_ALL"', "export it"),
        ('engine = "pgvector"\ncollection = "c"\nurl = "pg://me:secret@h:x/d"', "address"),
        ('engine = "qdrant"\ncollection = "c"\nurl = "h:secret"', "address"),
        ('engine = "qdrant"\ncollection = "c"\npath = "engine.toml"', "cannot open the folder"),
    ],
)
def test_a_wrong_file_says_what_to_do(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "engine.toml"
    path.write_text(content)
    with pytest.raises(ConfigurationError, match=message) as raised:
        open_retriever(path, "dense", small())
    assert "secret" not in "".join(traceback.format_exception(raised.value))


def test_paths_are_taken_from_the_home_and_the_files_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    file = tmp_path / "engine.toml"
    file.write_text('engine = "qdrant"\ncollection = "c"\npath = "~/vectors"\nbm25 = "words"')
    config = read_engine(file)
    assert config.path == str(tmp_path / "home" / "vectors")
    assert config.bm25 == str(tmp_path / "words")
    for missing in (tmp_path / "no.toml", "x" * 300 + ".toml"):
        with pytest.raises(IndexMissingError, match="docs/scale.md"):
            open_retriever(missing, "dense", small())


def test_the_command_line_pushes_an_index(tmp_path: Path, index: CorpusIndex) -> None:
    path = tmp_path / "engine.toml"
    path.write_text('engine = "qdrant"\ncollection = "c"\npath = "q"\nencoder = "some/encoder"')
    push = ["push", str(index.path), str(path)]
    done = CliRunner().invoke(app, push)
    assert (done.exit_code, done.output) == (0, "qdrant c: 300 passages\n")
    assert "--replace" in str(CliRunner().invoke(app, push).exception)
    assert CliRunner().invoke(app, [*push, "--replace"]).output == done.output
    assert settings_of(path) == {"index": str(path), "encoder": "some/encoder"}
    assert os.path.isdir(tmp_path / "q")
