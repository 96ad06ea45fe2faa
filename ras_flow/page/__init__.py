"""A page to step through runs, edit and fork them; and the same page as one file.

``static/`` is the page: plain ES modules, served as they are from the page's base path, next to
the API. All its addresses are relative to that path, which must end in a slash.
"""

from __future__ import annotations

from pathlib import Path

STATIC = Path(__file__).parent / "static"
"""The folder of the page's files; ``index.html`` is the page itself."""
