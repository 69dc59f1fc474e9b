# SPDX-License-Identifier: GPL-2.0-or-later
"""memstate count against programs that report how many calls of malloc() and its
kin they made."""

import json
import os
import pty
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

from live import (IS_ROOT, MEMSTATE, TIMEOUT, Folder, Skip, check, equal, memstate, parse_csv, run,
                  start_memstate, test, wait_until)

TARGET = os.path.join(os.environ["builddir"], "tests", "targets", "count_target")
LIBRARY = os.path.join(os.path.dirname(os.path.realpath(MEMSTATE)), "src", "agent",
                       "libmemstate-count.so")
FUNCTIONS = ["malloc", "free", "calloc", "realloc", "reallocarray", "posix_memalign",
             "aligned_alloc", "memalign", "valloc", "pvalloc"]
FLUSH_BYTES = 16384

if not os.path.exists(LIBRARY):
    print("built without the counting libraries", file=sys.stderr)
    sys.exit(77)


class Counted:
    """One run: memstate's figures for the command (`own`) and all programs, and
    the target's own."""

    def __init__(self, *command, status=0, options=(), **popen):
        self.result = memstate("count", "-t", "--json", "--output-all", *options, "--", *command,
                               **popen)
        self.result.must_be(status)
        self.messages = [line for line in self.result.errors() if line.startswith("memstate: ")]
        self.truth, self.all = {}, {}
        for line in self.result.errors():
            word = re.fullmatch(r"(\w+) (\d+)", line)
            if word:
                self.truth[word[1]] = int(word[2])
                self.all.setdefault(word[1], []).append(int(word[2]))
        self.programs = json.loads(self.result.out)["programs"]

    def of(self, pid):
        found = [p for p in self.programs if p["pid"] == pid]
        equal(len(found), 1, f"programs of pid {pid}")
        return found[0]

    @property
    def own(self):
        equal(len(self.programs), 1, "programs")
        return self.programs[0]


def check_threads(program):
    """Check that the counts of all threads add up to those of the program."""
    for key in program["thread_list"][0]:
        if key not in ("tid", "name"):
            equal(sum(t[key] for t in program["thread_list"]), program[key], f"threads' {key}")


def check_calls(program, truth):
    for name in FUNCTIONS:
        if name != "free":  # libc occasionally calls free(NULL)
            equal(program[f"{name}_calls"], truth.get(name, 0), f"calls of {name}")
    equal(program["allocation_calls"], sum(truth.get(n, 0) for n in FUNCTIONS if n != "free"),
          "allocations")


@test
def every_function_is_counted_to_the_call_and_to_the_byte():
    counted = Counted(TARGET, "functions")
    own, truth = counted.own, counted.truth
    check_calls(own, truth)
    equal(own["free_calls"], truth["free"], "free")
    equal(own["requested_bytes"], truth["requested"], "requested bytes")
    equal(own["temporary_blocks"], truth["temporary"], "temporary")
    equal(own["live_blocks"], truth["blocks"], "live blocks")
    equal((own["failed_calls"], own["threads"], own["state"]), (0, 1, "ended"), "failed calls, threads, state")
    check_threads(own)


@test
def calls_only_counts_the_same_calls_and_leaves_the_rest_unknown():
    counted = Counted(TARGET, "functions", options=["--calls-only"])
    own, truth = counted.own, counted.truth
    check_calls(own, truth)
    equal((own["free_calls"], own["requested_bytes"]), (truth["free"], truth["requested"]), "")
    for name in ("failed_calls", "temporary_blocks", "live_blocks", "live_bytes",
                 "peak_live_bytes", "peak_error_bytes"):
        equal(own[name], None, name)


@test
def the_probe_does_not_change_results_or_errno():
    plain = subprocess.run([TARGET, "corners"], capture_output=True, timeout=TIMEOUT)
    equal(plain.returncode, 0, f"without: {plain.stderr}")
    counted = Counted(TARGET, "corners")
    equal(counted.own["failed_calls"], counted.truth["failed"], "failed calls")
    equal(counted.own["live_blocks"], 0, "live blocks")
    equal(counted.own["live_bytes"], 0, "live bytes")
    Counted(TARGET, "corners", options=["--calls-only"])


