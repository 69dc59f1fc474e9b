#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Flame graphs in a browser, used as a reader would: by mouse, keys, touch and URL.

The expected content is computed from the stacks in flame_lib.py, with the rules
implemented anew here.
"""

import collections
import os
import random
import re
import urllib.parse

from browser_lib import Browser
from flame_lib import (AFTER, HOSTILE, PPROF_METRICS, STACKS, folder, graph, hostile_text, pprof,
                       read, shown, text_of, total)
from live import Skip, check, equal, memstate, run, test

ROW = 19  # height of a row of the page in pixels
browser = None


def the_browser():
    global browser
    browser = browser or Browser()
    return browser


def open_page(path, *fragment):
    """Open a page; fragment is a sequence of (key, value) pairs for the URL."""
    b = the_browser()
    b.errors.clear()
    b.open(path, "#" + urllib.parse.urlencode(fragment))
    equal(b.errors, [], "errors in the page")
    return b


# ---- expected content ----

def apply_rule(line, stacks):
    """Apply one rule of --transform to each stack."""
    kind, rest = line.split(" ", 1)
    pattern, text = (part.strip() for part in (rest + " =>").split(" =>")[:2])
    regex = re.compile(pattern.replace("[[:digit:]]", "[0-9]").replace("[[:upper:]]", "[A-Z]"))
    made = collections.Counter()
    for path, number in stacks.items():
        found = [bool(regex.search(name)) for name in path]
        first = found.index(True) if any(found) else None
        if kind == "filter" and first is None or kind == "remove" and first is not None:
            continue
        if kind == "hide":
            path = tuple(name for name, is_found in zip(path, found) if not is_found)
        elif kind == "from" and first is not None:
            path = path[first:]
        elif kind == "to" and first is not None:
            path = path[:first + 1]
        elif kind == "replace":
            path = replaced(path, regex, text)
        made[path] += number
    return made


def replaced(path, regex, text):
    made, given = [], None
    for name in path:
        if not regex.search(name):
            made.append(name)
            given = None
            continue
        name = regex.sub(text.replace("\\0", "\\g<0>"), name)
        if name and name != given:
            made.append(name)
        given = name or given
    return tuple(made)


def transform(stacks, *rules):
    for rule in rules:
        stacks = apply_rule(rule, stacks)
    return collections.Counter({path: n for path, n in stacks.items() if n})


def functions_of(stacks):
    """Return a dict from function to [self, total]."""
    found = collections.defaultdict(lambda: [0, 0])
    for path, number in stacks.items():
        for name in set(path):
            found[name][1] += number
        if path:
            found[path[-1]][0] += number
    return dict(found)


def place(stacks, path):
    """Return the start and end of the path's box as shares of the whole."""
    whole = total(stacks)
    start = 0
    for depth, name in enumerate(path):
        beside = {other[depth] for other in stacks if len(other) > depth
                  and other[:depth] == path[:depth]}
        start += sum(total(stacks, (*path[:depth], other)) for other in beside if other < name)
    return start / whole, (start + total(stacks, path)) / whole


# ---- displayed content ----

def seen_frame(b):
    """Return the name of the selected frame and the figures beside it."""
    name = b.run("document.querySelector('#frame-name').textContent")
    figures = b.run("Array.from(document.querySelectorAll('#frame-figures tr.current td[data-value]'),"
                    " e => Number(e.dataset.value))")
    return name, figures


def seen_functions(b):
    b.run("document.querySelector('#functions').open = true")
    b.wait("document.querySelector('#functions').open && (showFunctions(), true)", "functions are shown")
    rows = b.run("Array.from(document.querySelectorAll('#functions-table tbody ~ tr, #functions-table > tr'),"
                 " r => [r.querySelector('button').textContent,"
                 " ...Array.from(r.querySelectorAll('td'), e => Number(e.dataset.value))])")
    return {name: figures for name, *figures in rows}


def seen_stacks(b):
    """Return all drawn stacks, from the page's own tree."""
    rows = b.run("(() => { const t = made.layout.tree, rows = [];"
                 " for (let n = 0; n < t.count; n++) if (before[n] > 0)"
                 " rows.push([pathOf(t, n).map(x => names.text(x)), before[n]]);"
                 " return rows; })()")
    return {tuple(path): number for path, number in rows}


