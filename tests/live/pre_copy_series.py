# SPDX-License-Identifier: GPL-2.0-or-later
"""Between the walks of a series, memstate keeps the copy of a large heap, and copies only
what the process has written since. Each copy must be the memory of the stopped process,
and at the end nothing may be left behind in the process."""

import csv
import errno
import os
import signal
import subprocess
import sys
import time

from inject_lib import check_same, facts
from live import MEMSTATE, MIB, Skip, check, equal, run, test, wait_until
from oom_lib import Group
from pre_copy_lib import (ALL_STORMS, STORMS, Merging, Storm, skip_if_unavailable, tool,
                          tracked_mappings, wait_for_merged_pages)

WALKS = 5

BIG = 640
WALK = ["--heap", "walk", "--max-share", "100%", "--max-pause", "220ms"]
PLAIN = ["--heap", "walk", "--pre-copy", "off", "--max-pause", "30s"]
COLUMNS = "pid,rss_bytes,live_bytes,pool_pages_bytes,pool_fragments_bytes,heap_meta_bytes," \
          "heap_quality,heap_age_s,heap_pause_s,heap_problem"
FIGURES = COLUMNS.split(",")[2:6]


def compare(storms, tries, mib=16):
    """Compare each of several copies with the stopped process. Return how many further
    copies were compared."""
    with Storm(mib, *storms) as target:
        if "ksm" in storms:
            wait_for_merged_pages(target.pid)
        status, results = tool(target.pid, "-n", tries, "-w", WALKS)
        equal(status, 0, "status of the tool")
        for r in results:
            # no safe moment in time, or a page that was just being migrated
            check(r["result"] in (0, -errno.EAGAIN), f"{storms}: {r}")
            equal((r["missing"], r["different"], r["surplus"]), (0, 0, 0), f"{storms}: wrong pages")
        equal(tracked_mappings(target.pid), [], "mappings that are still tracked")
    return sum(r["kept_walks"] for r in results)


@test
def each_further_copy_is_the_memory_of_the_stopped_process():
    count = sum(compare(storms, 2) for storms in STORMS)
    count += compare(ALL_STORMS, 2)
    check(count >= 7 * (WALKS - 1), f"only {count} comparisons")


@test
def each_further_copy_contains_pages_that_the_kernel_merges_and_separates():
    with Merging():
        count = compare(["ksm"], 4)
    check(count >= 2 * (WALKS - 1), f"only {count} comparisons")


@test
def a_further_copy_has_only_what_was_written():
    with Storm(64, "quiet") as target:
        _, results = tool(target.pid, "-w", 4, "-n", 4)
        done = [r for r in results if r["result"] == 0]
        check(done, f"no thread stopped in time: {results}")
        for r in done:
            equal(r["kept_walks"], 3, f"the copies: {r}")
            check(r["copied"] > 10000, f"the first copy: {r}")
            check(r["kept_pages"] + r["late"] < 200, f"the further copies: {r}")


@test
def a_lost_scan_is_detected():
    with Storm(16, "write") as target:
        _, results = tool(target.pid, "-e", 2, "-n", 3, "-w", 2)
        check(any(r["different"] > 0 for r in results), f"not detected: {results}")


@test
def a_process_that_executes_another_program_is_not_mixed_up():
    with Storm(4, "write", "reexec") as target:
        status, results = tool(target.pid, "-n", 10, "-w", 3)
        check(status in (0, 99), f"status of the tool: {status}")
        for r in results:
            equal((r["missing"], r["different"], r["surplus"]), (0, 0, 0), f"wrong pages: {r}")
        equal(target.process.poll(), None, "exit status")


@test
def memstate_is_killed_at_each_step_of_a_further_copy():
    with Storm(16, "quiet") as target:
        before = facts(target.pid)
        _, (once,) = tool(target.pid, "-w", 3)
        equal(once["result"], 0, f"copy ({once['reason']})")
        for step in range(once["steps"].index("released") + 1, len(once["steps"]) + 1):
            status, _ = tool(target.pid, "-w", 3, "-k", step)
            equal(status, -signal.SIGKILL, f"status after step {step}")
            wait_until(lambda: facts(target.pid) == before, f"restored after step {step}")
            equal(tracked_mappings(target.pid), [], f"tracked mappings after step {step}")


class Series:
    """memstate --csv of one process. Its rows are read one by one."""

    def __init__(self, pid, *args, interval="1s", walk=tuple(WALK), **popen):
        command = [MEMSTATE, "--csv", "-i", interval, *walk, "-p", str(pid), "-o", COLUMNS, *args]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True, **popen)
        self.rows = csv.DictReader(self.process.stdout)
        self.pause_s = None

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.process.kill()
        self.process.communicate()

    def row(self):
        return next(self.rows)

    def walk(self):
        """Return the next row with figures of a new walk, which has another pause. On a busy
        machine, walks last longer than samples wait for them, so the figures may be carried."""
        deadline = time.monotonic() + 60
        while True:
            row = self.row()
            if row["live_bytes"] and row["heap_pause_s"] != self.pause_s:
                self.pause_s = row["heap_pause_s"]
                return row
            check(time.monotonic() < deadline, f"no walk: {row}")

    def end(self, sig):
        self.process.send_signal(sig)
        self.process.wait()


