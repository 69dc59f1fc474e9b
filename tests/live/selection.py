# SPDX-License-Identifier: GPL-2.0-or-later
"""Selection of processes: by pid, by name, and with their children."""

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile

from live import (MIB, Target, check, check_sums, equal, memstate, run, test, wait_until)

# At most 15 bytes, and different from the names of a concurrent run of this test.
TWIN = f"twin{os.getpid()}"
OTHER = f"{TWIN}-not"
NOBODY = f"none{os.getpid()}"


def pids(*args):
    rows = memstate(*args, "--csv", "-n1", "-o", "pid,ppid,comm").must_be(0).rows()
    found = [row["pid"] for row in rows]
    equal(len(found), len(set(found)), "each process once")
    return set(found)


@test
def a_name_selects_all_processes_of_exactly_that_name():
    with Target("name", TWIN) as a, Target("name", TWIN) as b, \
         Target("name", OTHER):
        equal(pids("-p", TWIN), {a.pid, b.pid}, "pids")
        equal(pids("-p", f"{TWIN},{a.pid}"), {a.pid, b.pid}, "pids by name and pid")
        equal(pids("-p", TWIN, "-p", OTHER) - {a.pid, b.pid} != set(), True,
              "pid of the third process")


@test
def a_name_selects_in_each_sample_of_a_series():
    with Target("name", TWIN) as a:
        rows = memstate("-p", TWIN, "--csv", "-n", 3, "-i", "10ms", "-o",
                        "pid,comm,elapsed_s").must_be(0).rows()
        equal([row["pid"] for row in rows], [a.pid] * 3, "pids")


@test
def an_unknown_name_is_reported():
    result = memstate("-p", NOBODY, "--csv").must_be(1)
    equal(result.out, b"", "stdout")
    check(re.match(f"memstate: {NOBODY}: none of the [0-9]+ processes has this name",
                   result.errors()[0]), result.err)
    with Target("name", TWIN) as a:
        result = memstate("-p", f"{TWIN},{NOBODY}", "--csv", "-n1", "-o", "pid").must_be(3)
        equal([row["pid"] for row in result.rows()], [a.pid], "pids")


@contextlib.contextmanager
def sleeper(*command):
    """A process of another program that sleeps until the end of the block."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        process.stdout.read(1)  # the program has begun
        yield process.pid
    finally:
        process.stdin.close()
        process.wait()


@test
def a_script_is_selected_by_its_file_name():
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, f"server-of-test-{os.getpid()}.py")
        with open(script, "w") as f:
            f.write("import sys\nprint(end='x', flush=True)\nsys.stdin.read()\n")
        name = os.path.basename(script)
        with sleeper(sys.executable, "-u", script, name + "x") as pid, \
             sleeper(sys.executable, "-u", "-c",
                     "import sys; print(end='x', flush=True); sys.stdin.read()", script):
            equal(pids("-p", name), {pid}, "by the name of the script")
            equal(pids("-p", f"*-test-{os.getpid()}.py"), {pid}, "by wildcards")
            result = memstate("-p", name[1:], "--csv").must_be(1)
            check(f"did you mean '{name}'?" in result.errors()[0], result.err)


@test
def a_program_is_selected_by_its_full_name():
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, f"program-with-a-long-name-{os.getpid()}")
        shutil.copy(shutil.which("cat"), program)
        process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            process.stdin.write(b"x")
            process.stdin.flush()
            process.stdout.read(1)  # the program has begun
            name = os.path.basename(program)
            equal(pids("-p", name), {process.pid}, "by the full name")
            check(process.pid in pids("-p", name[:15]), "by comm, which is cut")
            equal(pids("-p", f"program-*-{os.getpid()}"), {process.pid}, "by wildcards")
        finally:
            process.stdin.close()
            process.wait()


@test
def all_descendants_are_selected():
    with Target("family", 3, 2) as target:
        wait_until(lambda: len(pids("-t", "-p", target.pid)) == 1 + 3 + 3 * 2,
                   "all descendants are running")
        family = pids("-t", "-p", target.pid)
        check(set(target.all["child"]) < family, "children")
        rows = memstate("-t", "-p", target.pid, "--csv", "-n1", "--output-all").must_be(0).rows()
        for row in rows:
            check_sums(row)
            equal(row["pid"] == target.pid or row["ppid"] in family, True,
                  "the parent belongs to the family")
        equal(pids("-p", target.pid), {target.pid}, "without -t")


@test
def several_pids_give_one_row_each_in_each_sample():
    with Target("unbacked", MIB, MIB) as a, Target("unbacked", 2 * MIB, 2 * MIB) as b:
        for args in (["-p", f"{a.pid},{b.pid}"], ["-p", a.pid, "-p", b.pid],
                     ["-p", f"{a.pid},{b.pid},{a.pid}"]):
            series = memstate(*args, "--csv", "-n", 2, "-i", "10ms", "-s", "rss_bytes")
            rows = series.must_be(0).rows()
            equal([row["pid"] for row in rows], [b.pid, a.pid] * 2, f"pids of {args}, sorted")


run()
