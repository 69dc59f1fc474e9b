# SPDX-License-Identifier: GPL-2.0-or-later
"""Heap figures without --heap: which processes are read, what is reported where the heap
cannot be read, and estimates between two walks."""

import contextlib
import ctypes
import datetime
import json
import os
import shutil
import subprocess
import sys

from heap_lib import HEAP_OWNERS, HeapTarget, anonymous_rss, read_heap
from live import (IS_ROOT, MEMSTATE, MIB, OWNERS, UNTIL_SAMPLED, Skip, as_nobody, check,
                  check_sums, end_started, equal, is_in_state, memstate, parse_csv, read_proc,
                  run, start_memstate, status_field, test, wait_until)

# Reads may take so small a share of the target's time that a short series walks
# each heap once.
SELDOM = ["--max-share", "0.1"]
ALWAYS = ["--max-share", "100"]


def stops_seen(pid):
    """Return the context switch counts of all threads; in a sleeping process only a
    stop raises them."""
    wait_until(lambda: is_in_state(pid, b"S"), f"{pid} sleeps")
    return [line for tid in sorted(os.listdir(f"/proc/{pid}/task"))
            for line in read_proc(f"{pid}/task/{tid}", "status").splitlines()
            if b"ctxt_switches" in line]


def one_row(pid, *args, **popen):
    result = memstate("-p", pid, "--csv", "-n1", "--output-all", *args, **popen).must_be(0)
    row = result.rows()[0]
    check_sums(row)
    return row, result


@test
def heap_owners_are_in_csv_json_and_report_by_default():
    with HeapTarget("fragmented", 16) as target:
        heap = read_heap(target.pid)
        row, _ = one_row(target.pid)
        for owner in HEAP_OWNERS:
            equal(row[f"{owner}_bytes"], heap[f"{owner}_resident_bytes"], owner)
        equal(row["trimmable_bytes"], heap["trimmable_bytes"], "trimmable")
        equal(row["heap_quality"], "exact", "quality")
        equal(row["heap_age_s"], 0, "age")
        check(row["heap_pause_s"] > 0, "no pause")
        equal(row["heap_problem"], None, "problem")

        result = memstate("-p", target.pid, "--json", "-n1").must_be(0)
        process = json.loads(result.out)["processes"][0]
        for owner in OWNERS:
            equal(process[f"{owner}_bytes"], row[f"{owner}_bytes"], f"{owner} in JSON")
        equal(process["heap_age_s"], 0, "age in JSON")
        check(process["heap_pause_s"] > 0, "pause in JSON")

        lines = memstate("-p", target.pid, "--text", "-b").must_be(0).out.decode().splitlines()
        shown = {line.split()[0]: int(line.split()[1]) for line in lines
                 if line.split()[:1] and line.split()[0] in OWNERS[:4]}
        for owner in HEAP_OWNERS:
            equal(shown[owner], row[f"{owner}_bytes"], f"{owner} in the report")
        check(any(line.startswith("Heap read; process paused for ") for line in lines), lines)


@test
def with_heap_off_nothing_is_stopped_and_the_heap_is_unknown():
    with HeapTarget("threads", 2) as target:
        before = stops_seen(target.pid)
        row, _ = one_row(target.pid, "--heap", "off")
        memstate("-p", target.pid, "--text", "--heap", "off").must_be(0)
        equal(stops_seen(target.pid), before, "stops")
        for column in [f"{o}_bytes" for o in HEAP_OWNERS] + ["heap_age_s", "heap_pause_s"]:
            equal(row[column], None, column)
        equal(row["heap_quality"], "unknown", "quality")
        one_row(target.pid)
        check(stops_seen(target.pid) != before, "stops are not visible: the test proves nothing")


