#!/usr/bin/env python3
"""Draws what growth_bench measured.

    draw_growth.py POINTS.json PLOT.svg

One panel per figure, all over the number of items, both axes logarithmic. Needs nothing
but Python.
"""
import json
import math
import sys
from xml.sax.saxutils import escape

PANELS = [
    ("Load, items/s", [("loaded_per_second", "")]),
    ("Check of one key, us", [("check_p50_us", "p50"), ("check_p99_us", "p99")]),
    ("Sweep, items/s", [("swept_per_second", "")]),
    ("Start until it serves, s", [("start_seconds", "")]),
    ("Anonymous memory, MiB", [("memory_mib", "")]),
    ("Disk, MiB", [("disk_mib", "")]),
]
COLUMNS = 3
WIDTH, HEIGHT = 300, 210
LEFT, RIGHT, TOP, BOTTOM = 52, 28, 34, 34
COLORS = ["#1f5fa8", "#b8442f"]
STYLE = (
    "text{font:11px sans-serif;fill:#333}.title{font-size:12px;font-weight:bold}"
    ".grid{stroke:#ddd}.axis{stroke:#888;fill:none}.line{fill:none;stroke-width:2}"
)


def short(value):
    for unit, size in (("M", 1e6), ("k", 1e3)):
        if value >= size:
            return f"{value / size:g}{unit}"
    return f"{value:g}"


def decades(values):
    """The powers of ten around all values, lowest and highest exponent."""
    low = math.floor(math.log10(min(values)))
    high = math.ceil(math.log10(max(values)))
    return low, max(high, low + 1)


class Panel:
    """A diagram whose upper left corner is at (x, y)."""

    def __init__(self, x, y, points, series):
        self.x, self.y = x, y
        self.points = points
        # What is zero has no place on a logarithmic axis.
        self.series = [(name, label) for name, label in series if all(p[name] > 0 for p in points)]
        self.across = decades([p["items"] for p in points])
        values = [p[name] for p in points for name, _ in self.series]
        self.up = decades(values or [1])

    def place(self, items, value):
        def share(number, ends):
            return (math.log10(number) - ends[0]) / (ends[1] - ends[0])

        return (
            self.x + LEFT + share(items, self.across) * (WIDTH - LEFT - RIGHT),
            self.y + HEIGHT - BOTTOM - share(value, self.up) * (HEIGHT - TOP - BOTTOM),
        )

    def draw(self, title):
        yield f'<text class="title" x="{self.x + LEFT}" y="{self.y + 20}">{escape(title)}</text>'
        yield from self.draw_grid()
        for number, (name, label) in enumerate(self.series):
            yield from self.draw_series(name, label, COLORS[number])

    def draw_grid(self):
        left, right = (10 ** end for end in self.across)
        bottom, top = (10 ** end for end in self.up)
        for exponent in range(self.up[0], self.up[1] + 1):
            (x1, y), (x2, _) = self.place(left, 10**exponent), self.place(right, 10**exponent)
            yield f'<line class="grid" x1="{x1:.1f}" y1="{y:.1f}" x2="{x2:.1f}" y2="{y:.1f}"/>'
            yield f'<text x="{x1 - 6:.1f}" y="{y + 4:.1f}" text-anchor="end">{short(10**exponent)}</text>'
        for exponent in range(self.across[0], self.across[1] + 1):
            x, y = self.place(10**exponent, bottom)
            yield f'<text x="{x:.1f}" y="{y + 16:.1f}" text-anchor="middle">{short(10**exponent)}</text>'
        (x1, y1), (x2, y2) = self.place(left, top), self.place(right, bottom)
        yield f'<path class="axis" d="M{x1:.1f} {y1:.1f}V{y2:.1f}H{x2:.1f}"/>'

    def draw_series(self, name, label, color):
        places = [self.place(p["items"], p[name]) for p in self.points]
        corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        yield f'<polyline class="line" stroke="{color}" points="{corners}"/>'
        for x, y in places:
            yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{color}"/>'
        x, y = places[-1]
        yield f'<text x="{x + 5:.1f}" y="{y - 5:.1f}" style="fill:{color}">{label}</text>'


def draw(points):
    rows = -(-len(PANELS) // COLUMNS)
    size = f'width="{COLUMNS * WIDTH}" height="{rows * HEIGHT}"'
    box = f'viewBox="0 0 {COLUMNS * WIDTH} {rows * HEIGHT}"'
    yield f'<svg xmlns="http://www.w3.org/2000/svg" {size} {box}>'
    yield f'<style>{STYLE}</style><rect width="100%" height="100%" fill="white"/>'
    for number, (title, series) in enumerate(PANELS):
        row, column = divmod(number, COLUMNS)
        yield from Panel(column * WIDTH, row * HEIGHT, points, series).draw(title)
    yield "</svg>"


def main(arguments):
    if len(arguments) != 2:
        sys.exit(__doc__)
    with open(arguments[0], encoding="utf-8") as file:
        points = json.load(file)
    if not points:
        sys.exit(f"{arguments[0]}: no points to draw")
    with open(arguments[1], "w", encoding="utf-8") as file:
        file.write("\n".join(draw(points)) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
