#!/usr/bin/env python3
"""Draws what compare.py measured: one panel per figure, over the seconds of the load.

    draw.py RESULTS.json PLOT.svg

Of several rounds the first one of each contender is drawn. Needs nothing but Python.
"""
import json
import sys
from xml.sax.saxutils import escape

PANELS = (
    ("Expired rows that readers see", "samples", "expired_shown"),
    ("Latency p99 of each second, ms", "latencies", "p99_ms"),
    ("Table, MiB", "samples", "table_mib"),
    ("Rows deleted so far", "samples", "deleted"),
)
COLORS = {"job": "#b8442f", "ttl-postgres": "#1f5fa8", "expires_column": "#3a7d44"}
COLUMNS = 2
WIDTH, HEIGHT = 420, 220
LEFT, RIGHT, TOP, BOTTOM = 60, 20, 34, 34
STYLE = (
    "text{font:11px sans-serif;fill:#333}.title{font-size:12px;font-weight:bold}"
    ".grid{stroke:#ddd}.line{fill:none;stroke-width:1.5}"
)


def short(value):
    for unit, size in (("M", 1e6), ("k", 1e3)):
        if value >= size:
            return f"{value / size:g}{unit}"
    return f"{value:g}"


def ceiling(value):
    """The next number of the form 1, 2 or 5 times a power of ten."""
    size = 1e-3
    while True:
        for factor in (1, 2, 5):
            if factor * size >= value:
                return factor * size
        size *= 10


def draw_panel(x, y, title, lines):
    """`lines`: for each contender its (second, value) pairs."""
    last = max(second for line in lines.values() for second, _ in line)
    top = ceiling(max(value for line in lines.values() for _, value in line))
    right, bottom = x + WIDTH - RIGHT, y + HEIGHT - BOTTOM

    def place(second, value):
        return (x + LEFT + second / last * (WIDTH - LEFT - RIGHT),
                bottom - value / top * (HEIGHT - TOP - BOTTOM))

    yield f'<text class="title" x="{x + LEFT}" y="{y + 20}">{escape(title)}</text>'
    for step in range(5):
        _, level = place(0, top * step / 4)
        yield f'<line class="grid" x1="{x + LEFT}" y1="{level:.1f}" x2="{right}" y2="{level:.1f}"/>'
        yield f'<text x="{x + LEFT - 6}" y="{level + 4:.1f}" text-anchor="end">{short(top * step / 4)}</text>'
    yield f'<text x="{right}" y="{bottom + 18}" text-anchor="end">{last:.0f} s</text>'
    for number, (name, line) in enumerate(lines.items()):
        corners = " ".join("{:.1f},{:.1f}".format(*place(*point)) for point in line)
        yield f'<polyline class="line" stroke="{COLORS[name]}" points="{corners}"/>'
        yield (f'<text x="{x + LEFT + 90 * number}" y="{bottom + 18}" style="fill:{COLORS[name]}">'
               f"{escape(name)}</text>")


def draw(results):
    first = {}
    for result in results:
        first.setdefault(result["contender"], result)
    width, height = COLUMNS * WIDTH, -(-len(PANELS) // COLUMNS) * HEIGHT
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
           f' viewBox="0 0 {width} {height}">')
    yield f'<style>{STYLE}</style><rect width="100%" height="100%" fill="white"/>'
    for number, (title, series, name) in enumerate(PANELS):
        row, column = divmod(number, COLUMNS)
        lines = {contender: [(point["second"], point[name]) for point in result[series]]
                 for contender, result in first.items()}
        yield from draw_panel(column * WIDTH, row * HEIGHT, title, lines)
    yield "</svg>"


def main(arguments):
    if len(arguments) != 2:
        sys.exit(__doc__)
    with open(arguments[0], encoding="utf-8") as file:
        results = json.load(file)
    with open(arguments[1], "w", encoding="utf-8") as file:
        file.write("\n".join(draw(results)) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
