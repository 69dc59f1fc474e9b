# SPDX-License-Identifier: GPL-2.0-or-later
"""Allocations in a comparison of allocators (--count)."""

import json
import os
import sys

from compare_lib import has
from live import MEMSTATE, Folder, check, equal, memstate, run, test

TARGET = os.path.join(os.environ["builddir"], "tests", "targets", "count_target")
LIBRARY = os.path.join(os.path.dirname(os.path.realpath(MEMSTATE)), "src", "agent",
                       "libmemstate-count.so")
COLUMNS = ["allocation_calls", "requested_bytes", "temporary_blocks"]

if not os.path.exists(LIBRARY):
    print("built without the counting libraries", file=sys.stderr)
    sys.exit(77)


def rows_of(*args, status=0):
    return json.loads(memstate("--preload", *args).must_be(status).out)["rows"]


def counted(rows, variant):
    found = [row for row in rows if row["variant"] == variant and row["statistic"] == "median"]
    equal(len(found), 1, f"rows of {variant}")
    return [found[0][name] for name in COLUMNS]


@test
def counts_match_the_program():
    two = "glibc,glibc:arena_max=1"
    rows = rows_of(two, "--json", "--runs", 1, "--count", "--", TARGET, "pairs", 1000)
    for variant in two.split(","):
        equal(counted(rows, variant), [1000, 16000, 1000], variant)
    for row in rows:
        if row["statistic"] == "run":
            equal([row[name] for name in COLUMNS + ["allocations_per_s"]], [None] * 4,
                  "counts of a measured run")
        else:
            rate = 1000 / row["wall_s"] if row["wall_s"] else None
            check(row["allocations_per_s"] and (not rate or row["allocations_per_s"] >= rate / 2),
                  f"{row['allocations_per_s']} per second, {rate} by the rounded wall time")
    equal(len([row for row in rows if row["statistic"] == "run"]), 2, "runs shown")


@test
def other_allocators_count_few_additional_calls():
    for name in ("jemalloc", "tcmalloc", "mimalloc"):
        if not has(name):
            continue
        rows = rows_of(f"glibc,{name}", "--json", "--runs", 1, "--count", "--", TARGET, "pairs",
                       5000)
        calls, requested, temporary = counted(rows, name)
        check(5000 <= calls <= 5100, f"{name}: {calls}")
        check(80000 <= requested and 4990 <= temporary <= 5100, f"{name}: {requested}, {temporary}")


@test
def counts_of_processes_are_summed_without_wrappers():
    rows = rows_of("glibc,glibc:arena_max=1", "--json", "--runs", 1, "--count", "--", "sh", "-c",
                   f"'{TARGET}' pairs 10; '{TARGET}' pairs 20; :")
    equal(counted(rows, "glibc"), [30, 480, 30], "two programs")


@test
def counts_appear_only_with_the_option():
    rows = rows_of("glibc,glibc:arena_max=1", "--json", "--runs", 1, "--", TARGET, "pairs", 10)
    equal(counted(rows, "glibc"), [None] * 3, "without --count")
    text = memstate("--preload", "glibc,glibc:arena_max=1", "--runs", 1, "--count", "--", TARGET,
                    "pairs", 10).must_be(0).out.decode()
    check("\nallocations " in text and "\nallocations per s" in text, text)
    memstate("--count", "--", "true").must_be(2)


@test
def the_counting_run_has_its_own_output_files():
    with Folder() as folder:
        out = os.path.join(folder, "out")
        memstate("--preload", "glibc,glibc:arena_max=1", "--runs", 1, "--warm-up", 1, "--count",
                 "--output-dir", out, "--", "echo", "hello").must_be(0)
        names = sorted(os.listdir(out))
        equal(len([n for n in names if n.startswith("count-1-")]), 2, f"{names}")
        for name in names:
            with open(os.path.join(out, name, "stdout"), encoding="utf-8") as f:
                equal(f.read(), "hello\n", name)


run()
