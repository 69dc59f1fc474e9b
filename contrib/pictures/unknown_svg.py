#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Draw the table "Unexplained memory of real programs" of doc/EXACTNESS.md as bars.

    unknown_svg.py EXACTNESS.md THEME >PICTURE.svg

Each bar is the Rss of a program. If a row of the table has several figures, the bar shows
the largest unknown share.
"""

import re
import sys
from xml.sax.saxutils import escape

# Label of a bar, and the beginning of its row in the table
BARS = [("Java HTTP server", "a Java HTTP server"), ("Go HTTP server", "a Go HTTP server"),
        ("Node.js HTTP server", "Node.js 18"), ("PHP with opcache", "php -S"),
        ("Ruby HTTP server", "ruby"), ("Python, 300,000 lists", "python3 with a dictionary"),
        ("redis, tcmalloc", "redis-server with tcmalloc preloaded, during"),
        ("redis, mimalloc", "redis-server with mimalloc preloaded, during"),
        ("Chromium renderer", "chromium 156, a renderer"),
        ("postgres", "postgres 15"), ("mariadbd", "mariadbd"), ("cc1plus (gcc)", "cc1plus")]
# Background, text, explained part and unknown part
THEMES = {"dark": ("#1a1b20", "#d8d8d8", "#3f8f5f", "#ff5f5f"),
          "light": ("#ffffff", "#1c1c1c", "#5faf7f", "#d70000")}
LEFT, WIDTH, HEIGHT, TOP = 190, 480, 24, 44


def read_shares(path):
    """Return the largest unknown share of each row, in percent, by the row's first cell."""
    with open(path, encoding="utf-8") as file:
        text = file.read().split("### Unexplained memory of real programs")[1].split("\n##")[0]
    shares = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 3 and "%" in cells[2]:
            numbers = re.findall(r"\d+(?:\.\d+)?", cells[2].split("(")[0])
            shares[cells[0]] = max(map(float, numbers))
    return shares


def share_of(shares, begin):
    found = [share for name, share in shares.items() if name.startswith(begin)]
    if len(found) != 1:
        sys.exit(f"unknown_svg.py: {len(found)} rows of the table begin with '{begin}'")
    return found[0]


def text_at(x, y, anchor, text):
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}">{escape(text)}</text>'


def main():
    path, theme = sys.argv[1:]
    back, color, explained, unknown = THEMES[theme]
    shares = read_shares(path)
    total = (LEFT + WIDTH + 80, TOP + HEIGHT * len(BARS) + 10)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{total[0]}" height="{total[1]}" '
           f'viewBox="0 0 {total[0]} {total[1]}" role="img" font-family="sans-serif" font-size="13" '
           f'fill="{color}">',
           "<title>Share of Rss that memstate cannot explain, for twelve programs under load</title>",
           f'<rect width="100%" height="100%" fill="{back}"/>',
           text_at(LEFT, 24, "start", "Rss by memstate: explained (green) and unknown (red)")]
    for i, (label, begin) in enumerate(BARS):
        share, y = share_of(shares, begin), TOP + HEIGHT * i
        red = WIDTH * share / 100
        out += [text_at(LEFT - 10, y + 14, "end", label),
                f'<rect x="{LEFT}" y="{y + 2}" width="{WIDTH - red:.1f}" height="16" fill="{explained}"/>',
                f'<rect x="{LEFT + WIDTH - red:.1f}" y="{y + 2}" width="{red:.1f}" height="16" '
                f'fill="{unknown}"/>',
                text_at(LEFT + WIDTH + 10, y + 14, "start", f"{share:g}%")]
    print("\n".join(out + ["</svg>"]))


main()
