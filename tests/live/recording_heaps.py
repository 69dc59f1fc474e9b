# SPDX-License-Identifier: GPL-2.0-or-later
"""The heaps of a recorded process: diff and the page show the figures that 'memstate heap'
reads from the same process while it is stopped."""

import contextlib
import csv
import html
import json
import os
import re
import signal
import subprocess

from heap_lib import HEAP_OWNERS, NO_HURRY
from live import Folder, Skip, check, equal, is_in_state, memstate, run, test, wait_until

PYTHON = "/usr/bin/python3"
PROGRAM = """
import os, signal
objects = [str(i) * 3 for i in range(COUNT)]
blocks = [bytearray(2000) for i in range(COUNT // 100)]
os.kill(os.getpid(), signal.SIGSTOP)
"""
UNITS = ["", "K", "M", "G"]


@contextlib.contextmanager
def stopped(count):
    process = subprocess.Popen([PYTHON, "-c", PROGRAM.replace("COUNT", str(count))])
    try:
        wait_until(lambda: is_in_state(process.pid, b"T"), "the program has stopped itself")
        yield process.pid
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()


def record(pid, path):
    """Record the process; return the resident bytes of each owner in each of its heaps."""
    result = memstate("-p", pid, "--csv", "--heap", "walk", "-n", 2, "-i", "100ms", "--record", path,
                      *NO_HURRY)
    if b"require SQLite" in result.err or b"unknown option '--record'" in result.err:
        raise Skip("built without SQLite")
    result.must_be(0)
    heaps = json.loads(memstate("heap", "-p", pid, "--json", *NO_HURRY).must_be(0).out)["heaps"]
    return {(h["heap"], owner): h[f"{owner}_resident_bytes"] for h in heaps for owner in HEAP_OWNERS}


def format_bytes(number):
    """Format as memstate does: half of the last digit is rounded up."""
    unit = 0
    while number >= 1024 ** (unit + 1) and unit + 1 < len(UNITS):
        unit += 1
    size = 1024 ** unit
    tenths = (number * 10 + size // 2) // size
    return f"{tenths // 10}.{tenths % 10}{UNITS[unit]}" if unit else str(number)


def check_page(path, bytes_of):
    with open(path, encoding="utf-8") as f:
        table = f.read().partition("<h2>Heaps</h2>")[2].partition("</table>")[0]
    rows = [re.findall(r"<t[hd][^>]*>([^<]*)</t[hd]>", row) for row in table.split("</tr>")]
    rows = {html.unescape(cells[0]): cells[1:] for cells in rows if len(cells) == 6}
    for title, name in (("glibc malloc", "glibc"), ("Python objects", "python")):
        live = bytes_of[name, "live"]
        free = bytes_of[name, "pool_pages"] + bytes_of[name, "pool_fragments"]
        meta = bytes_of[name, "heap_meta"]
        wanted = [format_bytes(n) for n in (live + free + meta, live, free, meta)]
        equal(rows[title][:4], wanted, title)


@test
def recorded_heaps_are_those_of_the_process():
    if not os.access(PYTHON, os.X_OK):
        raise Skip(f"no {PYTHON}")
    with Folder() as folder:
        files, figures = [f"{folder}/small", f"{folder}/large"], []
        for path, count in zip(files, (20000, 80000)):
            with stopped(count) as pid:
                figures.append(record(pid, path))
        out = memstate("diff", *files, "--csv").must_be(0).out.decode()
        rows = [row for row in csv.DictReader(out.splitlines()) if row["part"] == "heap"]
        rows = {(row["name"], row["owner"]): row for row in rows}
        for key in figures[0]:
            equal(int(rows[key]["before_bytes"]), figures[0][key], f"{key} before")
            equal(int(rows[key]["after_bytes"]), figures[1][key], f"{key} after")
        check(figures[1]["python", "live"] > figures[0]["python", "live"] + 3 * 1024 * 1024, figures)
        text = memstate("diff", *files).must_be(0).out.decode()
        check(re.search(r"^ +\+\S+ +\S+ +\S+  live +python of python3 \(", text, re.M), text)
        memstate("--html", f"{folder}/page", "--replay", files[1]).must_be(0)
        check_page(f"{folder}/page", figures[1])


run()
