#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Flame graphs as SVG, read with an independent parser: all boxes exist, in
the right places."""

import collections
import os
import xml.etree.ElementTree as ElementTree

from flame_lib import AFTER, HOSTILE, STACKS, folder, graph, hostile_text, read, shown, total
from live import check, equal, memstate, run, test

SVG = "{http://www.w3.org/2000/svg}"
ROW, PICTURE_WIDTH, MARGIN = 17, 1200, 10


def boxes_of(path):
    root = ElementTree.parse(path).getroot()
    found = []
    for g in root.iter(SVG + "g"):
        if g.get("id") == "boxes":
            for box in g:
                name, figures = box.find(SVG + "title").text.split("\n")
                rect = box.find(SVG + "rect")
                found.append({
                    "name": name, "figures": figures, "label": box.find(SVG + "text").text or "",
                    "start": int(box.get("data-x")), "width": int(box.get("data-w")),
                    "depth": int(box.get("data-d")), "fill": rect.get("fill"),
                    "x": float(rect.get("x")), "y": float(rect.get("y")),
                    "pixels": float(rect.get("width"))})
    return found


def with_paths(boxes):
    """Reconstruct the path of each box, outermost name first, from its position alone."""
    rows = collections.defaultdict(list)
    for box in boxes:
        rows[box["depth"]].append(box)
    for box in boxes:
        around = [other for other in rows[box["depth"] - 1]
                  if other["start"] <= box["start"] and
                  box["start"] + box["width"] <= other["start"] + other["width"]]
        equal(len(around), 1 if box["depth"] else 0, f"boxes around {box}")
        box["path"] = (*around[0]["path"], box["name"]) if around and box["depth"] > 1 else \
            (box["name"],) if around else ()
        box["inside"] = []
        for other in around:
            other["inside"].append(box)
    return boxes


@test
def the_svg_has_a_correctly_placed_box_for_each_frame():
    stacks = read(STACKS)
    boxes = with_paths(boxes_of(graph("svg", STACKS)))
    paths = {path[:i] for path in stacks for i in range(len(path) + 1)}
    equal(sorted(box["path"] for box in boxes), sorted(paths), "boxes")
    whole = total(stacks)
    for box in boxes:
        equal(box["width"], total(stacks, box["path"]), f"width of {box['path']}")
        end = box["start"]
        for inner in sorted(box["inside"], key=lambda b: b["name"]):
            equal(inner["start"], end, f"start of {inner['path']}")
            end += inner["width"]
        equal(box["start"] + box["width"] - end, stacks[box["path"]], f"self value of {box['path']}")
        check(abs(box["pixels"] - box["width"] / whole * (PICTURE_WIDTH - 2 * MARGIN)) < 0.01, box)
        check(abs(box["x"] - MARGIN - box["start"] / whole * (PICTURE_WIDTH - 2 * MARGIN)) < 0.01, box)
        check(box["figures"].startswith(f"{box['width']} allocations, "), box)
    lowest = boxes[0]["y"]
    equal({box["y"] + box["depth"] * ROW for box in boxes}, {lowest}, "rows")


@test
def a_differential_flame_graph_is_red_and_blue():
    before, after = read(STACKS), read(AFTER)
    boxes = {box["path"]: box for box in with_paths(boxes_of(graph("svg", STACKS, AFTER)))}
    for path, box in boxes.items():
        a, b = total(before, path), total(after, path)
        red, blue = int(box["fill"][1:3], 16), int(box["fill"][5:7], 16)
        check((red > blue) == (b > a) or a == b, f"{path}: {a}, {b}: {box['fill']}")
        check(box["figures"].startswith(f"{a} before, {b} after: "), box["figures"])
        equal(box["width"], sum(max(before[p], after[p]) for p in before | after
                                if p[:len(path)] == path), f"width of {path}")
    check("trace" in {box["name"] for box in boxes.values()}, "a new function is missing")


@test
def hostile_names_are_text_in_the_svg():
    boxes = boxes_of(graph("svg", hostile_text()))
    names = {box["name"] for box in boxes}
    for name in HOSTILE:
        check(shown(name) in names, f"{shown(name)!r} in {names!r}")
    check("\\xff\\xfe" in names, "invalid UTF-8 is not escaped")
    check(all(len(box["label"]) * 7 < box["pixels"] for box in boxes), "a label is wider than its box")


@test
def an_unknown_file_suffix_is_refused_and_nothing_is_written():
    for name in ("graph.png", "graph", ".svg", "-"):
        path = os.path.join(folder, name) if name != "-" else name
        result = memstate("diff", graph("svg", STACKS), graph("svg", STACKS), "--flame-graph",
                          name, cwd=folder).must_be(2)
        check(b".svg" in result.err and b".html" in result.err and name.encode() in result.err, result.err)
        check(not os.path.exists(path), f"{path} was written")


run()