@test
def the_peak_of_one_thread_is_exact():
    counted = Counted(TARGET, "peak")
    own, truth = counted.own, counted.truth
    equal((own["peak_live_bytes"], own["peak_error_bytes"]), (truth["peak"], 0), "peak")
    equal((own["live_blocks"], own["live_bytes"]), (truth["blocks"], truth["bytes"]), "left")


@test
def each_thread_has_its_own_counts():
    counted = Counted(TARGET, "threads", 5)
    own = counted.own
    per_thread = [t["malloc_calls"] for t in own["thread_list"] if t["tid"] != own["pid"]]
    equal(sorted(per_thread), sorted(counted.all["thread_malloc"]), "malloc of each thread")
    equal(own["malloc_calls"], sum(counted.all["thread_malloc"]), "malloc")
    equal(own["threads"], 6, "threads")
    check(own["peak_error_bytes"] <= 6 * FLUSH_BYTES, f"error {own['peak_error_bytes']}")
    check_threads(own)


@test
def no_call_of_thousands_of_short_threads_is_lost():
    counted = Counted(TARGET, "churn", 3000)
    own = counted.own
    equal(own["malloc_calls"], counted.truth["malloc"], "malloc")
    check(len(own["thread_list"]) < 1100, f"{len(own['thread_list'])} threads are listed")
    # the main thread frees the threads' control blocks; all other calls are
    # the threads' own
    equal(own["threads"], counted.truth["threads"], "threads")
    check_threads(own)


@test
def a_forked_child_has_its_own_counts_and_inherited_blocks():
    counted = Counted(TARGET, "forks")
    truth = counted.truth
    parent, child, grandchild = (counted.of(truth[k]) for k in ("pid", "child", "grandchild"))
    equal([p["malloc_calls"] for p in (parent, child, grandchild)], [13, 7, 5], "malloc")
    equal([p["free_calls"] for p in (parent, child, grandchild)], [3, 11, 5], "free")
    equal([p["live_blocks"] for p in (parent, child, grandchild)], [10, 6, 6], "live blocks")
    equal(child["parent_pid"], parent["pid"], "parent")
    equal(child["live_bytes"], grandchild["live_bytes"], "live bytes")


@test
def spawned_or_execd_programs_have_their_own_counts():
    counted = Counted(TARGET, "spawn")
    equal(counted.of(counted.truth["vforked"])["malloc_calls"], 11, "after vfork and exec")
    equal(counted.of(counted.truth["spawned"])["malloc_calls"], 11, "posix_spawn")
    rest = [p for p in counted.programs
            if p["pid"] not in (counted.truth["vforked"], counted.truth["spawned"])]
    equal([p["malloc_calls"] for p in rest], [2], "between vfork and exec, in the parent's memory")


@test
def wrappers_do_not_overwrite_the_counts_of_their_program():
    for wrapper in (["env", "A=1"], ["timeout", "60"], ["sh", "-c", '"$0" "$@"; exit $?']):
        counted = Counted(*wrapper, TARGET, "pairs", 123)
        found = [p for p in counted.programs if p["malloc_calls"] == 123]
        equal(len(found), 1, f"{wrapper}: programs with 123 calls")


@test
def the_program_that_a_wrapper_runs_is_shown():
    pairs = [TARGET, "pairs", "123"]
    for wrapper in (["env", "A=1"], ["timeout", "60"], ["nice"], ["sh", "-c", '"$@"', "sh"],
                    ["sh", "-c", '"$@"; exit $?', "sh"], ["sh", "-c", ': $(echo 1; :); "$@"; :', "sh"],
                    ["env", "A=1", "timeout", "60", "sh", "-c", '"$@"; :', "sh"]):
        result = memstate("count", "--csv", "--", *wrapper, *pairs).must_be(0)
        equal([(r["malloc_calls"], r["program"]) for r in result.rows()],
              [("123", "count_target")], f"{wrapper}: program shown")
    # with two equal candidates, neither is singled out
    result = memstate("count", "--csv", "--", "sh", "-c", '"$@"; "$@"; :', "sh", *pairs).must_be(0)
    equal(sorted(r["malloc_calls"] for r in result.rows() if r["program"] != "sh"), ["123", "123"],
          "calls of both programs")
    check(b"all are shown" in result.err, f"no hint: {result.err}")
    result = memstate("count", "--csv", "--", "env", "-i", *pairs).must_be(0)
    equal([r["program"] for r in result.rows()], ["env"], "programs counted")
    check(b"env itself" in result.err, f"no hint: {result.err}")


