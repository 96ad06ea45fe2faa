"""What an extractor that was trained for it is told: it knows the format, and needs no example."""

from __future__ import annotations

INSTRUCTION = "Write every fact of the text as (S> subject| P> predicate| O> object)."