@test
def without_heap_columns_no_process_is_stopped():
    with HeapTarget("threads", 2) as target:
        before = stops_seen(target.pid)
        for columns in ("pid,rss_bytes,pss_bytes", "stack_bytes,file_bytes,allocator,mappings"):
            memstate("-p", target.pid, "--csv", "-n", 3, "-i", "10ms", "-o", columns).must_be(0)
        memstate("map", "-p", target.pid).must_be(0)
        memstate("-p", target.pid, "-t", "--text").must_be(0)
        equal(stops_seen(target.pid), before, "stops")


@test
def listing_all_processes_stops_none():
    with HeapTarget("threads", 2) as target:
        before = stops_seen(target.pid)
        result = memstate("--csv", "-n", 2, "-i", "10ms", *ALWAYS)
        rows = [row for row in result.rows() if row["pid"] == target.pid]
        equal(len(rows), 2, "rows")
        equal([row["live_bytes"] for row in rows], [None, None], "live")
        equal(stops_seen(target.pid), before, "stops")


@test
def children_of_a_named_process_are_read_too():
    with HeapTarget("forked", 2) as target:
        children = read_proc(f"{target.pid}/task/{target.pid}", "children").split()
        rows = memstate("-t", "-p", os.getpid(), "--csv", "-n1", "--output-all").must_be(0).rows()
        known = {row["pid"] for row in rows if row["live_bytes"] is not None}
        wanted = {target.pid, *[int(child) for child in children]}
        check(wanted <= known, f"{wanted} are not all in {known}")


@test
def a_process_with_another_tracer_is_left_alone_silently():
    libc = ctypes.CDLL(None, use_errno=True)
    with HeapTarget("fragmented", 1) as target:
        if libc.ptrace(0x4206, target.pid, None, None) != 0:  # PTRACE_SEIZE
            raise Skip(f"tracing is not permitted: {os.strerror(ctypes.get_errno())}")
        row, result = one_row(target.pid)
        equal(result.err, b"", "stderr")
        equal(row["live_bytes"], None, "live")
        check("another tracer" in row["heap_problem"], row["heap_problem"])
        equal(row["heap_pause_s"], None, "pause")
        report = memstate("-p", target.pid, "--text").must_be(0)
        equal(report.err, b"", "stderr of the report")
        check(b"Heap not read: another tracer" in report.out, report.out)
        result = memstate("-p", target.pid, "--csv", "-n1", "--heap", "walk").must_be(3)
        check(b"another tracer" in result.err, result.err)
        equal(result.rows()[0]["live_bytes"], None, "live with --heap walk")
        equal(status_field(target.pid, "TracerPid"), str(os.getpid()), "tracer")


def without_trace_right(*args):
    """Run memstate with CAP_PERFMON only: it can read every smaps, but not trace
    other users' processes."""
    return subprocess.run(["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups",
                           "--inh-caps", "+perfmon", "--ambient-caps", "+perfmon", MEMSTATE,
                           *[str(a) for a in args]], capture_output=True, check=False)


@test
def without_permission_to_stop_the_report_names_a_remedy():
    if not IS_ROOT or not shutil.which("setpriv"):
        raise Skip("needs root and setpriv, to give up capabilities")
    with HeapTarget("fragmented", 4) as target:
        result = without_trace_right("-p", target.pid, "--csv", "-n1")
        if result.returncode == 1 or b"setpriv" in result.stderr:
            raise Skip(f"CAP_PERFMON does not open smaps here: {result.stderr}")
        equal((result.returncode, result.stderr), (0, b""), "status and stderr")
        row = parse_csv(result.stdout)[0]
        equal(row["live_bytes"], None, "live")
        check(row["anon_bytes"] > MIB, "anon")
        report = without_trace_right("-p", target.pid, "--text")
        equal((report.returncode, report.stderr), (0, b""), "status and stderr of the report")
        check(b"Heap not read: no permission" in report.stdout, report.stdout)
        check(b"CAP_SYS_PTRACE" in report.stdout, report.stdout)
        result = without_trace_right("-p", target.pid, "--csv", "-n1", "--heap", "walk")
        equal(result.returncode, 3, "status with --heap walk")
        check(b"CAP_SYS_PTRACE" in result.stderr, result.stderr)
        doctor = without_trace_right("doctor", "-p", target.pid, "--json")
        checks = {c["name"]: c for c in json.loads(doctor.stdout)["checks"]}
        equal(checks["heap"]["answer"], "no", "answer of memstate doctor")
        check("CAP_SYS_PTRACE" in checks["heap"]["fix"], checks["heap"])


