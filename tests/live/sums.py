# SPDX-License-Identifier: GPL-2.0-or-later
"""Rows, columns and total of the matrix equal Rss, mappings add up to the process, and
the process equals the kernel's totals.

Checked for ordinary programs and for the whole machine.
"""

import os
import shutil
import subprocess
import sys

from live import (MIB, Skip, Target, check, check_mappings, check_sums, equal, is_in_state,
                  memstate, run, sample, stop, test, wait_until)

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
    """Check a program that prints "ready" and then waits for input."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        try:
            equal(program.stdout.readline(), b"ready\n", f"first line of {command}")
            stop(program.pid)
            row = sample(program.pid)
            # between the ptrace stop and the group stop the process is briefly in neither
            wait_until(lambda: is_in_state(program.pid, b"T"), "the program is stopped again")
            check_sums(row)
            check_mappings(program.pid, row)
        finally:
            program.kill()


@test
def python_adds_up():
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
    # some processes cannot be read at all, others not by an ordinary user;
    # memstate reports them
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
    """Each mapping's Pss is rounded down to KiB before the sum."""
    return 0 <= totals["pss_bytes"] - whole["pss_bytes"] <= 1024 * whole["mappings"]


@test
def totals_are_the_same_from_the_rollup_and_from_the_mappings():
    columns = ["rss_bytes", "pss_bytes", "uss_bytes", "private_dirty_bytes", "swap_bytes",
               "locked_bytes", "anonymous_bytes", "source"]
    with Target("cow", 4 * MIB, MIB, is_stopped=True) as target:
        stop(target.truth["child"])
        # other processes that map the same libraries come and go, which changes Pss
        # between two reads
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
