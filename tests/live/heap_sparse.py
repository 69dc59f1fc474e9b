# SPDX-License-Identifier: GPL-2.0-or-later
"""Reports and series copy only the pages that the walkers read. The figures are those of a
complete copy, which 'memstate heap' makes of these heaps, and memstate needs much less memory."""

import contextlib
import json
import os
import signal
import subprocess

from heap_lib import HEAP_OWNERS, NO_HURRY, has_userfaultfd
from live import (MIB, Skip, check, check_sums, equal, is_in_state, memstate, parse_csv, run,
                  start_memstate, test, wait_until)

PYTHON = "/usr/bin/python3"
FOLDER = "/usr/lib/x86_64-linux-gnu"
LIBRARIES = ("libjemalloc.so.2", "libtcmalloc_minimal.so.4")
# the blocks of 2000 and more bytes are malloc's; Python's own objects are few
BLOCKS = """
import os, random, signal
random.seed(3)
blocks = [bytearray(random.randrange(2000, 60000)) for i in range(12000)]
for i in range(0, len(blocks), 7):
    blocks[i] = None
"""
STOP = "os.kill(os.getpid(), signal.SIGSTOP)\n"
CHURN = """
print("ready", flush=True)
while True:
    blocks[random.randrange(len(blocks))] = bytearray(random.randrange(2000, 60000))
"""


@contextlib.contextmanager
def program(library, text, **popen):
    path = os.path.join(FOLDER, library)
    if not os.access(PYTHON, os.X_OK) or not os.path.exists(path):
        raise Skip(f"no {PYTHON} or no {path}")
    process = subprocess.Popen([PYTHON, "-c", BLOCKS + text], env={**os.environ, "LD_PRELOAD": path}, **popen)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()


def run_and_measure(*args):
    """Run memstate; return its output and its peak Rss in bytes."""
    process = start_memstate(*args)
    out, err = process.stdout.read(), process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    equal((process.returncode, err), (0, b""), "status and messages")
    return out, usage.ru_maxrss * 1024


def compare(library):
    with program(library, STOP) as process:
        wait_until(lambda: is_in_state(process.pid, b"T"), "the program has stopped itself")
        out, peak = run_and_measure("--csv", "-n", 1, "--heap", "walk", "-p", process.pid, *NO_HURRY, "--output-all")
        row = parse_csv(out)[0]
        whole = json.loads(memstate("heap", "-p", process.pid, "--json", *NO_HURRY).must_be(0).out)
    equal([h["quality"] for h in whole["heaps"]], ["exact", "exact"], "quality of the complete copy")
    equal(row["heap_quality"], "exact", "quality")
    check_sums(row)
    for owner in HEAP_OWNERS:
        equal(row[f"{owner}_bytes"], whole[f"{owner}_resident_bytes"], owner)
    check(whole["copied_bytes"] > 100 * MIB, f"the heap has only {whole['copied_bytes']} bytes")
    if not has_userfaultfd():
        raise Skip("userfaultfd(2) is not available: the figures are equal, but memstate copied all pages")
    check(peak < whole["copied_bytes"] // 2, f"memstate needed {peak} of {whole['copied_bytes']} bytes")


@test
def the_figures_of_jemalloc_are_those_of_a_complete_copy():
    compare(LIBRARIES[0])


@test
def the_figures_of_tcmalloc_are_those_of_a_complete_copy():
    compare(LIBRARIES[1])


@test
def a_busy_heap_has_complete_sums():
    for library in LIBRARIES:
        with program(library, CHURN, stdout=subprocess.PIPE) as process:
            equal(process.stdout.readline(), b"ready\n", "output")
            # a series would use the figures of one walk for all rows
            rows = [memstate("--csv", "-n", 1, "--heap", "walk", "-p", process.pid, *NO_HURRY,
                             "--output-all").must_be(0).rows()[0] for _ in range(8)]
            process.stdout.close()
        for row in rows:
            check_sums(row)
        check(sum(row["heap_quality"] == "exact" for row in rows) > 0, [row["heap_quality"] for row in rows])


run()
