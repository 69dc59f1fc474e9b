# SPDX-License-Identifier: GPL-2.0-or-later
"""Rows, columns and the whole of the matrix are Rss, the mappings add up to the process, and the
process to the kernel's own sum: for programs as they are, and for the whole machine."""

import os
import shutil
import subprocess
import sys

from live import (MIB, Skip, Target, check, check_mappings, check_sums, equal, is_in_state, memstate,
                  run, sample, stop, test, wait_until)

THREADED = """
import threading
blocks = []
def work():
    for i in range(2000):
        blocks.append(bytearray(1000 + i))
    start.wait()
start = threading.Barrier(9)
for i in range(8):
    threading.Thread(target=work, daemon=True).start()
start.wait()
print("ready", flush=True)
input()
"""


def check_program(*command):
    """A program that says "ready" and then waits for its input."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        try:
            equal(program.stdout.readline(), b"ready\n", f"first line of {command}")
            stop(program.pid)
            row = sample(program.pid)
            # from the stop of the walk into the one before it: nowhere for a moment
            wait_until(lambda: is_in_state(program.pid, b"T"), "it is stopped again")
            check_sums(row)
            check_mappings(program.pid, row)
        finally:
            program.kill()


@test
def a_python_adds_up():
    check_program(sys.executable, "-c",
                  "x = [str(i) for i in range(100000)]; print('ready', flush=True); input()")


@test
def a_program_of_several_threads_adds_up():
    check_program(sys.executable, "-c", THREADED)


@test
def a_shell_adds_up():
    check_program("sh", "-c", "echo ready; read line")


@test
def perl_adds_up():
    if not shutil.which("perl"):
        raise Skip("perl is not installed")
    check_program("perl", "-e", "$| = 1; my @a = (1) x 100000; print qq(ready\\n); <STDIN>")


@test
def memstate_itself_adds_up_while_it_reads_itself():
    if not os.path.exists("/proc/self/smaps_rollup"):
        raise Skip("no smaps_rollup: Linux before 4.14")
    rows = memstate("--csv", "-n1", "--output-all", "-p", "self-is-no-name", "-p",
                    "memstate").must_be(3).rows()
    check(rows, "memstate does not see itself")
    for row in rows:
        check_sums(row)


@test
def every_process_of_the_machine_adds_up_in_every_sample():
    with Target("churn", 2), Target("exit-loop"), Target("lazyfree", 4 * MIB, 2 * MIB, 0, 0):
        result = memstate("--csv", "-n", 3, "-i", "200ms", "--max-share", "100",
                          "--output-all")
    # some cannot be read by anybody, or not by an ordinary user: that is said
    equal(result.status, 3 if result.complaints() else 0, f"status, with {result.err}")
    rows = result.rows()
    for row in rows:
        check_sums(row)
    for time in {row["time"] for row in rows}:
        pids = [row["pid"] for row in rows if row["time"] == time]
        equal(len(pids), len(set(pids)), "each process once in a sample")
        check(os.getpid() in pids, "this process is not in the sample")
    equal(len({row["time"] for row in rows}), 3, "samples")


def is_pss_near(whole, totals):
    """Each mapping's Pss is cut to KiB before it is added up."""
    return 0 <= totals["pss_bytes"] - whole["pss_bytes"] <= 1024 * whole["mappings"]


@test
def totals_are_the_same_from_the_rollup_and_from_the_mappings():
    columns = ["rss_bytes", "pss_bytes", "uss_bytes", "private_dirty_bytes", "swap_bytes",
               "locked_bytes", "anonymous_bytes", "source"]
    with Target("cow", 4 * MIB, MIB, is_stopped=True) as target:
        stop(target.truth["child"])
        # others that map the same libraries come and go, and change its Pss between two reads
        for _ in range(100):
            whole = sample(target.pid)
            totals = sample(target.pid, columns)
            if is_pss_near(whole, totals):
                break
        check(is_pss_near(whole, totals),
              f"Pss: {totals['pss_bytes']} and {whole['pss_bytes']}")
        totals.pop("pss_bytes")
        equal(totals.pop("source"), "smaps_rollup", "source")
        for column, value in totals.items():
            equal(value, whole[column], column)


run()
