"""Equations of Word files as text: "(d·v^2)/k_0"."""

from __future__ import annotations

import re
from typing import Any

MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_PROPERTIES = re.compile(".*Pr")
_DEEPEST = 100
_SIMPLE = re.compile(r"\w*|.", re.DOTALL)
"""What needs no parentheses."""


def equation_text(node: Any, depth: int = 0) -> str:
    """Write an equation in one line, as people type it."""
    kind = str(node.tag).removeprefix(MATH)
    if kind == "t":
        return node.text or ""
    if depth > _DEEPEST:
        return "".join(node.itertext())

    def part(name: str) -> str:
        inner = node.find(MATH + name)
        return "" if inner is None else equation_text(inner, depth + 1)

    def sign(name: str, default: str) -> str:
        found = node.find(f"{MATH}{kind}Pr/{MATH}{name}")
        return default if found is None else found.get(f"{MATH}val", "")

    match kind:
        case "f":
            return f"{_whole(part('num'))}/{_whole(part('den'))}"
        case "sSup":
            return f"{_whole(part('e'))}^{_whole(part('sup'))}"
        case "sSub":
            return f"{_whole(part('e'))}_{_whole(part('sub'))}"
        case "sSubSup":
            return f"{_whole(part('e'))}_{_whole(part('sub'))}^{_whole(part('sup'))}"
        case "sPre":
            return f"_{_whole(part('sub'))}^{_whole(part('sup'))} {part('e')}"
        case "rad":
            degree = {"": "√", "2": "√", "3": "∛", "4": "∜"}.get(part("deg"))
            return f"{degree or part('deg') + '√'}({part('e')})"
        case "nary":
            limits = [(mark, part(name)) for mark, name in (("_", "sub"), ("^", "sup"))]
            ends = "".join(mark + _whole(limit) for mark, limit in limits if limit)
            return f"{sign('chr', '∫')}{ends} {part('e')}"
        case "limLow" | "limUpp":
            return f"{part('e')}{'_' if kind == 'limLow' else '^'}{_whole(part('lim'))}"
        case "func":
            return f"{part('fName')}({part('e')})"
    parts = [
        equation_text(child, depth + 1)
        for child in node
        if isinstance(child.tag, str) and not _PROPERTIES.fullmatch(child.tag)
    ]
    match kind:
        case "d":
            return f"{sign('begChr', '(')}{sign('sepChr', '|').join(parts)}{sign('endChr', ')')}"
        case "m" | "eqArr":
            return f"[{'; '.join(parts)}]"
        case "mr":
            return ", ".join(parts)
        case "acc" | "groupChr":
            return _whole("".join(parts)) + sign("chr", "\u0302" if kind == "acc" else "")
    return "".join(parts)


def _whole(text: str) -> str:
    """Put parentheses around what would be read apart."""
    text = text.strip()
    return text if _SIMPLE.fullmatch(text) else f"({text})"