@test
def allocations_in_signal_handlers_are_counted():
    counted = Counted(TARGET, "signals")
    equal(counted.own["malloc_calls"], counted.truth["malloc"], "malloc")


@test
def allocations_before_main_after_main_and_at_thread_exit_are_counted():
    equal(Counted(TARGET, "late").own["malloc_calls"], 9, "malloc")
    own = Counted(TARGET, "pairs", 1, env=dict(os.environ, COUNT_TARGET_EARLY="1")).own
    equal(own["malloc_calls"], 1501, "malloc")


@test
def modules_loaded_later_are_counted_and_the_loader_works():
    own = Counted(TARGET, "modules").own
    check(own["malloc_calls"] >= 10, f"{own['malloc_calls']} calls")


@test
def counts_of_a_killed_program_are_kept():
    for number, by in ((100, signal.SIGSEGV), (101, signal.SIGKILL)):
        counted = Counted(TARGET, "crash", number, status=128 + by)
        equal(counted.own["malloc_calls"], number, "malloc")
        check(any(f"signal {by.value}" in line for line in counted.messages), counted.messages)


@test
def the_exit_status_is_that_of_the_command():
    for status in (0, 1, 7, 255):
        Counted(TARGET, "status", status, status=status)


def refused(status, *command, **popen):
    result = memstate("count", "--", *command, **popen).must_be(status)
    equal(result.out, b"", f"{command}: stdout")
    check(result.errors(), f"{command}: no message")
    return result.err.decode()


@test
def uncountable_programs_are_refused_with_the_reason():
    check("No such file" in refused(127, "/nonexistent"), "'not found' is not reported")
    refused(127, "no-such-command-anywhere")
    with Folder() as folder:
        path = os.path.join(folder, "text")
        with open(path, "w") as f:
            f.write("no program\n")
        check("Permission" in refused(126, path), "'not executable' is not reported")
        os.chmod(path, 0o755)
        check("neither a program" in refused(126, path), "the contents are not reported")
    static = os.path.join(os.environ["builddir"], "tests", "targets", "heap_target_static")
    if os.path.exists(static):
        check("statically" in refused(125, static), "static")
    refused(2)


@test
def a_setuid_program_is_refused():
    if not IS_ROOT:
        raise Skip("only root can give a program to another user")
    with Folder() as folder:
        path = os.path.join(folder, "setuid")
        shutil.copy(TARGET, path)
        os.chown(path, 65534, 65534)
        os.chmod(path, 0o4755)
        check("setuid" in refused(125, path), "setuid")


@test
def programs_without_the_variables_are_not_counted():
    """env -i clears the variables, so only env itself is counted."""
    result = memstate("count", "--csv", "--", "env", "-i", TARGET, "pairs", "77").must_be(0)
    check(all(row["malloc_calls"] != "77" for row in result.rows()), result.out)


