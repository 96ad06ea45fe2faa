"""Each user has a key and sees only their own runs, in the API, Studio and the page.

Run ``langgraph dev`` in this folder with the users' keys in the environment:
``RAS_FLOW_USERS='{"key-of-ada": "ada", "key-of-bo": "bo"}'``. The page at ``/ras-flow/`` asks for a
key. aegra takes the same handler (``aegra.json``). In production, check a signed token instead.
"""

from __future__ import annotations

import json
import os
import secrets
from typing import Any

from langgraph_sdk import Auth

auth = Auth()


@auth.authenticate
async def authenticate(headers: dict[Any, Any]) -> Auth.types.MinimalUserDict:
    """Find the user whose key ``Authorization: Bearer …`` carries."""
    # LangGraph's server passes bytes; aegra passes text, and nothing but the headers.
    given = headers.get(b"authorization") or headers.get("authorization") or ""
    scheme, _, key = (given.decode("latin-1") if isinstance(given, bytes) else given).partition(" ")
    users: dict[str, str] = json.loads(os.environ.get("RAS_FLOW_USERS", "{}"))
    for known, name in users.items():
        if scheme == "Bearer" and secrets.compare_digest(key.encode(), known.encode()):
            return {"identity": name}
    raise Auth.exceptions.HTTPException(
        status_code=401, detail="Send your key as `Authorization: Bearer KEY`."
    )


@auth.on.threads
async def own_threads(ctx: Auth.types.AuthContext, value: dict[str, Any]) -> dict[str, str]:
    """Mark what users create as theirs, and show them nothing else."""
    owner = {"owner": ctx.user.identity}
    # LangGraph's server stores the mapping that it passes: change it in place. aegra may pass None.
    if value.get("metadata") is None:
        value["metadata"] = {}
    value["metadata"].update(owner)
    return owner


@auth.on.assistants.search
@auth.on.assistants.read
async def shared_graph(ctx: Auth.types.AuthContext, value: dict[str, Any]) -> None:
    """Let every user see the graph itself."""


@auth.on
async def nothing_else(ctx: Auth.types.AuthContext, value: dict[str, Any]) -> bool:
    """Refuse everything else."""
    # aegra also asks about runs, and shows users only their own.
    return str(ctx.resource) == "runs"