def matched(b):
    return b.run("Number(document.querySelector('#matched').dataset.value)")


def box_point(b, stacks, path, is_inverted=False, within=()):
    """Return the screen coordinates of the middle of a box while the page is
    zoomed to `within`."""
    x, y, width, height = b.run("(r => [r.x, r.y, r.width, r.height])"
                                "(document.querySelector('#canvas').getBoundingClientRect())")
    left, right = place(stacks, path)
    start, end = place(stacks, within)
    depth = len(path)
    up = y + depth * ROW + ROW / 2 if is_inverted else y + height - depth * ROW - ROW / 2
    return x + ((left + right) / 2 - start) / (end - start) * width, up


def is_drawn(b, path, x, y):
    """Return whether the point, just above the text of its row, has the colour
    of this box."""
    pixel = b.run(f"(c => {{ const r = c.getBoundingClientRect();"
                  f" return Array.from(c.getContext('2d').getImageData({x} - r.x, {y} - r.y - 7, 1, 1).data)"
                  f".slice(0, 3); }})(document.querySelector('#canvas'))")
    colour = b.run(f"colourOfName(findPath(made.layout, names, {list(path)!r}))")
    return pixel == [int(part) for part in re.findall("[0-9]+", colour)]


def address(b):
    return urllib.parse.parse_qsl(b.run("location.hash.slice(1)"), keep_blank_values=True)


# ---- tests ----

@test
def the_whole_graph_is_shown_first():
    b = open_page(graph("html", STACKS))
    stacks = read(STACKS)
    equal(seen_frame(b), ("all", [total(stacks), 0]), "figures")
    equal(seen_stacks(b), dict(stacks), "stacks")
    equal(seen_functions(b), functions_of(stacks), "functions")


@test
def a_click_zooms_and_a_pointer_shows_figures():
    stacks = read(STACKS)
    b = open_page(graph("html", STACKS))
    for path in [("main", "parse"), ("start", "thread", "[libz.so.1]"), ("main", "emit", "write_line")]:
        x, y = box_point(b, stacks, path)
        check(is_drawn(b, path, x, y), f"{path} is not drawn at {x}, {y}")
        b.point(x, y)
        equal(seen_frame(b), (path[-1], [total(stacks, path), stacks[path]]), f"figures of {path}")
    b.click(x, y)
    b.point(1, 1)
    equal(seen_frame(b), (path[-1], [total(stacks, path), stacks[path]]), "figures of the zoomed frame")
    equal(address(b), [("z", name) for name in path], "address")
    equal(seen_functions(b), functions_of({p[2:]: n for p, n in stacks.items() if p[:3] == path}),
          "functions within the zoomed frame")
    inner = (*path, "malloc")
    b.point(*box_point(b, stacks, inner, within=path))
    equal(seen_frame(b), ("malloc", [total(stacks, inner)] * 2), "frame within the zoomed frame")
    # the zoomed frame now has the full width; a click on its caller below zooms out again
    x, y, width, height = b.run("(r => [r.x, r.y, r.width, r.height])"
                                "(document.querySelector('#canvas').getBoundingClientRect())")
    for left in (5, width - 5):
        b.point(x + left, y + height - 3 * ROW - ROW / 2)
        equal(seen_frame(b)[0], "write_line", "across the whole width")
    b.click(x + 5, y + height - ROW - ROW / 2)
    equal(address(b), [("z", "main")], "URL after a click on the caller")
    for path in [("main", "parse", "read_line"), ("main", "run")]:
        b.point(*box_point(b, stacks, path, within=("main",)))
        equal(seen_frame(b), (path[-1], [total(stacks, path), stacks[path]]), f"{path}, within main")
    b.press("#reset")
    equal(seen_frame(b)[0], "all", "after the reset")
    equal(address(b), [], "address")


@test
def a_search_counts_nested_matches_once():
    stacks = read(STACKS)
    b = open_page(graph("html", STACKS))
    b.press("body")
    b.key("/", 191)
    for pattern, flags in (("main|parse", 0), ("LLOC", 0), ("lloc", re.I), ("^std::", re.I), ("z9", re.I),
                           ("(", None)):
        b.type(pattern)
        b.wait(f"state.search === {pattern!r}", "the search is done")
        wanted = sum(n for path, n in stacks.items() if any(
            pattern in name if flags is None else re.search(pattern, name, flags) for name in path))
        equal(matched(b), wanted, f"matched by {pattern}")
        share = b.run("document.querySelector('#matched').textContent").split("%")[0]
        equal(float(share), round(100 * wanted / total(stacks) + 1e-9, 1), f"share of {pattern}")
    b = open_page(graph("html", STACKS), ("s", "malloc"), ("z", "main"), ("z", "emit"))
    equal(matched(b), 10, "matches within the zoomed frame")