@test
def other_allocators_are_counted_to_the_call():
    tried = 0
    for name in ("glibc", "jemalloc", "tcmalloc", "tcmalloc_minimal", "mimalloc"):
        result = memstate("count", "-t", "--json", "--output-all", "--preload", name, "--", TARGET,
                          "peak")
        if result.status == 125:
            continue
        result.must_be(0)
        tried += 1
        own = json.loads(result.out)["programs"][0]
        truth = dict((k, int(v)) for k, v in
                     (line.split() for line in result.errors() if re.fullmatch(r"\w+ \d+", line)))
        check(name.split("_")[0].replace("glibc", "libc.so") in own["allocator"],
              f"{name}: {own['allocator']}")
        # the allocator and the libraries it needs also allocate for themselves
        check(1003 <= own["malloc_calls"] <= 1100, f"{name}: {own['malloc_calls']} calls")
        others = own["live_blocks"] - truth["blocks"]
        check(0 <= others < 100, f"{name}: {others} other blocks")
        check(truth["bytes"] <= own["live_bytes"] < truth["bytes"] + 200000, f"{name}: bytes")
    if tried < 2:
        raise Skip("no other allocator is installed")


@test
def a_program_with_a_stub_named_malloc_is_counted():
    own = Counted(os.path.join(os.path.dirname(TARGET), "count_fixed"), 77).own
    equal((own["malloc_calls"], own["free_calls"]), (77, 77), "calls")


@test
def new_and_delete_are_counted_where_they_end_up():
    target = os.path.join(os.path.dirname(TARGET), "count_cxx")
    if not os.path.exists(target):
        raise Skip("there is no C++ compiler")
    own = Counted(target, "throw").own
    check(402 <= own["allocation_calls"] < 450 and own["new_calls"] == 0, f"glibc: {own}")
    equal(own["failed_calls"], 1, "failed calls")
    check(own["requested_bytes"] < 200000, f"the failed request is included in {own['requested_bytes']}")
    tried = 0
    for name in ("jemalloc", "tcmalloc", "mimalloc"):
        for options in ([], ["--calls-only"]):
            result = memstate("count", "-t", "--json", "--output-all", "--preload", name, *options,
                              "--", target)
            if result.status == 125:
                continue
            own = json.loads(result.must_be(0).out)["programs"][0]
            if own["new_calls"] == 0:
                continue  # built without this allocator
            tried += 1
            # the allocator's library makes a few calls of its own, also from C++
            check(401 <= own["new_calls"] < 450, f"{name}: {own['new_calls']} calls of new")
            check(401 <= own["delete_calls"] < 450, f"{name}: {own['delete_calls']} of delete")
            check(own["malloc_calls"] + own["aligned_alloc_calls"] < 50, f"{name}: {own}")
            check(own["free_calls"] < 50, f"{name}: {own['free_calls']} of free")
            if not options:
                check(1 <= own["live_blocks"] < 50, f"{name}: {own['live_blocks']} blocks")
                check(own["live_bytes"] < 200000, f"{name}: {own['live_bytes']} bytes")
    if tried == 0:
        raise Skip("no allocator with its own operator new is installed")


@test
def a_series_has_complete_rows_with_growing_counts():
    series = start_memstate("count", "--csv", "-i", "20ms", "--", TARGET, "loop")
    out = series.stdout.readline()
    calls = []
    # on a loaded machine the program may not run between two samples
    while len(calls) < 5 or calls[-1] == calls[0]:
        row = series.stdout.readline()
        check(row, "the series ended too early")
        out += row
        calls.append(parse_csv(out)[-1]["malloc_calls"])
    series.send_signal(signal.SIGTERM)
    rest, _ = series.communicate(timeout=TIMEOUT)
    equal(series.returncode, 128 + signal.SIGTERM, "status")
    rows = parse_csv(out + rest)
    calls = [int(row["malloc_calls"]) for row in rows]
    check(len(calls) >= 5 and calls == sorted(calls) and calls[-1] > calls[0], f"{calls}")
    equal([row["state"] for row in rows][-1], "ended", "the last row")


@test
def a_terminal_shows_a_progress_line_and_a_final_report():
    reader, writer = pty.openpty()
    with subprocess.Popen([MEMSTATE, "count", "-i", "20ms", "--", TARGET, "loop"], stdin=writer,
                          stdout=writer, stderr=writer, start_new_session=True) as process:
        os.close(writer)
        seen = b""
        try:
            while seen.count(b"/s") < 6:
                seen += os.read(reader, 4096)
            process.send_signal(signal.SIGTERM)
            while True:
                seen += os.read(reader, 4096)
        except OSError:
            pass  # the other end of the terminal is closed
        finally:
            os.close(reader)
            if process.poll() is None:
                process.kill()
    check(b"allocations" in seen and b"\r\x1b[K" in seen, f"no line: {seen[:300]}")
    check(b"FUNCTION" in seen, f"no report: {seen[-300:]}")