@test
def an_ordinary_user_can_read_the_heap_of_their_process():
    become = as_nobody()
    with HeapTarget("fragmented", 2, preexec_fn=become) as target:
        row, _ = one_row(target.pid, preexec_fn=become)
        equal(row["heap_quality"], "exact", "quality")


@test
def a_long_stop_is_avoided_by_reading_the_running_process():
    with HeapTarget("fragmented", 16) as target:
        exact, _ = one_row(target.pid)
        before = stops_seen(target.pid)
        row, result = one_row(target.pid, "--max-pause", "1ms")
        equal(stops_seen(target.pid), before, "stops")
        equal(result.err, b"", "stderr")
        equal(row["heap_quality"], "estimate", "quality")
        equal(row["heap_pause_s"], None, "pause")
        check("too long" in row["heap_problem"], row["heap_problem"])
        slack = abs(row["live_bytes"] - exact["live_bytes"])
        check(slack < exact["live_bytes"] // 4, f"live: {row['live_bytes']}, {exact['live_bytes']}")


def series_of(pid, *args):
    return start_memstate("-p", pid, "--csv", "-i", "10ms", "--output-all", *args)


class Rows:
    """The rows of a series in order; next() checks that each adds up."""

    def __init__(self, process):
        self.process = process
        self.header = process.stdout.readline()

    def next(self):
        row = parse_csv(self.header + self.process.stdout.readline())[0]
        check_sums(row)
        return row

    def next_from(self, moment):
        """Return the first row whose sample started at that time or later."""
        row = self.next()
        while datetime.datetime.fromisoformat(row["time"].replace("Z", "+00:00")) < moment:
            row = self.next()
        return row


def carried_over(start, change):
    """Return a row with a fresh heap, and a row after a change without another walk.

    Retry if a busy machine was so slow that the next walk was due.
    """
    for _ in range(5):
        with contextlib.ExitStack() as stack:
            target = stack.enter_context(start())
            rows = Rows(series_of(target.pid, *SELDOM))
            first = rows.next()
            equal(first["heap_age_s"], 0, "age in the first row")
            change(target)
            last = rows.next_from(datetime.datetime.now(datetime.timezone.utc))
            end_started()
        age = last["heap_age_s"]
        if age is not None and age > 0.9 * (last["elapsed_s"] - first["elapsed_s"]):
            equal(last["heap_quality"], "estimate", "quality")
            return first, last
    raise Skip("this machine is too busy: each sample walks the heap again")


def count_walks(rows):
    ages = [row["heap_age_s"] for row in rows]
    return 1 + sum(1 for last, age in zip(ages, ages[1:]) if age < last or age == 0)


@test
def between_walks_returned_memory_comes_from_free_pages():
    gone = []

    def trim(target):
        before = anonymous_rss(target.pid)
        target.order(b"t")
        gone.append(before - anonymous_rss(target.pid))

    first, last = carried_over(lambda: HeapTarget("fragmented", 16), trim)
    check(gone[-1] > 0, "nothing was trimmed: the test proves nothing")
    equal(first["pool_pages_bytes"] - last["pool_pages_bytes"], gone[-1], "decrease of free pages")
    equal(last["live_bytes"], first["live_bytes"], "live")
    check(last["trimmable_bytes"] <= last["pool_pages_bytes"], "trimmable")


GROWING = (f"import sys; block = bytearray(8 * {MIB}); print('ready', flush=True); "
           f"sys.stdin.readline(); more = bytearray(16 * {MIB}); print('done', flush=True); "
           "sys.stdin.readline()")


@contextlib.contextmanager
def growing():
    with subprocess.Popen([sys.executable, "-c", GROWING], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as target:
        try:
            target.stdout.readline()
            yield target
        finally:
            target.kill()


@test
def between_walks_new_memory_is_anon():
    def grow(target):
        target.stdin.write(b"\n")
        target.stdin.flush()
        target.stdout.readline()

    first, last = carried_over(growing, grow)
    equal(last["live_bytes"], first["live_bytes"], "live")
    grown = last["anon_bytes"] - first["anon_bytes"]
    check(16 * MIB <= grown < 17 * MIB, f"anon has grown by {grown}")


@test
def walks_repeat_as_often_as_their_cost_allows():
    with HeapTarget("fragmented", 4) as target:
        args = ["-p", target.pid, "--csv", "-n", 40, "-i", "10ms"]
        often = memstate(*args, *ALWAYS).must_be(0).rows()
        seldom = memstate(*args, *SELDOM).must_be(0).rows()
        for row in often + seldom:
            check(row["live_bytes"] is not None, "a row without the heap")
        if count_walks(often) < 10:
            raise Skip("a walk takes longer than some intervals here")
        check(count_walks(seldom) < count_walks(often),
              f"walks: {count_walks(seldom)} seldom, {count_walks(often)} often")


@test
def a_new_program_does_not_inherit_heap_figures_across_exec():
    with subprocess.Popen(["sh", "-c", "echo ready; read line; exec cat"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as target:
        try:
            target.stdout.readline()
            rows = Rows(series_of(target.pid, *SELDOM))
            row = rows.next()
            check(row["live_bytes"] is not None, "the shell's heap is unknown")
            target.stdin.write(b"\n")
            target.stdin.flush()
            while row["comm"] != "cat":
                last_of_shell = row["elapsed_s"]
                row = rows.next()
            for _ in range(3):
                check(row["live_bytes"] is None or
                      row["elapsed_s"] - row["heap_age_s"] >= last_of_shell,
                      f"a heap from before: {row}")
                row = rows.next()
        finally:
            target.kill()


@test
def the_report_of_a_command_includes_its_heap():
    # long enough for a further walk of the heap
    script = f"x = [bytearray(1000) for i in range(20000)]; {3 * UNTIL_SAMPLED}"
    result = memstate("--text", "-b", "-i", "20ms", *ALWAYS, "--", sys.executable, "-c",
                      script).must_be(0)
    lines = result.out.decode().splitlines()
    live = [int(line.split()[1]) for line in lines if line.startswith("live ")]
    check(live and live[0] > 8 * MIB, result.out)


SPINNING = f"""
import signal, time
block = bytearray(b"x") * {128 * MIB}
is_done = False
def end(*unused):
    global is_done
    is_done = True
signal.signal(signal.SIGTERM, end)
print("ready", flush=True)
longest, last = 0, time.monotonic_ns()
while not is_done:
    now = time.monotonic_ns()
    longest, last = max(longest, now - last), now
print(longest, flush=True)
"""


@test
def the_reported_pause_matches_the_stop():
    """On a busy machine, other processes lengthen either time, so some try must
    match, not each."""
    tried = []
    for _ in range(20):
        with subprocess.Popen([sys.executable, "-c", SPINNING], stdout=subprocess.PIPE,
                              text=True) as process:
            try:
                equal(process.stdout.readline(), "ready\n", "the program")
                row = memstate("-p", process.pid, "--csv", "-n1", "--heap", "walk", "--max-pause",
                               "1m").must_be(0).rows()[0]
            finally:
                process.terminate()
            longest = int(process.stdout.readline()) / 1e9
        tried.append((row["heap_pause_s"], longest))
        if 0.8 * longest < row["heap_pause_s"] < 1.25 * longest:
            return
    raise AssertionError(f"pauses and what the process saw, in seconds: {tried}")



run()