@test
def inverted_draws_callers_above():
    stacks = read(STACKS)
    b = open_page(graph("html", STACKS))
    path = ("main", "emit", "write_line")
    b.press("#inverted")
    point = box_point(b, stacks, path, is_inverted=True)
    b.point(*point)
    equal(seen_frame(b)[0], "write_line", "box counted from the top")
    check(is_drawn(b, path, *point), "the box is not drawn there")
    equal(address(b), [("i", "1")], "address")


@test
def reversed_begins_with_the_allocating_functions():
    stacks = read(STACKS)
    b = open_page(graph("html", STACKS))
    b.press("#reversed")
    turned = collections.Counter({path[::-1]: n for path, n in stacks.items()})
    equal(seen_stacks(b), dict(turned), "stacks")
    b.point(*box_point(b, turned, ("malloc", "read_line")))
    equal(seen_frame(b)[0], "read_line", "caller of malloc")
    equal(seen_frame(b)[1][0], 40, "total of the caller")


@test
def each_metric_has_its_own_boxes():
    made = random.Random(3)
    stacks = {path: (n, n * made.randrange(8, 5000), n % 7, n % 7 * 16)
              for path, n in read(STACKS).items()}
    path = os.path.join(folder, "metrics")
    with open(path, "wb") as f:
        f.write(pprof(stacks))
    result = memstate("count", "--replay", path, "--flame-graph", path + ".html", "--metric", "bytes")
    if b"without protobuf-c" in result.err:
        raise Skip("built without pprof")
    result.must_be(0)
    b = open_page(path + ".html")
    at = ("main", "parse", "read_line")
    for number, metric in [*enumerate(PPROF_METRICS), (1, "bytes")]:
        b.choose("#metric", metric)
        own = collections.Counter({p: values[number]
                                   for p, values in stacks.items() if values[number]})
        equal(seen_stacks(b), dict(own), metric)
        b.point(*box_point(b, own, at))
        equal(seen_frame(b), ("read_line", [total(own, at), 0]), f"{metric} of {at}")
        rows = b.run("Array.from(document.querySelectorAll('#frame-figures > tr'),"
                     " r => Number(r.querySelector('td').dataset.value))")
        equal(rows, [sum(v[i] for p, v in stacks.items() if p[:3] == at) for i in range(4)], "all metrics")
        equal(address(b), [] if metric == "bytes" else [("m", metric)], "address")


@test
def keys_move_between_frames():
    b = open_page(graph("html", STACKS))
    b.run("document.querySelector('#graph').focus()")
    for key, code, name in (("ArrowUp", 38, "main"), ("ArrowUp", 38, "emit"), ("ArrowRight", 39, "parse"),
                            ("ArrowRight", 39, "run"), ("ArrowLeft", 37, "parse"), ("ArrowUp", 38, "read_line"),
                            ("ArrowDown", 40, "parse")):
        b.key(key, code)
        equal(seen_frame(b)[0], name, f"after {key}")
    b.key("Enter", 13)
    equal(address(b), [("z", "main"), ("z", "parse")], "URL after Enter")
    b.key("Backspace", 8)
    equal(address(b), [("z", "main")], "URL after Backspace")
    b.key("Escape", 27)
    equal(address(b), [], "URL after Escape")


@test
def a_tap_selects_before_it_zooms():
    with Browser(400, 800, is_phone=True) as b:
        b.open(graph("html", STACKS))
        width = b.run("document.documentElement.scrollWidth")
        check(width <= 400, f"the page is {width} pixels wide on a phone of 400")
        x, y = box_point(b, read(STACKS), ("main", "parse"))
        for wanted in ([], [("z", "main"), ("z", "parse")]):
            b.tap(x, y)
            b.wait("document.querySelector('#frame-name').textContent === 'parse'", "the frame is selected")
            b.wait(f"state.zoom.length === {len(wanted)}", "the frame is zoomed to")
            equal(address(b), wanted, "address")