@test
def no_folders_are_left_behind_even_by_a_killed_memstate():
    def folders():
        return {name for name in os.listdir("/dev/shm") if name.startswith("memstate-count-")}

    if not os.access("/dev/shm", os.W_OK):
        raise Skip("there is no /dev/shm")
    killed = start_memstate("count", "--csv", "-i", "20ms", "--", TARGET, "loop")
    killed.stdout.readline()
    killed.stdout.readline()
    mine = [name for name in folders() if name.startswith(f"memstate-count-{killed.pid}-")]
    equal(len(mine), 1, "folders during the run")
    pid = int(os.listdir(os.path.join("/dev/shm", mine[0]))[0].split(".")[0])
    killed.kill()
    killed.wait()
    # the command keeps running, and it holds the pipe open
    check(os.path.exists(f"/proc/{pid}"), "the command ended with memstate")
    os.kill(pid, signal.SIGKILL)
    killed.communicate()
    second = memstate("count", "--csv", "--", TARGET, "pairs", "1").must_be(0)
    equal(len(second.rows()), 1, "rows")
    check(mine[0] not in folders(), "the folder of the killed memstate still exists")


@test
def a_file_size_limit_of_zero_does_no_harm():
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    result = memstate("count", "--json", "--", TARGET, "pairs", "5", preexec_fn=limit)
    equal(result.status, 125, f"status; {result.err}")
    # only the command cannot write: it runs, but it is not counted
    result = memstate("count", "-t", "--json", "--", "sh", "-c",
                      f"ulimit -f 0; '{TARGET}' pairs 5 && echo went on").must_be(0)
    check(b"went on" in result.err, f"{result.err}")
    check(all(p["malloc_calls"] != 5 for p in json.loads(result.out)["programs"]), "counted")
    check(b"not counted" in result.err, f"not reported: {result.err}")


@test
def a_full_disk_for_the_result_is_an_error():
    if not os.path.exists("/dev/full"):
        raise Skip("/dev/full is missing")
    with open("/dev/full", "w") as full:
        memstate("count", "--csv", "--", TARGET, "pairs", "5", stdout=full).must_be(125)


@test
def totals_match_heaptrack():
    if not shutil.which("heaptrack"):
        raise Skip("heaptrack is not installed")
    with Folder() as folder:
        base = None
        for command in ([TARGET, "status", "0"], [TARGET, "peak"], [TARGET, "pairs", "5000"]):
            out = os.path.join(folder, "ht")
            subprocess.run(["heaptrack", "-o", out, *command], capture_output=True,
                           timeout=TIMEOUT, cwd=folder)
            made = [name for name in os.listdir(folder) if name.startswith("ht")]
            if len(made) != 1:
                raise Skip("heaptrack does not run here")
            made = os.path.join(folder, made[0])
            said = subprocess.run(["heaptrack_print", made], capture_output=True,
                                  timeout=TIMEOUT).stdout.decode(errors="replace")
            os.unlink(made)
            calls = re.search(r"calls to allocation functions: (\d+)", said)
            temporary = re.search(r"temporary memory allocations: (\d+)", said)
            own = Counted(*command).own
            if base is None:
                # heaptrack's C++ library allocates this much when it is loaded
                base = int(calls[1]) - own["allocation_calls"]
                check(0 <= base <= 2, f"heaptrack has {base} calls in a program that makes none")
            equal(int(calls[1]) - base, own["allocation_calls"], f"{command}: allocations")
            # heaptrack's own block is one of them, unless the program freed another
            # block after it
            check(0 <= int(temporary[1]) - own["temporary_blocks"] <= 1,
                  f"{command}: temporary: {temporary[1]}, not {own['temporary_blocks']}")


run()
