from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import psycopg
import pytest


@pytest.fixture
def database(postgres: str) -> Iterator[str]:
    """Address of a new, empty database on the real server."""
    name = f"test_{uuid4().hex}"
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')  # type: ignore[call-overload]
        yield postgres.replace("/postgres?", f"/{name}?")
        connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')  # type: ignore[call-overload]
