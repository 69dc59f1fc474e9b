# SPDX-License-Identifier: GPL-2.0-or-later
"""memstate count -p: count the calls of a running process with breakpoints
in the kernel."""

import json
import os
import signal
import subprocess

from live import (TIMEOUT, OrderedTarget, Skip, check, equal, memstate, parse_csv, read_proc, run,
                  start_memstate, test, wait_until)

FOLDER = os.path.join(os.environ["builddir"], "tests", "targets")
TARGETS = {"dynamic": "uprobe_target", "static": "uprobe_target_static"}
FUNCTIONS = ["malloc", "free", "calloc", "realloc", "reallocarray", "posix_memalign", "valloc",
             "pvalloc"]


class Target(OrderedTarget):
    """tests/targets/uprobe_target, with the sums of the calls it reports."""

    def __init__(self, name="uprobe_target"):
        path = os.path.join(FOLDER, name)
        if not os.path.exists(path):
            raise Skip("no static libc")
        self.said = {}
        super().__init__([path])

    def order(self, letters):
        for letter in letters:
            self.process.stdin.write(letter.encode())
            self.process.stdin.flush()
            said = self.read_until(b"ready" if letter == "x" else b"done")
            for key, number in said.items():
                self.said[key] = self.said.get(key, 0) + number
        return said

    def end(self):
        self.process.stdin.close()
        self.process.wait()


class Attached:
    """memstate count -p, from the moment it counts."""

    def __init__(self, pid, *options):
        self.process = start_memstate("count", "-p", pid, "--csv", "-i", "60s", *options)
        header = self.process.stdout.readline()
        if not header:
            self.refuse(self.process.stderr.read().decode())
        self.header = header

    @staticmethod
    def refuse(error):
        for word in ("not permitted", "this kernel has no", "cannot be read", "Permission denied"):
            if word in error:
                raise Skip(error.strip())
        raise AssertionError(error)

    def end(self, sends=True):
        if sends:
            self.process.send_signal(signal.SIGINT)
        out, err = self.process.communicate(timeout=60)
        equal(self.process.returncode, 0, f"status ({err})")
        row = parse_csv(self.header + out)[-1]
        return {key: int(text) if isinstance(text, str) and text.isdigit() else text
                for key, text in row.items()}


def check_counts(row, said, free_at_least=False):
    for name in FUNCTIONS:
        if name == "free" and free_at_least:
            check(row["free_calls"] >= said["free"], f"free: {row['free_calls']}, at least {said['free']}")
        elif name != "calloc" or not free_at_least:  # libc calls calloc() for a thread's tables
            equal(row[f"{name}_calls"], said.get(name, 0), f"calls of {name}")
    # where both names are one function, either name may get the calls
    equal(row["aligned_alloc_calls"] + row["memalign_calls"], said.get("aligned_alloc", 0),
          "calls of aligned_alloc")


def check_exact(way, kind):
    with Target(TARGETS[kind]) as target:
        attached = Attached(target.pid, "--probe", way, "-o", "+method")
        target.order("wpw")
        row = attached.end()
        check_counts(row, target.said)
        equal(row["method"], way, "method")
        if way == "bpf":
            said = target.said["bytes"] + 64 * 100000
            equal(row["requested_bytes"], said, "requested bytes")
        else:
            equal(row["requested_bytes"], None, "requested bytes")
        for unknown in ("failed_calls", "temporary_blocks", "live_blocks", "live_bytes"):
            equal(row[unknown], None, unknown)
        equal(target.process.poll(), None, "exit status of the target")
        target.order("w")


@test
def bpf_counts_match_the_target():
    check_exact("bpf", "dynamic")


@test
def bpf_counts_match_a_static_target():
    check_exact("bpf", "static")


@test
def perf_counts_match_the_target():
    check_exact("perf", "dynamic")


@test
def perf_counts_match_a_static_target():
    check_exact("perf", "static")


@test
def threads_started_later_are_counted():
    with Target() as target:
        attached = Attached(target.pid, "--probe", "bpf")
        target.order("t")
        row = attached.end()
        check_counts(row, target.said, free_at_least=True)
        check(row["threads"] >= 20, f"threads: {row['threads']}")


def check_fork(way):
    with Target() as target:
        attached = Attached(target.pid, "--probe", way)
        said = target.order("f")
        row = attached.end()
        equal((said["fork"], said["thread"]), (0, 0), "errors of fork() and pthread_create()")
        if way == "bpf":
            equal(row["malloc_calls"], said["malloc"], "malloc calls without the child's")


@test
def fork_and_pthread_create_work_while_bpf_counts():
    check_fork("bpf")


@test
def fork_and_pthread_create_work_while_perf_counts():
    check_fork("perf")


@test
def a_sibling_is_not_counted():
    with Target() as target, Target() as sibling:
        attached = Attached(target.pid, "--probe", "bpf")
        sibling.order("p")
        target.order("w")
        row = attached.end()
        equal(row["malloc_calls"], target.said["malloc"], "malloc")


@test
def a_program_execd_by_the_target_is_not_harmed():
    with Target() as target:
        attached = Attached(target.pid, "--probe", "bpf")
        target.order("wxw")
        attached.end()
        target.order("w")


