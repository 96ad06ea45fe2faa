"""A run as one HTML file that needs no server and makes no request."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from graphlib import TopologicalSorter
from hashlib import sha256

from ras_flow.page import STATIC
from ras_flow.runs.document import RunDocument
from ras_flow.runs.reading import get_branch

_ENTRY = "main"
_SCRIPT = re.compile(r'<script src="([\w./-]+)"></script>')
_MODULE = re.compile(r'<script type="module" src="[\w./-]+"></script>')
_STYLE = re.compile(r'<link rel="stylesheet" href="([\w./-]+)"( id="\w+")?>')
_IMPORT = re.compile(r'^import (\{[^}]*\}) from "\./(\w+)\.js";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (\{[^}]*\});$", re.MULTILINE)
_SOURCE_MAP = re.compile(r"^//# sourceMappingURL=.*$", re.MULTILINE)


def to_html(document: RunDocument, branch: int | None = None) -> str:
    """Write a run as one self-contained page; it shows everything, and edits nothing.

    The page's Content-Security-Policy lets exactly the scripts and the style in it run, by their
    hashes, and no request leave it.
    """
    shown: RunDocument = {**document, "current": get_branch(document, branch)["number"]}
    allowed: dict[str, list[str]] = {"script": [], "style": []}

    def inline(tag: str, text: str, attributes: str = "") -> str:
        text = text.replace("</script", "<\\/script")
        digest = b64encode(sha256(text.encode()).digest()).decode()
        allowed[tag].append(f"'sha256-{digest}'")
        return f"<{tag}{attributes}>{text}</{tag}>"

    page = _read("index.html")
    page = _STYLE.sub(lambda m: inline("style", _read(m[1]), m[2] or ""), page)
    page = _SCRIPT.sub(lambda m: inline("script", _SOURCE_MAP.sub("", _read(m[1]))), page)
    program = inline("script", _program(), ' type="module"')
    page = _MODULE.sub(lambda _: _data(shown) + program, page)
    policy = (
        f"default-src 'none'; script-src {' '.join(allowed['script'])}; "
        f"style-src {' '.join(allowed['style'])}; img-src data:; base-uri 'none'; "
        "form-action 'none'"
    )
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    return page.replace('<meta charset="utf-8">', f'<meta charset="utf-8">\n{meta}', 1)


def _data(document: RunDocument) -> str:
    text = json.dumps(document).replace("<", "\\u003c")
    return f'<script type="application/json" id="run">{text}</script>\n'


def _program() -> str:
    """Join the page's modules into one, each in a function of its own, imported ones first."""
    sources: dict[str, str] = {}
    needs: dict[str, set[str]] = {}
    waiting = [_ENTRY]
    while waiting:
        name = waiting.pop()
        if name not in sources:
            sources[name] = _read(f"{name}.js")
            needs[name] = {imported for _, imported in _IMPORT.findall(sources[name])}
            waiting += needs[name]
    return "\n".join(
        f"const ${name} = (() => {{\n{_as_function(sources[name])}\n}})();"
        for name in TopologicalSorter(needs).static_order()
    )


def _as_function(source: str) -> str:
    return _EXPORT.sub(r"return \1;", _IMPORT.sub(r"const \1 = $\2;", source))


def _read(name: str) -> str:
    return (STATIC / name).read_text(encoding="utf-8")
