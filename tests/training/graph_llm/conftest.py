from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ras_flow.training.graph_llm.training import train_graph_llm
from tests.graph_llm.tiny import save_base
from tests.training.graph_llm.samples import ENCODER, config, records, write_set


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_base(tmp_path_factory.mktemp("base"))


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    write_set(folder / "set", records(), records(2, first=4))
    return folder


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAS_FLOW_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def unbroken(
    base: Path, data: Path, own_cache: None, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """What the settings of the samples train, in one go."""
    output = tmp_path_factory.mktemp("out") / "unbroken"
    progress = train_graph_llm(config(base), output, data=data, encoder=ENCODER)
    assert (progress.finished, progress.step, progress.steps) == (True, 4, 4)
    return output


@pytest.fixture(scope="session")
def begun(
    base: Path, data: Path, own_cache: None, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The same, stopped after its first step: the folder of the run."""
    output = tmp_path_factory.mktemp("begun") / "out"
    stopped = train_graph_llm(config(base), output, data=data, encoder=ENCODER, seconds=0)
    assert (stopped.finished, stopped.step) == (False, 1)
    return output.with_name("out.run")


@pytest.fixture
def cut(begun: Path, tmp_path: Path) -> Callable[[str], Path]:
    """Copies that run, and returns its output, so that each test can go on with one."""

    def copied(name: str) -> Path:
        shutil.copytree(begun, tmp_path / f"{name}.run")
        return tmp_path / name

    return copied