@test
def counts_up_to_the_targets_end_are_kept():
    with Target() as target:
        attached = Attached(target.pid, "--probe", "bpf")
        target.order("p")
        target.end()
        row = attached.end(sends=False)
        equal(row["state"], "ended", "state")
        equal(row["malloc_calls"], target.said["malloc"], "malloc")


def code_of(pid):
    """Return the bytes of the process's mapped libc code, including any breakpoints."""
    with open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as f:
        ranges = [line.split()[0] for line in f if " r-xp " in line and "libc.so.6" in line]
    if not ranges:
        raise Skip("no libc.so.6 in the target")
    start, end = (int(word, 16) for word in ranges[0].split("-"))
    try:
        with open(f"/proc/{pid}/mem", "rb", 0) as f:
            f.seek(start)
            return f.read(end - start)
    except OSError as error:
        raise Skip(f"the memory of the target cannot be read: {error}") from error


@test
def a_memstate_that_is_killed_leaves_nothing_behind():
    with Target() as target:
        before = code_of(target.pid)
        attached = Attached(target.pid, "--probe", "bpf")
        check(code_of(target.pid) != before, "no breakpoints in libc during the count")
        attached.process.kill()
        attached.process.wait()
        # the kernel removes a breakpoint when a thread hits it, or when the
        # event is closed
        wait_until(lambda: target.order("w") is not None and code_of(target.pid) == before,
                   "the target's code is restored")


def maps_of(pid):
    """Return the mappings without the page that the kernel keeps once a breakpoint was hit."""
    return [line for line in read_proc(pid, "maps").splitlines() if b"[uprobes]" not in line]


def check_closed_pipe(way):
    """The reader of standard output goes away while memstate counts."""
    with Target() as target:
        if way == "inject":  # the first count leaves its page of jumps
            Attached(target.pid, "--probe", way).end()
        before, threads = code_of(target.pid), os.listdir(f"/proc/{target.pid}/task")
        maps = maps_of(target.pid)
        process = start_memstate("count", "-p", target.pid, "--csv", "-i", "20ms", "--probe", way)
        if not process.stdout.readline():
            Attached.refuse(process.stderr.read().decode())
        if way != "inject":
            check(code_of(target.pid) != before, "no breakpoints in libc during the count")
        check(process.stdout.readline(), "no row")
        process.stdout.close()
        target.order("w")
        equal(process.wait(TIMEOUT), -signal.SIGPIPE, f"status ({process.stderr.read()})")
        process.stderr.close()
        equal(code_of(target.pid), before, "code of the target")
        equal(maps_of(target.pid), maps, "mappings of the target")
        equal(os.listdir(f"/proc/{target.pid}/task"), threads, "threads of the target")
        equal(target.process.poll(), None, "exit status of the target")
        target.order("w")


@test
def a_closed_pipe_ends_a_bpf_count_and_leaves_the_target_unchanged():
    check_closed_pipe("bpf")


@test
def a_closed_pipe_ends_a_perf_count_and_leaves_the_target_unchanged():
    check_closed_pipe("perf")


@test
def a_closed_pipe_ends_an_injected_count_and_leaves_the_target_unchanged():
    check_closed_pipe("inject")


@test
def it_ends_after_n_samples():
    with Target() as target:
        Attached(target.pid, "--probe", "bpf").end()
        result = memstate("count", "-p", target.pid, "--probe", "bpf", "--json", "-i", "20ms", "-n", "3")
        result.must_be(0)
        lines = [json.loads(line) for line in result.out.splitlines()]
        equal(len(lines), 3, "samples")
        means = lines[-1]["programs"][0]["attached"]
        equal(means["method"], "bpf", "method")
        check("BPF" in means["how"] and means["not_taken"] == "", f"means: {means}")


@test
def the_report_states_the_method_and_its_gaps():
    with Target() as target:
        Attached(target.pid, "--probe", "bpf").end()
        result = memstate("count", "-p", target.pid, "--probe", "bpf", "-n", "1", "-i", "20ms")
        result.must_be(0)
        text = result.out.decode()
        check("since attached" in text and "counted by uprobes with BPF in" in text, text)
        check("not seen: which calls failed" in text, text)


def refused(*args):
    result = memstate("count", *args)
    errors = result.errors()
    equal(result.out, b"", "output")
    return result.status, errors


@test
def uncountable_processes_are_reported_in_one_line():
    with Target("uprobe_target_stripped") as target:
        status, errors = refused("-p", target.pid)
        equal(status, 1, "status")
        equal(len(errors), 1, f"lines: {errors}")
        check(str(target.pid) in errors[0], errors[0])


@test
def unused_pids_and_other_mistakes_are_refused():
    with subprocess.Popen(["true"]) as gone:
        gone.wait()
    for args, status, word in ((("-p", gone.pid), 1, str(gone.pid)),
                               (("-p", "2"), 1, "2"),
                               (("-p", os.getpid(), "--probe", "magic"), 2, "magic"),
                               (("-p", os.getpid(), "--", "true"), 2, "mutually exclusive"),
                               (("--probe", "bpf", "--", "true"), 2, "--probe"),
                               (("-p", os.getpid(), "--preload", "glibc"), 2, "--preload")):
        got, errors = refused(*args)
        equal(got, status, f"status of {args}: {errors}")
        check(word in errors[0], errors)


run()
