"""The forms in which a run is exported, by the command line and by the page."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ras_flow.runs.document import RunDocument


class Form(StrEnum):
    """The name of a form."""

    json = "json"
    graphml = "graphml"
    jsonld = "jsonld"
    turtle = "turtle"
    html = "html"


class Writer(NamedTuple):
    """Writes a run in a form; ``ending`` is that of its files' names."""

    ending: str
    media_type: str
    write: Callable[[RunDocument, int], str]


def writer_of(form: Form) -> Writer:
    """Return the writer of a form."""
    # Here, since the command line names the forms long before it needs a writer.
    from ras_flow.page.export import to_html  # noqa: PLC0415
    from ras_flow.runs.export import to_json  # noqa: PLC0415
    from ras_flow.runs.export.graphml import to_graphml  # noqa: PLC0415
    from ras_flow.runs.export.rdf import to_json_ld, to_turtle  # noqa: PLC0415

    return {
        Form.json: Writer("json", "application/json", to_json),
        Form.graphml: Writer("graphml", "application/xml", to_graphml),
        Form.jsonld: Writer("jsonld", "application/ld+json", to_json_ld),
        Form.turtle: Writer("ttl", "text/turtle", to_turtle),
        Form.html: Writer("html", "text/html", to_html),
    }[form]
