"""The report's plots, as SVG that needs nothing else."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import NamedTuple

from ras_flow.evaluation.statistics import Interval

COLOURS = ("#4269d0", "#d97706", "#2f9e6e", "#c2410c", "#7c5cd6", "#0e7490", "#be3a76", "#6b7280")

WIDTH, HEIGHT = 720, 380
LEFT, TOP, RIGHT, BOTTOM = 64, 40, 250, 48
ROW = 22
SMALLEST = 1e-3
"""What is smaller counts as nothing."""

LONGEST = 30
"""Characters of a name that are shown."""


class Point(NamedTuple):
    """A system in a plot: a position, and the interval of its score (in [0, 1])."""

    name: str
    x: float
    y: Interval


def scatter(title: str, x_name: str, y_name: str, points: Sequence[Point]) -> str:
    """Plot scores against what they cost; the numbers of the points are explained beside them."""
    height = max(HEIGHT, TOP + ROW * len(points) + BOTTOM)
    known = [point.x for point in points if point.x >= SMALLEST]
    steep = bool(known) and max(known) > 10 * min(known)
    axis = _Axis([point.x for point in points], LEFT, WIDTH - RIGHT, logarithmic=steep)
    up = _Axis([point.y.high for point in points], height - BOTTOM, TOP, scale=100)
    parts = [_text(LEFT, 20, title, weight=600), *_frame(axis, up, height, x_name, y_name)]
    for number, point in enumerate(points, start=1):
        colour = COLOURS[(number - 1) % len(COLOURS)]
        x = axis.at(point.x)
        y = up.at(point.y.mean)
        low, high = up.at(point.y.low), up.at(point.y.high)
        parts.append(
            f'<line x1="{x:.1f}" y1="{low:.1f}" x2="{x:.1f}" y2="{high:.1f}" stroke="{colour}" '
            'stroke-width="1.5" opacity=".6"/>'
        )
        parts.append(_mark(x, y, number, colour))
        label = TOP + ROW * number - 8
        parts.append(_mark(WIDTH - RIGHT + 24, label - 4, number, colour))
        parts.append(_text(WIDTH - RIGHT + 40, label, _short(point.name)))
    return _svg(title, height, parts)


def bars(title: str, groups: Mapping[str, Mapping[str, float]], *, unit: str = "") -> str:
    """Plot a bar for each group, stacked of its parts."""
    names = list(dict.fromkeys(name for parts in groups.values() for name in parts))
    # Legend entries in columns below the title.
    columns = 3
    legend = math.ceil(len(names) / columns) * ROW if len(names) > 1 else 0
    top = TOP + legend + 8
    height = top + ROW * len(groups) + BOTTOM
    start = 190
    most = max((sum(parts.values()) for parts in groups.values()), default=0)
    axis = _Axis([most], start, WIDTH - 60)
    drawn = [_text(16, 20, title, weight=600)]
    if len(names) > 1:
        for number, name in enumerate(names):
            x, y = 16 + (number % columns) * 230, TOP + (number // columns) * ROW
            colour = COLOURS[number % len(COLOURS)]
            drawn.append(f'<rect x="{x}" y="{y}" width="12" height="12" fill="{colour}"/>')
            drawn.append(_text(x + 18, y + 10, _short(name)))
    for row, (group, parts) in enumerate(groups.items()):
        y, end = top + ROW * row, axis.at(0)
        drawn.append(_text(start - 8, y + 12, _short(group), anchor="end"))
        for name, size in parts.items():
            width = axis.at(size) - axis.at(0)
            colour = COLOURS[names.index(name) % len(COLOURS)]
            if width > 0:
                drawn.append(
                    f'<rect x="{end:.1f}" y="{y}" width="{width:.1f}" height="15" fill="{colour}">'
                    f"<title>{escape(f'{group}, {name}: {size:g}')}</title></rect>"
                )
            end += width
        drawn.append(_text(end + 6, y + 12, f"{sum(parts.values()):g}", fill="#666"))
    drawn.append(_text(start, height - 16, unit, fill="#666"))
    return _svg(title, height, drawn)


def lines(title: str, x_name: str, y_name: str, points: Sequence[tuple[float, float]]) -> str:
    """Plot a score against a share, both in [0, 1]."""
    axis = _Axis([1.0], LEFT, WIDTH - RIGHT, scale=100)
    up = _Axis([y for _, y in points], HEIGHT - BOTTOM, TOP, scale=100)
    placed = [(axis.at(x), up.at(y)) for x, y in points]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in placed)
    parts = [_text(LEFT, 20, title, weight=600), *_frame(axis, up, HEIGHT, x_name, y_name)]
    parts.append(f'<polyline points="{path}" fill="none" stroke="{COLOURS[0]}" stroke-width="2"/>')
    parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{COLOURS[0]}"/>' for x, y in placed]
    return _svg(title, HEIGHT, parts)


class _Axis:
    """Maps values to positions; begins at 0, or where the smallest is if logarithmic."""

    def __init__(
        self,
        values: Sequence[float],
        start: float,
        end: float,
        *,
        scale: float = 1,
        logarithmic: bool = False,
    ) -> None:
        self._start, self._end, self._scale = start, end, scale
        self._logarithmic = logarithmic
        most = max(values, default=0.0)
        self._low: float = 0
        self._high: float
        if logarithmic:
            self._low = math.floor(math.log10(min(value for value in values if value >= SMALLEST)))
            self._high = max(math.ceil(math.log10(most)), self._low + 1)
        else:
            most = most if most >= SMALLEST else 1 / scale
            step = _step(most * scale)
            self._high = max(math.ceil(most * scale / step - 1e-9), 1) * step / scale

    def at(self, value: float) -> float:
        if self._logarithmic:
            value = math.log10(max(value, 10**self._low))
        share = (value - self._low) / (self._high - self._low)
        return self._start + share * (self._end - self._start)

    def ticks(self) -> list[tuple[float, str]]:
        if self._logarithmic:
            values = [10.0**exponent for exponent in range(int(self._low), int(self._high) + 1)]
            return [(self.at(value), f"{value:,.10g}") for value in values]
        step = _step(self._high * self._scale) / self._scale
        count = round(self._high / step)
        values = [step * number for number in range(count + 1)]
        return [(self.at(value), f"{round(value * self._scale, 6):,.10g}") for value in values]


def _step(most: float) -> float:
    """Return a round distance between ticks: about five of them up to the largest value."""
    rough = most / 5
    power = 10.0 ** math.floor(math.log10(rough))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * (1 - 1e-9))


def _frame(across: _Axis, up: _Axis, height: int, x_name: str, y_name: str) -> list[str]:
    right, bottom = WIDTH - RIGHT, height - BOTTOM
    parts = []
    for y, name in up.ticks():
        parts.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}" stroke="#8884"/>')
        parts.append(_text(LEFT - 8, y + 4, name, anchor="end", fill="#666"))
    for x, name in across.ticks():
        parts.append(_text(x, bottom + 16, name, anchor="middle", fill="#666"))
    parts.append(_text((LEFT + right) / 2, height - 12, x_name, anchor="middle", fill="#666"))
    turned = f'<g transform="translate(16 {(TOP + bottom) / 2}) rotate(-90)">'
    parts.append(f"{turned}{_text(0, 0, y_name, anchor='middle', fill='#666')}</g>")
    return parts


def _mark(x: float, y: float, number: int, colour: str) -> str:
    """Draw a disc with a system's number in it."""
    disc = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="8" fill="{colour}"/>'
    return disc + _text(x, y + 3.5, str(number), anchor="middle", size=10, fill="#fff")


def _text(
    x: float,
    y: float,
    text: str,
    *,
    anchor: str = "start",
    size: int = 12,
    fill: str = "#222",
    weight: int = 400,
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{fill}" '
        f'font-weight="{weight}">{escape(text)}</text>'
    )


def _short(name: str) -> str:
    return name if len(name) <= LONGEST else name[: LONGEST - 1] + "…"


def _svg(title: str, height: int, parts: Sequence[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}" role="img" aria-label="{escape(title)}" '
        'font-family="system-ui, sans-serif">'
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>{"".join(parts)}</svg>'
    )
