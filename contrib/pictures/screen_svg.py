#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Draw a recorded screen of tests/tui/screens as an SVG picture.

    screen_svg.py FILE.screen NAME THEME TITLE >PICTURE.svg

NAME is the section of the file, such as 100x30-dark, and THEME is dark or light. Text is
drawn in runs of fixed width, so that every monospaced font fits. Block elements and Braille
patterns become shapes, because many fonts lack them or leave gaps between them.
"""

import re
import sys
import unicodedata
from xml.sax.saxutils import escape

WIDTH, HEIGHT, BASELINE, BORDER = 8, 17, 13, 10
# Background, text and dimmed text of a terminal with default colours
THEMES = {"dark": ("#1a1b20", "#d8d8d8"), "light": ("#ffffff", "#1c1c1c")}
BASIC = ["#000000", "#cd0000", "#00cd00", "#cdcd00", "#0000ee", "#cd00cd", "#00cdcd", "#e5e5e5",
         "#7f7f7f", "#ff0000", "#00ff00", "#ffff00", "#5c5cff", "#ff00ff", "#00ffff", "#ffffff"]
# Bits of a Braille pattern by column and row
BRAILLE = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3)]


def color_of(number):
    """Return a colour of xterm's 256."""
    if number < 16:
        return BASIC[number]
    if number >= 232:
        return "#" + f"{8 + 10 * (number - 232):02x}" * 3
    levels = [0, 95, 135, 175, 215, 255]
    number -= 16
    return "#" + "".join(f"{levels[number // power % 6]:02x}" for power in (36, 6, 1))


class Style:
    """The attributes that an escape sequence selects."""

    def __init__(self, codes, theme):
        self.back, self.text = THEMES[theme]
        self.is_bold = 1 in codes
        is_reversed = 7 in codes
        while codes:
            code = codes.pop(0)
            if code in (38, 48):
                color = color_of(codes[1])
                codes = codes[2:]
            elif 30 <= code <= 37 or 40 <= code <= 47:
                color = BASIC[code % 10]
            else:
                continue
            if code < 40:
                self.text = color
            else:
                self.back = color
        if is_reversed:
            self.text, self.back = self.back, self.text


def cells_of(text):
    """Return how many cells a text takes."""
    return sum(1 + (unicodedata.east_asian_width(char) in "WF") for char in text)


def read_section(path, name):
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    if f"==== {name}" not in lines:
        sys.exit(f"{path}: no section '{name}'")
    first = lines.index(f"==== {name}") + 1
    last = first
    while last < len(lines) and not lines[last].startswith("==== "):
        last += 1
    section = lines[first:last]
    return section[:-1] if section[-1] == "" else section


def runs_of(line, theme):
    """Yield (column, style, text) for each run of cells with one style."""
    column, style = 0, Style([], theme)
    for part in re.split("(\033\\[[0-9;]*m)", line):
        if part.startswith("\033["):
            style = Style([int(code) for code in part[2:-1].split(";")], theme)
        elif part:
            yield column, style, part
            column += cells_of(part)


def shape_of(char, x, y):
    """Return the SVG path of a block element or Braille pattern, or None for text."""
    if "█" <= char <= "▏":
        width = WIDTH * (8 - (ord(char) - ord("█"))) / 8
        return f"M{x} {y}h{width:g}v{HEIGHT}h-{width:g}z"
    if "\u2801" <= char <= "\u28ff":
        bits = ord(char) - 0x2800
        return "".join(f"M{x + 1 + 4 * dx:g} {y + 1 + 4.25 * dy:g}h2v2.5h-2z"
                       for bit, (dx, dy) in enumerate(BRAILLE) if bits >> bit & 1)
    return None


def draw_text(text, x, y, style):
    bold = ' font-weight="bold"' if style.is_bold else ""
    return (f'<text x="{x}" y="{y + BASELINE}" textLength="{cells_of(text) * WIDTH}" '
            f'fill="{style.text}"{bold}>{escape(text)}</text>')


def draw_run(column, style, text, y, theme):
    """Yield the elements of a run: its background, its shapes and its words."""
    x = BORDER + column * WIDTH
    if style.back != THEMES[theme][0]:
        yield (f'<rect x="{x}" y="{y}" width="{cells_of(text) * WIDTH}" height="{HEIGHT}" '
               f'fill="{style.back}"/>')
    shapes = [shape_of(char, x + cells_of(text[:i]) * WIDTH, y) for i, char in enumerate(text)]
    path = "".join(shape for shape in shapes if shape)
    if path:
        yield f'<path d="{path}" fill="{style.text}"/>'
    letters = "".join(" " if shape else char for char, shape in zip(text, shapes))
    for word in re.finditer(r"\S+(?: \S+)*", letters):
        yield draw_text(word.group(), x + cells_of(letters[:word.start()]) * WIDTH, y, style)


def main():
    path, name, theme, title = sys.argv[1:]
    lines = read_section(path, name)
    columns = int(name.split("x")[0])
    width, height = columns * WIDTH + 2 * BORDER, len(lines) * HEIGHT + 2 * BORDER
    print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
          f'viewBox="0 0 {width} {height}" role="img" font-size="13" xml:space="preserve" '
          'font-family="DejaVu Sans Mono, Menlo, Consolas, Liberation Mono, monospace">')
    print(f"<title>{escape(title)}</title>")
    print(f'<rect width="{width}" height="{height}" rx="6" fill="{THEMES[theme][0]}" '
          'stroke="#80808080"/>')
    for row, line in enumerate(lines):
        for column, style, text in runs_of(line, theme):
            for element in draw_run(column, style, text, BORDER + row * HEIGHT, theme):
                print(element)
    print("</svg>")


if __name__ == "__main__":
    main()