def figures(row):
    return {key: row[key] for key in FIGURES}


@test
def a_series_has_the_figures_of_plain_pauses():
    with Storm(BIG, "quiet") as target:
        before = facts(target.pid)
        with Series(target.pid) as series:
            rows = [series.walk() for _ in range(4)]
            check(tracked_mappings(target.pid), "the process is not tracked between the walks")
            series.end(signal.SIGTERM)
        equal(tracked_mappings(target.pid), [], "tracked mappings at the end")
        check_same(before, facts(target.pid))
        with Series(target.pid, walk=PLAIN) as series:
            plain = series.row()
            equal(tracked_mappings(target.pid), [], "tracked mappings without --pre-copy")
        for row in rows:
            equal(figures(row), figures(plain), "figures")


@test
def a_survey_does_not_spoil_the_kept_copy():
    """The pages that the figures need are too many for the pause, so each walk makes a survey
    before it uses the kept copy."""
    walk = [*WALK[:-1], "40ms"]
    with Storm(100, *["mapped"] * 5, "write-10k") as target:
        with Series(target.pid, walk=tuple(walk)) as series:
            rows = [series.walk() for _ in range(5)]
            check(tracked_mappings(target.pid), "the process is not tracked between the walks")
            series.end(signal.SIGTERM)
        with Series(target.pid, walk=PLAIN) as series:
            plain = series.row()
    for row in rows:
        equal(row["heap_problem"], "", "problem")
        equal(figures(row), figures(plain), "figures")


@test
def memstate_is_killed_between_the_walks():
    with Storm(BIG, "quiet") as target:
        before = facts(target.pid)
        with Series(target.pid) as series:
            series.walk()
            series.walk()
            check(tracked_mappings(target.pid), "the process is not tracked between the walks")
            series.end(signal.SIGKILL)
        wait_until(lambda: facts(target.pid) == before, "restored")
        equal(tracked_mappings(target.pid), [], "tracked mappings")


@test
def a_single_sample_keeps_nothing():
    with Storm(BIG, "quiet") as target, Series(target.pid, "-n", "1") as series:
        series.walk()
        series.process.wait()
        equal(tracked_mappings(target.pid), [], "tracked mappings")


@test
def a_process_that_writes_most_of_its_memory_is_no_longer_tracked():
    with Storm(BIG, "write-100k") as target, Series(target.pid, interval="5s") as series:
        series.walk()
        wait_until(lambda: series.row() and tracked_mappings(target.pid) == [],
                   "the end of the tracking")


EXEC = """
import os, signal, sys
memory = bytearray(b"x" * (int(sys.argv[1]) << 20))
def run(*_):
    again = "import signal; print('again', flush=True); signal.pause()"
    os.execv(sys.executable, [sys.executable, "-c", again])
signal.signal(signal.SIGUSR1, run)
print("ready", flush=True)
while True:
    signal.pause()
"""


@test
def a_followed_process_executes_another_program():
    with subprocess.Popen([sys.executable, "-c", EXEC, str(BIG)], stdout=subprocess.PIPE) as target:
        equal(target.stdout.readline(), b"ready\n", "the target's output")
        try:
            with Series(target.pid) as series:
                row = series.walk()
                if not tracked_mappings(target.pid):
                    raise Skip(f"not tracked: {row}")
                target.send_signal(signal.SIGUSR1)
                equal(target.stdout.readline(), b"again\n", "the target's output")
                deadline = time.monotonic() + 60
                while int(row["rss_bytes"]) > 100 * MIB or row["heap_quality"] != "exact":
                    check(time.monotonic() < deadline, f"the last row: {row}")
                    row = series.row()
                equal(tracked_mappings(target.pid), [], "tracked mappings")
        finally:
            target.kill()


@test
def the_copy_is_released_if_memory_becomes_short():
    with Group(limit=3 * BIG * MIB) as group, Storm(BIG, "quiet") as target:
        with Series(target.pid, preexec_fn=group.enter) as series:
            series.walk()
            series.walk()
            check(tracked_mappings(target.pid), "the process is not tracked between the walks")
            name = "memory.usage_in_bytes" if group.version == 1 else "memory.current"
            group.limit(int(group.read(name)) + 100 * MIB)
            wait_until(lambda: series.row() and tracked_mappings(target.pid) == [], "the release")
            equal(series.process.poll(), None, "exit status of memstate")


skip_if_unavailable()
run()
