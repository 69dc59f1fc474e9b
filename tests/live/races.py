# SPDX-License-Identifier: GPL-2.0-or-later
"""Processes that end, exec and map memory while they are read: memstate never crashes,
hangs, or prints rows that do not add up."""

import os
import signal
import time

from live import (MIB, Target, check, check_mapping_sums, check_sums, equal, json_rows, memstate,
                  parse_csv, run, start_memstate, test)

SECONDS = 1.5
GROWING = os.path.join(os.environ["builddir"], "tests", "targets", "compare_target")


def repeat(check_once):
    """Repeat for a fixed time; each iteration may hit the critical moment."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        check_once()


def check_series(pid, *args):
    """Run a series as fast as possible and end it with SIGTERM."""
    process = start_memstate("-p", pid, "--csv", "-i", "1ms", "--max-share", "100",
                             "--output-all", *args)
    time.sleep(SECONDS)  # the longer, the more races are met; nothing waits for this
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=10)
    equal(process.returncode, 0, f"status; {err}")
    rows = parse_csv(out)
    check(len(rows) > 1, f"only {len(rows)} rows")
    for row in rows:
        check_sums(row)
    return rows


@test
def a_heap_that_grows_while_it_is_read_counts_once():
    """The kernel reports a growing mapping again in each read; without care up to five
    times its size was counted."""
    rows = parse_csv(memstate("--csv", "-i", "1ms", "--max-share", "100", "--heap", "off", "-o", "rss_bytes",
                              "--", GROWING, "leaking", 64, 700).must_be(0).out)
    check(len(rows) > 1, f"only {len(rows)} rows")
    most = max(row["rss_bytes"] or 0 for row in rows)
    check(most < 80 * MIB, f"Rss {most} of a program with 64 MiB")


@test
def a_process_that_maps_and_unmaps_adds_up_in_every_row():
    with Target("churn", 2) as target:
        for row in check_series(target.pid):
            check(row["rss_bytes"] < 100 * MIB, f"Rss {row['rss_bytes']}")


@test
def each_mapping_adds_up():
    def check_once():
        for m in memstate("map", "-p", target.pid, "--csv", "--output-all").must_be(0).rows():
            check_mapping_sums(m)

    with Target("churn", 2) as target:
        repeat(check_once)


@test
def a_process_that_execs_repeatedly_stays_in_the_series():
    with Target("exec-loop") as target:
        rows = check_series(target.pid)
        equal({row["pid"] for row in rows}, {target.pid}, "pids")
        equal({row["comm"] for row in rows} - {"exe", "target"}, set(), "names")


@test
def report_and_map_show_one_program_or_are_refused():
    """Each program has a stack, near the end of the map, so that a truncated map
    would lack it."""
    def check_once():
        for args in (["-p", target.pid, "--text"], ["map", "-p", target.pid, "--csv"]):
            result = memstate(*args)
            check(result.status == 0 or (result.status in (1, 3) and len(result.errors()) == 1
                                         and not result.out),
                  f"{args}: {result.status} {result.err} {result.out}")
        if result.status == 0:
            check("[stack]" in {m["name"] for m in result.rows()}, f"truncated map: {result.out}")

    with Target("exec-loop") as target:
        repeat(check_once)


@test
def children_that_end_while_they_are_read_are_left_out():
    def check_once():
        result = memstate("-t", "-p", target.pid, "--csv", "-n", 20, "-i", "1ms",
                          "--max-share", "100", "--output-all").must_be(0)
        rows = result.rows()
        for row in rows:
            check_sums(row)
            check(row["rss_bytes"] > 0, f"a row without memory: {row}")
        equal(len([row for row in rows if row["pid"] == target.pid]), 20, "rows of the parent")

    with Target("exit-loop") as target:
        repeat(check_once)


@test
def all_processes_while_some_end_exec_and_map():
    def check_once():
        result = memstate("--json", "-n", 2, "-i", "10ms", "--output-all", "--max-share", "100")
        check(result.status in (0, 3), f"{result.status}: {result.err}")
        for row in json_rows(result.out):
            for process in row["processes"]:
                check_sums(process)

    with Target("exit-loop"), Target("exec-loop"), Target("churn", 1):
        repeat(check_once)


run()
