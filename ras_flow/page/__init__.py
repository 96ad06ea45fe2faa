"""A page to step through runs, edit and fork them; and the same page as one file.

``static/`` is the page: plain ES modules, served as they are from the page's base path, next to
the API. All its addresses are relative to that path, which must end in a slash.
"""

from __future__ import annotations

from pathlib import Path

STATIC = Path(__file__).parent / "static"
"""The folder of the page's files; ``index.html`` is the page itself."""

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "img-src 'self' data:",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
"""What the served page may load: its own files and its own API, nothing inline."""