RULES = [
    ["filter parse"], ["remove malloc|new"], ["hide ^main$"], ["from ^thread$"], ["to ^parse$"],
    ["replace ^(malloc|calloc|realloc)$ => A"], ["replace ^operator new\\(.*$ =>", "hide lloc"],
    ["replace [[:digit:]] => N", "filter N"], ["replace ^(.)[a-z]+_(.).*$ => \\1\\2", "replace ^p => \\0\\\\"],
    ["replace ^(main|run|parse|emit)$ => x"], ["from emit", "to ^malloc$", "remove realloc", "hide ^[_[:digit:]w-]+$"],
    ["replace ^(grow|realloc|read_line)$ => A", "replace [[:upper:]] => <\\0>"], ["filter nothing at all"],
    ["replace ^(r)ead_line$|^grow$|^(r)ealloc$ => \\1\\2"], ["hide ."], ["replace \\(|\\)|\\[|] => _"], ["replace a{2,} => -", "replace l{2} => L"],
]


@test
def rules_change_the_stacks():
    stacks = read(STACKS)
    for rules in RULES:
        b = open_page(graph("html", STACKS), *(("t", rule) for rule in rules))
        equal(b.run("Array.from(document.querySelectorAll('.problem'), e => e.textContent).join('')"), "",
              f"problems with {rules}")
        equal(seen_stacks(b), dict(transform(stacks, *rules)), f"stacks after {rules}")
        equal(seen_stacks(b), folded(*rules), f"stacks after {rules}, as memstate computes them")


def folded(*rules):
    """Return the stacks as memstate --transform prints them."""
    args = [word for rule in rules for word in ("--transform", rule)]
    out = memstate("count", "--replay", graph("html", STACKS)[:-5] + "-0.folded", *args, "--folded", "-")
    made = read(out.must_be(0).out.decode())
    return {path if path != ("[no stack]",) else (): n for path, n in made.items()}


@test
def rules_from_the_command_line_are_active_when_a_page_opens():
    stacks = read(STACKS)
    path = os.path.join(folder, "rules.html")
    rules = ["hide ^main$", "A"]
    memstate("count", "--replay", graph("html", STACKS)[:-5] + "-0.folded", "--flame-graph", path,
             *(word for rule in rules for word in ("--transform", rule))).must_be(0)
    b = open_page(path)
    equal(b.run("Array.from(document.querySelectorAll('#rules input[type=text]'), e => e.value)"), rules, "rules")
    equal(seen_stacks(b), folded(*rules), "stacks")
    b.press("#rules li:nth-child(2) input[type=checkbox]")
    equal(seen_stacks(b), dict(transform(stacks, rules[0])), "stacks with one rule off")
    for _ in rules:
        b.press("#rules li button[title='remove this rule']")
    equal(seen_stacks(b), dict(stacks), "stacks without rules")
    equal(address(b), [("t", "")], "URL without rules")


def write_rule(b, number, text):
    b.press(f"#rules li:nth-child({number}) input[type=text]")
    b.type(text)
    b.wait(f"writeAddress(), state.rules[{number - 1}].text === {text!r}", "the rule is read")
    b.run("new Promise(done => setTimeout(done, 2 * REDRAW_MS))")


@test
def rules_can_be_edited_moved_disabled_and_removed():
    stacks = read(STACKS)
    b = open_page(graph("html", STACKS))
    b.choose("#new-rule", "filter ")
    write_rule(b, 1, "filter ^A$")
    equal(seen_stacks(b), {}, "stacks with a filter that matches nothing")
    b.choose("#new-rule", "replace RE => TEXT")
    write_rule(b, 2, "replace ^(malloc|calloc)$ => A")
    equal(seen_stacks(b), {}, "stacks when the filter precedes the rule")
    b.press("#rules li:nth-child(2) button[title=earlier]")
    rules = ["replace ^(malloc|calloc)$ => A", "filter ^A$"]
    equal(seen_stacks(b), dict(transform(stacks, *rules)), "stacks when the rule precedes the filter")
    equal(address(b), [("t", rule) for rule in rules], "address")
    equal(seen_functions(b), functions_of(transform(stacks, *rules)), "functions")
    b.press("#rules li:nth-child(2) input[type=checkbox]")
    equal(seen_stacks(b), dict(transform(stacks, rules[0])), "stacks with one rule off")
    equal(address(b), [("t", rules[0]), ("t", "#" + rules[1])], "address")
    write_rule(b, 1, "replace ^(malloc => A")
    problem = b.run("document.querySelector('#rules li .problem').textContent")
    check(problem, "no problem is reported")
    equal(seen_stacks(b), dict(stacks), "stacks with an invalid rule")
    for _ in range(2):
        b.press("#rules li button[title='remove this rule']")
    equal(seen_stacks(b), dict(stacks), "stacks after removing all rules")
    b.choose("#new-rule", "A")
    found = seen_stacks(b)
    equal(sum(found.values()), total(stacks), "total of all stacks")
    check(("main", "parse", "read_line", "A") in found and "malloc" not in str(found),
          f"the rule set has not merged the allocation functions: {found}")
    equal(address(b), [("t", "A")], "address")


