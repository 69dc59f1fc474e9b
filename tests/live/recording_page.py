# SPDX-License-Identifier: GPL-2.0-or-later
"""A recording as a single page: its content, and how a browser renders it."""

import contextlib
import html.parser
import json
import os
import re
import sqlite3

from browser_lib import Browser
from live import MIB, Folder, Skip, Target, check, equal, memstate, run, test

REPORT = "6,7,8,-;hog invoked oom-killer\n SUBSYSTEM=memory\n3,8,9,-,caller=T1;Killed process 7 (a;b)\n"
HOSTILE = "</script><img src=http://x.example/a.png onerror=alert(1)>\"'&<!--\x1b[31m"


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.tags, self.attributes, self.texts, self.open = [], [], {}, []
        with open(path, encoding="utf-8") as f:
            self.feed(f.read())
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        equal(self.open.pop() if self.open else None, tag, "element that is closed")

    def handle_data(self, data):
        self.texts.setdefault(self.open[-1] if self.open else None, []).append(data)

    def data(self):
        return json.loads(self.texts["script"][0])


@contextlib.contextmanager
def recording():
    """Two sessions of two processes, with an event in between."""
    with Folder() as folder, Target("unbacked", 8 * MIB, 6 * MIB, is_stopped=True) as one, \
            Target("lazyfree", 4 * MIB, 3 * MIB, 0, is_stopped=True) as two:
        path = f"{folder}/r"
        rows = []
        for _ in range(2):
            result = memstate("-p", f"{one.pid},{two.pid}", "--csv", "--heap", "off", "-i", "30ms", "-n", 4,
                              "--record", path, "--output-all")
            if b"require SQLite" in result.err or b"unknown option '--record'" in result.err:
                raise Skip("built without SQLite")
            rows += result.must_be(0).rows()
        with contextlib.closing(sqlite3.connect(path)) as db, db:
            sample, unix_ms = db.execute("SELECT sample, unix_ms FROM sample ORDER BY sample").fetchall()[3]
            db.execute("INSERT INTO event(sample, unix_ms, kind, pid, text) VALUES (?,?,?,?,?)",
                       (sample, unix_ms, "oom_kill", two.pid, HOSTILE))
            db.execute("INSERT INTO event(sample, unix_ms, kind, pid, text) VALUES (?,?,?,?,?)",
                       (sample, unix_ms + 1, "oom_kill", two.pid, REPORT))
        memstate("--html", f"{folder}/page.html", "--replay", path).must_be(0)
        yield f"{folder}/page.html", path, rows, (one.pid, two.pid)


@test
def a_page_shows_the_recording_and_is_self_contained():
    with recording() as (path, file, rows, pids):
        page = Page(path)
        text = open(path, encoding="utf-8").read()
        memstate("oom", "--html", path, "--replay", file).must_be(0)
        equal(open(path, encoding="utf-8").read(), text, "the page under another name")
        memstate("--html", path, "--replay", file, "-p", pids[0]).must_be(0)
        alone = Page(path).data()
    data = page.data()
    for tag in ("img", "link", "iframe", "base", "object"):
        check(tag not in page.tags, f"there is an element {tag}")
    for tag, name, value in page.attributes:
        check(name not in ("src", "href", "srcset", "action") and not name.startswith("on"),
              f"{tag} has {name}={value}")
    equal(set(re.findall(r"https?://[^'\"\s]*", page.texts["script"][1])), {"http://www.w3.org/2000/svg"},
          "addresses")
    check(HOSTILE.replace("\x1b", "\\x1b") in [text.strip("\n") for text in page.texts["pre"]],
          page.texts["pre"])
    check("hog invoked oom-killer\nKilled process 7 (a;b)\n" in page.texts["pre"], page.texts["pre"])
    owners, states, processes, *each = data["charts"]
    times = sorted({row["time"] for row in rows})
    sums = [sum(row["rss_bytes"] for row in rows if row["time"] == time) for time in times]
    for chart in (owners, states, processes):
        values = chart["total"]["v"]
        equal(values[:4] + values[-4:], sums, chart["title"])
        equal(values[4:-4], [None], "values between the sessions")
        for point, total in enumerate(values):
            if total is not None:
                equal(sum(area["v"][point] or 0 for area in chart["areas"]), total, "sum of the areas")
        check(chart["top"] >= max(sums), "the axis is too short")
    equal(len(each), 2, "processes")
    lazyfree = next(area for area in states["areas"] if area["name"] == "lazyfree")
    equal(lazyfree["v"][0], sum(row["lazyfree_bytes"] for row in rows[:2]), "LazyFree")
    equal([event["kind"] for event in data["events"]], 2 * ["oom_kill"], "events")
    equal(alone["charts"][0]["total"]["v"][0],
          next(row["rss_bytes"] for row in rows if row["pid"] == pids[0]), "Rss of one process")


@test
def a_browser_draws_it_and_shows_values_by_mouse_key_or_touch():
    with recording() as (path, _, rows, _), Browser() as b:
        b.open(path)
        equal(b.errors, [], "errors in the page")
        equal(b.run("document.querySelectorAll('.plot svg').length"), 5, "charts")
        check(b.run("document.querySelectorAll('.plot svg .mark').length") == 10,
              "the events are not marked in each plot")
        total = "document.querySelector('.values tr.total td').textContent"
        last = sum(row["rss_bytes"] for row in rows[-2:])
        equal(b.run(total), f"{(last * 20 // MIB + 1) // 2 / 10}M", "total at the end")
        x, y = b.centre(".plot svg")
        b.point(x, y)
        b.wait("document.querySelector('.values td').textContent.startsWith('20')", "a time is shown")
        before = b.run("document.querySelector('.cursor').getAttribute('x1')")
        b.run("document.querySelector('.plot svg').focus()")
        b.key("ArrowLeft", 37)
        check(b.run("document.querySelector('.cursor').getAttribute('x1')") != before,
              "the key does not move the cursor")
        equal(b.errors, [], "errors in the page")
    with recording() as (path, _, _, _), Browser(width=390, height=800, is_phone=True) as b:
        b.open(path)
        check(b.run("document.documentElement.scrollWidth") <= 390, "the page is wider than the phone")
        b.tap(*b.centre(".plot svg"))
        equal(b.errors, [], "errors in the page")


@test
def conflicting_options_are_refused():
    with recording() as (path, file, _, _):
        for args, status, word in [
                (["--csv"], 2, b"--csv"), (["--at", "+0s"], 2, b"--at"), (["-p", "1"], 1, b"contains no data"),
                (["--runs", "3"], 2, b"--preload")]:
            result = memstate("--html", f"{path}.other", "--replay", file, *args).must_be(status)
            check(word in result.err, result.err)
            check(not os.path.exists(f"{path}.other"), "a page was written")
        result = memstate("--html", "/nowhere/at/all.html", "--replay", file).must_be(1)
        check(b"/nowhere/at/all.html" in result.err, result.err)
        memstate("oom", "--html", path).must_be(2)


run()
