#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The output of a comparison: all formats show the same figures, and hostile
text stays text."""

import functools
import html.parser
import json
import os
import re
import shutil
import subprocess
import tempfile

from live import (MEMSTATE, Skip, check, equal, memstate, parse_csv, run, test)

PROGRAM = os.path.join(os.environ["builddir"], "tests", "targets", "compare_target")
# glibc twice: both variants are always available
ALLOCATORS = "glibc,glibc:arena_max=1"
HOSTILE = b"</script><img src=http://x.example/a.png onerror=alert(1)>\"'&<!--\x1b[31m\xff\n,"


def compare(*options, allocators=ALLOCATORS, command=(PROGRAM, "steady", "8", "60", "0", HOSTILE)):
    return memstate("--preload", allocators, "--runs", 2, *options, "--", *command)


# Pass the arguments as bytes: str() would show Python's b'' notation.
def memstate_bytes(*args):
    process = subprocess.run([MEMSTATE, *args], capture_output=True, timeout=120, check=False)
    equal(process.returncode, 0, f"status; {process.stderr!r}")
    return process.stdout


def compare_bytes(*options):
    return memstate_bytes("--preload", ALLOCATORS, "--runs", "2", *options, "--",
                          PROGRAM, "steady", "8", "60", "0", HOSTILE)


@test
def csv_and_json_have_the_listed_columns():
    listed = [line.split()[0] for line in
              memstate("--preload", ALLOCATORS, "--list-columns").must_be(0).out.decode().splitlines()]
    rows = parse_csv(compare_bytes("--csv", "--output-all"))
    equal(list(rows[0]), listed, "columns of CSV")
    equal([(r["variant"], r["statistic"]) for r in rows],
          [(v, s) for v in ALLOCATORS.split(",") for s in ("run", "run", "median", "min", "max")],
          "rows")
    found = json.loads(compare_bytes("--json", "--output-all"))
    equal(list(found["rows"][0]), listed, "columns of JSON")
    equal(len(found["rows"]), 10, "rows of JSON")
    check(found["verdict"][0]["rule"], "no verdict")
    check("\\xff\n," in found["command"] and "\x1b" in found["command"],
          f"command: {found['command']!r}")


def median(values):
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2


@test
def median_and_spread_match_the_runs():
    rows = parse_csv(memstate("--preload", ALLOCATORS, "--runs", 3, "--csv", "--", PROGRAM, "steady",
                              8, 60).must_be(0).out)
    for variant in ALLOCATORS.split(","):
        mine = [r for r in rows if r["variant"] == variant]
        for column in ("wall_s", "cpu_s", "peak_rss_bytes", "at_end_rss_bytes"):
            values = sorted(r[column] for r in mine
                            if r["statistic"] == "run" and r[column] is not None)
            wanted = dict(zip(("min", "median", "max"), (values[0], median(values), values[-1]))) \
                if values else {}
            for r in mine:
                # seconds are rounded to milliseconds; half bytes are rounded
                if r["statistic"] != "run":
                    check(abs((r[column] or 0) - wanted.get(r["statistic"], 0)) <
                          (1 if column.endswith("_bytes") else 0.002),
                          f"{r['statistic']} of {column} of {variant}: {r[column]}, runs {values}")


@test
def an_unknown_column_is_reported_before_anything_runs():
    result = compare("-o", "rubbish").must_be(2)
    check(b"rubbish" in result.err, result.err)
    equal(result.out, b"", "output")


class Page(html.parser.HTMLParser):
    """The elements, attributes and texts of a page, as a browser parses them."""

    VOID = {"meta", "br", "img", "link", "input"}

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.texts = [], [], {}
        self.attributes = []
        self.feed(text)
        self.close()
        equal(self.open, [], "elements that are not closed")

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        equal(self.open.pop() if self.open else None, tag, "element that is closed")

    def handle_data(self, data):
        where = self.open[-1] if self.open else None
        self.texts.setdefault(where, []).append(data)


@functools.lru_cache(maxsize=None)
def make_page():
    """Return a page with sampled runs; a busy machine may miss runs that
    are too short."""
    for ms in ("200", "1000", "3000"):
        text = write_page(ms)
        if all(len(chart["t"]) > 1 for chart in page_data(text)["charts"]):
            return text
    raise AssertionError("runs of 3 s have no samples")


def write_page(ms):
    folder = tempfile.mkdtemp()
    try:
        path = os.path.join(folder, "page.html")
        memstate_bytes("--preload", ALLOCATORS, "--runs", "2", "--html", path, "--",
                       PROGRAM, "steady", "8", ms, "0", HOSTILE)
        equal(os.listdir(folder), ["page.html"], "files in the folder")
        with open(path, encoding="utf-8") as f:
            return f.read()
    finally:
        shutil.rmtree(folder)


def page_data(text):
    return json.loads(Page(text).texts["script"][0])


@test
def the_page_is_self_contained_and_escapes_text():
    text = make_page()
    page = Page(text)
    for tag in ("img", "link", "iframe", "base", "object"):
        check(tag not in page.tags, f"there is an element {tag}")
    for tag, name, value in page.attributes:
        check(name not in ("src", "href", "srcset", "action", "data") and not name.startswith("on"),
              f"{tag} has {name}={value}")
    for style in page.texts["style"]:
        check("url(" not in style and "@import" not in style, "the style refers to another file")
    # the only URL in the script is the SVG namespace
    equal(set(re.findall(r"https?://[^'\"\s]*", "".join(page.texts["script"]).split("'use strict'")[1])),
          {"http://www.w3.org/2000/svg"}, "addresses")
    equal(page.tags.count("script"), 2, "scripts")
    command = "".join(page.texts["code"])
    check(command.endswith("</script><img src=http://x.example/a.png onerror=alert(1)>\"'&<!--"
                           "\\x1b[31m\\xff\\x0a,"), f"the command: {command!r}")
    policy = [v for t, n, v in page.attributes if t == "meta" and n == "content" and "default-src" in v]
    check(policy and "default-src 'none'" in policy[0], "no policy that forbids external content")


@test
def the_page_has_the_series_and_the_verdict():
    page = Page(make_page())
    data = page_data(make_page())
    equal([c["title"] for c in data["charts"]], ALLOCATORS.split(","), "charts")
    equal({layer["name"] for layer in data["layers"]},
          {"live", "pool_pages", "pool_fragments", "heap_meta", "stack", "anon", "file", "shmem"},
          "layers")
    for chart in data["charts"]:
        length = len(chart["t"])
        for amounts in [chart["rss"], chart["lazyfree"], *chart["own"]]:
            equal(len(amounts), length, "points")
        equal(chart["t"], sorted(chart["t"]), "times")
        equal([m["label"] for m in chart["marks"]], ["peak", "end"], "marks")
        equal(len(chart["lines"]), 1, "number of lines")
        for point, rss in enumerate(chart["rss"]):
            check(sum(own[point] or 0 for own in chart["own"]) <= rss, "the owners exceed Rss")
        check(max(chart["rss"]) <= data["top"] and chart["t"][-1] <= data["end"], "axes")
    check("tbody" in page.tags and "good runs" in page.texts["th"], "no table of runs")
    check(("p", "data-rule") in {(t, n) for t, n, _ in page.attributes}, "no verdict")


@test
def an_unwritable_page_is_reported_before_anything_runs():
    result = compare("--html", "/nowhere/at/all.html", command=("false",)).must_be(1)
    check(b"/nowhere/at/all.html" in result.err and b"run" not in result.err, result.err)
    result = memstate("--html", "page.html", "--", "true").must_be(2)
    check(b"--html requires a recording (--replay) or a comparison (--preload" in result.err, result.err)


def browser():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if shutil.which(name):
            return name
    raise Skip("Chromium is not installed")


def dump_dom(path, folder):
    """Return the DOM after the script has run. Skip where the browser does
    not start here."""
    command = [browser(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
               f"--user-data-dir={folder}/profile", "--dump-dom", f"file://{path}"]
    try:
        process = subprocess.run(command, capture_output=True, timeout=60, check=False,
                                 env={**os.environ, "HOME": folder, "TMPDIR": folder})
    except subprocess.TimeoutExpired as late:
        raise Skip("Chromium timed out") from late
    if process.returncode != 0 or b"</html>" not in process.stdout:
        raise Skip(f"Chromium does not run here: {process.stderr[-200:]!r}")
    return process.stdout.decode()


@test
def a_browser_draws_a_chart_for_each_allocator():
    browser()
    folder = tempfile.mkdtemp()
    try:
        path = os.path.join(folder, "page.html")
        with open(path, "w", encoding="utf-8") as f:
            f.write(make_page())
        dom = dump_dom(path, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    equal(len(re.findall(r"<svg [^>]*viewBox", dom)), 2, "charts")
    equal(len(re.findall(r'<table class="values">', dom)), 2, "tables of values")
    check(re.search(r'<tr class="total"><th[^>]*>Rss</th><td>[0-9.]+M</td>', dom), "no value of Rss")
    check(re.search(r'<path class="rss" d="M[0-9.]+,[0-9.]+h1L', dom), "no line of Rss")


run()