@test
def a_frame_has_buttons_for_rules():
    stacks = read(STACKS)
    path = ("main", "emit", "std::string::append(char const*)")
    b = open_page(graph("html", STACKS), *(("z", name) for name in path))
    b.run("Array.from(document.querySelectorAll('#frame-actions button'))"
          ".find(e => e.textContent.startsWith('Remove')).click()")
    equal(seen_stacks(b), dict(transform(stacks, "remove ^std::string::append")), "stacks")


@test
def a_url_restores_the_whole_view():
    wanted = [("s", "mal"), ("i", "1"), ("z", "main"), ("z", "parse"), ("t", "hide run"), ("t", "#hide main")]
    b = open_page(graph("html", STACKS), *wanted)
    equal(seen_frame(b)[0], "parse", "zoomed frame")
    equal(b.run("document.querySelector('#search').value"), "mal", "search")
    b.press("#inverted")
    equal(address(b), [pair for pair in wanted if pair[0] != "i"], "URL after removing one parameter")
    b.run("location.hash = '#z=start'")
    b.wait("document.querySelector('#frame-name').textContent === 'start'", "the address is followed")


@test
def hostile_names_have_no_effect():
    b = open_page(graph("html", hostile_text()))
    found = seen_functions(b)
    for name in [shown(name) for name in HOSTILE] + ["\\xff\\xfe"]:
        check(name in found, f"{name!r} in {list(found)!r}")
    equal(b.run("String(window.pwned)"), "undefined", "scripts in names")
    stacks = collections.Counter({("main", shown(name), "malloc"): 10 + i for i, name in enumerate(HOSTILE)})
    stacks[("main", "\\xff\\xfe", "malloc")] = 3
    equal(seen_stacks(b), dict(stacks), "stacks")
    b = open_page(graph("svg", hostile_text()))
    equal(b.run("String(window.pwned)"), "undefined", "scripts in the picture's names")


@test
def only_its_own_script_runs_in_a_page():
    with open(graph("html", STACKS), encoding="utf-8") as f:
        page = f.read()
    path = os.path.join(folder, "injected.html")
    with open(path, "w", encoding="utf-8") as f:
        f.write(page.replace("<main>", "<main><script>window.pwned = 1</script>"
                             "<img src=x onerror='window.pwned = 1'>"))
    b = the_browser()
    b.errors.clear()
    b.open(path)
    equal(b.run("String(window.pwned)"), "undefined", "effect of an injected script")
    check(b.errors and all("Content Security Policy" in error for error in b.errors), b.errors)
    equal(seen_frame(b)[0], "all", "frame shown")
    b.errors.clear()


@test
def a_difference_shows_both_values_and_the_change():
    before, after = read(STACKS), read(AFTER)
    b = open_page(graph("html", STACKS, AFTER))
    path = ("start", "thread", "trace")
    whole = collections.Counter({p: max(before[p], after[p]) for p in before | after})
    for path in [("start", "thread", "trace"), ("main", "parse", "read_line"), ("main", "emit")]:
        b.point(*box_point(b, whole, path))
        a, z = total(before, path), total(after, path)
        equal(seen_frame(b), (path[-1], [a, z, z - a]), "figures")
    colours = {name: b.run("(c => c.match(/[0-9]+/g).map(Number))(colourOfChange(findPath(made.layout, names,"
                           f" {list(path)!r})))") for name, path in
               (("new", ("start", "thread", "trace")), ("gone", ("main", "run")), ("same", ("main", "parse", "read_line", "grow")))}
    check(colours["new"][0] > colours["new"][2] and colours["gone"][2] > colours["gone"][0], colours)
    check(max(colours["same"]) - min(colours["same"]) < 10, colours)
    functions = seen_functions(b)
    old, new = functions_of(before), functions_of(after)
    equal(functions, {name: [new.get(name, [0, 0])[i] - old.get(name, [0, 0])[i] for i in (0, 1)]
                      for name in old | new}, "changes of functions")
    b.press("#swapped")
    path = ("main", "parse", "read_line")
    b.point(*box_point(b, whole, path))
    equal(seen_frame(b)[1], [35, 65, 30], "swapped")
    equal(seen_functions(b),
          {name: [-change for change in both] for name, both in functions.items()},
          "changes of functions, sides swapped")
    b.choose("#width", "after")
    b.point(*box_point(b, before, ("start", "thread", "[libz.so.1]")))
    equal(seen_frame(b), ("[libz.so.1]", [0, 20, 20]), "figures after scaling the boxes")


@test
def the_svg_can_be_zoomed_searched_and_inverted():
    stacks = read(STACKS)
    b = open_page(graph("svg", STACKS))
    box = "Array.from(document.querySelectorAll('#boxes > g')).find(g =>" \
          " g.querySelector('title').textContent.startsWith('parse\\n'))"

    def rect(name):
        return b.run(f"Number({box}.querySelector('rect').getAttribute('{name}'))")

    shown_width = b.run("document.documentElement.getBoundingClientRect().width") - 20
    check(abs(rect("width") - shown_width * 70 / total(stacks)) < 0.1,
          "the box does not have its share of the window")
    y = rect("y")
    where = b.run(f"(r => [r.x + r.width / 2, r.y + r.height / 2])({box}.getBoundingClientRect())")
    b.click(*where)
    check(abs(rect("width") - shown_width) < 0.1, "a click does not zoom")
    hidden = b.run("Array.from(document.querySelectorAll('.outside > title'), e => e.textContent.split('\\n')[0])")
    check("emit" in hidden and "start" in hidden and "all" not in hidden and "read_line" not in hidden,
          f"hidden: {hidden}")
    check("70 allocations" in b.run("document.querySelector('#details').textContent"), "figures")
    b.answer_to_prompt = "read_line|malloc"
    b.press("#search")
    equal(b.run("document.querySelector('#matched').textContent"), f"matched {100 * 65 / 70:.1f}%", "share")
    check("s=read_line%7Cmalloc" in b.run("location.hash"), "address")
    b.press("#invert")
    check(rect("y") < y, "the picture is not turned over")
    b.press("#reset")
    check(abs(rect("width") - shown_width * 70 / total(stacks)) < 0.1,
          "the reset does not restore the width")
    b = open_page(graph("svg", STACKS), ("s", "malloc"), ("i", "1"))
    equal(b.run("document.querySelector('#matched').textContent"), f"matched {100 * 90 / 200:.1f}%",
          "share of the search in the URL")


@test
def fifty_thousand_stacks_are_all_shown():
    made = random.Random(5)
    functions = [f"lib{made.randrange(40)}::function_{i}(int)" for i in range(3000)]
    stacks, inner = {}, [("main",)]
    while len(stacks) < 50000:
        path = (*made.choice(inner), *made.sample(functions, made.randrange(1, 4)))
        if len(path) < 40 and made.random() < 0.5:
            inner.append(path)
        stacks[(*path, "malloc")] = made.randrange(1, 1000)
    b = open_page(graph("html", text_of(stacks)), ("t", "remove ^lib7::"), ("s", "^lib3::"))
    wanted = {path: n
              for path, n in stacks.items() if not any(name.startswith("lib7::") for name in path)}
    equal(seen_frame(b)[1], [sum(wanted.values()), 0], "total after the rule")
    equal(matched(b),
          sum(n for path, n in wanted.items() if any(name.startswith("lib3::") for name in path)),
          "found")
    b.run("change({ isReversed: true, rules: [] })")
    equal(seen_frame(b)[1], [sum(stacks.values()), 0], "total in the reversed graph")
    equal(b.run("made.layout.tree.count"), len({path[i:] for path in stacks for i in range(len(path) + 1)}),
          "boxes")


try:
    run()
finally:
    if browser:
        browser.close()
