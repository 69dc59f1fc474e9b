# SPDX-License-Identifier: GPL-2.0-or-later
"""memstate distinguishes leaks from warm-up and periodic use, with real allocators."""

import ctypes.util
import json
import os
import subprocess
import time

from live import MIB, Folder, Skip, check, equal, memstate, run, start_memstate, test
from oom_lib import Group

PROGRAM = os.path.join(os.environ["builddir"], "tests", "targets", "growth_target")
LEAK_PER_S = 4 * MIB
BASE = 8 * MIB
ALLOCATORS = {"glibc": None, **{name: ctypes.util.find_library(name)
                                for name in ("jemalloc", "mimalloc", "tcmalloc_minimal")}}
SECONDS = 4
INTERVAL_MS = 25
TRIES = 3  # a machine that is busy for a second changes what memstate can see


class Growing:
    """The target program, which waits until begin()."""

    def __init__(self, mode, library=None, **popen):
        environ = {**os.environ, "LD_PRELOAD": library} if library else None
        self.process = subprocess.Popen([PROGRAM, mode], stdin=subprocess.PIPE, env=environ,
                                        stdout=subprocess.PIPE, **popen)
        self.mode, self.pid = mode, self.process.pid
        equal(self.process.stdout.readline(), b"ready\n", f"{mode} with {library}")

    def begin(self):
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()

    def end(self):
        self.process.kill()
        self.process.wait()
        if not self.process.stdin.closed:
            self.process.stdin.close()
        self.process.stdout.close()


def record(programs, path, *more, seconds=SECONDS):
    """Record all programs from their start, for this many seconds."""
    series = start_memstate("-p", ",".join(str(p.pid) for p in programs.values()), "--csv",
                            "-o", "pid,live_bytes", "-i", f"{INTERVAL_MS}ms", "-n",
                            seconds * 1000 // INTERVAL_MS, "--max-share", "100", "--record", path,
                            *(more or ("--heap", "off")))
    first = series.stdout.readline()
    if not first:
        err = series.communicate()[1]
        if b"require SQLite" in err or b"unknown option '--record'" in err:
            raise Skip("built without SQLite")
        raise AssertionError(err)
    for program in programs.values():
        program.begin()
    start = time.monotonic()
    err = series.communicate()[1]
    if time.monotonic() - start > 2 * seconds:
        raise Skip("a sample takes longer than the interval here")
    if series.returncode == 3 and more:
        raise Skip(f"heaps cannot be read: {err}")
    equal(series.returncode, 0, "status")


def predict(*args):
    result = memstate("oom", "predict", "--json", *args)
    check(result.status in (0, 3, 4), result.err)
    return json.loads(result.out), result.status


def wrong_of(programs, found):
    """Return the programs with an unexpected verdict."""
    wanted = {"leak": {"growing"}, "leaking-teeth": {"growing"},
              "warm-up": {"plateau", "step"},
              "teeth": {"none", "slow", "falling", "plateau", "step", "too_short"}}
    wrong = []
    for (name, mode), program in programs.items():
        need = found[program.pid]["need"]
        if need["verdict"] not in wanted[mode]:
            wrong.append((name, mode, need))
        elif mode == "leak" and abs(need["rate_bytes_per_hour"] / 3600 - LEAK_PER_S) > LEAK_PER_S / 4:
            wrong.append((name, mode, need))
    return wrong


@test
def leaks_are_distinguished_from_warm_up_and_sawtooth_under_each_allocator():
    for left in reversed(range(TRIES)):
        programs = {}
        try:
            for name, library in ALLOCATORS.items():
                if library or name == "glibc":
                    for mode in ("leak", "warm-up", "teeth"):
                        programs[name, mode] = Growing(mode, library)
            programs["glibc", "leaking-teeth"] = Growing("leaking-teeth")
            with Folder() as folder:
                record(programs, f"{folder}/r")
                told, status = predict("--replay", f"{folder}/r")
                one = programs["glibc", "teeth"].pid
                alone, calm = predict("--replay", f"{folder}/r", "-p", one)
                page = memstate("--replay", f"{folder}/r", "-p", one, "--text").must_be(0).out
        finally:
            for program in programs.values():
                program.end()
        found = {p["pid"]: p for p in told["processes"]}
        wrong = wrong_of(programs, found)
        if not wrong or left == 0:
            break
    equal(wrong, [], "verdicts")
    equal([status, told["group"]], [4, None], "status, group")
    # the verdict on the calm process depends on the machine; the status must
    # agree with it
    calm_need = alone["processes"][0]["need"]
    equal(calm, 3 if calm_need["verdict"] == "too_short" else 0, "status of one alone")
    equal([p["pid"] for p in alone["processes"]], [one], "pids with one process")
    check(b"\nNeed of " in page.split(b"\nRss ")[0], page)


@test
def the_time_until_a_leak_reaches_the_limit_is_predicted():
    limit = 192 * MIB
    for left in reversed(range(TRIES)):
        with Group(limit) as group:
            program = Growing("leak", preexec_fn=group.enter)
            try:
                program.begin()
                told, status = predict("--cgroup", group.path, "-i", "25ms", "-n", 90)
            finally:
                program.end()
        need = told["group"]["need"]
        # the remaining room divided by the leak rate of the program
        wanted = (limit - need["bytes"]) / LEAK_PER_S
        if status == 4 and abs(told["group"]["time_to_limit_s"] - wanted) < wanted / 4 or left == 0:
            break
    equal([status, need["verdict"]], [4, "growing"], "verdict")
    seconds = told["group"]["time_to_limit_s"]
    check(abs(seconds - wanted) < wanted / 4, f"in {seconds} s, not in {wanted}")
    check(told["group"]["soonest_s"] <= seconds <= told["group"]["latest_s"], told["group"])
    equal([told["group"]["cgroup"], told["group"]["limit_bytes"]], [group.path, limit],
          "cgroup and limit")


@test
def a_cgroup_whose_last_process_has_ended_is_empty():
    with Folder() as folder, Group(192 * MIB) as group:
        program = Growing("leak", preexec_fn=group.enter)
        recorder = start_memstate("oom", "--cgroup", group.path, "--csv", "-i", "25ms", "--record", f"{folder}/r",
                                  "-o", "process_count", bufsize=0)
        try:
            if not recorder.stdout.readline():
                raise Skip("built without SQLite")
            program.begin()
            for _ in range(60):
                recorder.stdout.readline()
            full, _ = predict("--cgroup", group.path, "-i", "25ms", "-n", 3)
            program.end()
            line = b"1"
            while line.strip() != b"0":
                line = recorder.stdout.readline()
            for _ in range(3):
                recorder.stdout.readline()
        finally:
            program.end()
            recorder.terminate()
            recorder.communicate()
        equal(full["group"]["is_empty"], False, "is_empty with a process")
        for args in (["--replay", f"{folder}/r"], ["--cgroup", group.path, "-i", "25ms", "-n", 3]):
            told, status = predict(*args)
            equal([status, told["group"]["is_empty"], told["group"]["time_to_limit_s"]], [0, True, None], args)
            text = memstate("oom", "predict", *args).must_be(0).out
            check(b"the cgroup is empty" in text and b"reaches the limit" not in text, text)


@test
def a_leak_is_distinguished_from_memory_that_malloc_keeps():
    for left in reversed(range(TRIES)):
        programs = {mode: Growing(mode) for mode in ("leak", "kept")}
        try:
            with Folder() as folder:
                # on a busy machine, the heaps are read more rarely
                record(programs, f"{folder}/r", "--heap", "walk", seconds=3 << (TRIES - 1 - left))
                if programs["kept"].process.poll() == 77:
                    raise Skip("this malloc has no setting to keep freed memory")
                told, _ = predict("--replay", f"{folder}/r")
                page = memstate("--replay", f"{folder}/r", "-p", programs["kept"].pid, "--text")
                report = memstate("-p", programs["leak"].pid, "--text", "--heap", "walk", "-i", "100ms",
                                  "-n", "20", "--max-share", "100", "--record", f"{folder}/s")
                again = memstate("--replay", f"{folder}/s", "--csv", "-o", "pid").must_be(0).rows()
        finally:
            for program in programs.values():
                program.end()
        found = {p["pid"]: p for p in told["processes"]}
        causes = {mode: found[p.pid]["cause"] for mode, p in programs.items()}
        if causes == {"leak": "leak", "kept": "kept"}:
            break
    equal(causes, {"leak": "leak", "kept": "kept"}, "causes of growth")
    check(b"allocator keeps freed memory" in b" ".join(page.must_be(0).out.split()), page.out)
    check(report.must_be(0).out.startswith(b"Need of "), report.out)
    check(len(again) >= 20, f"{len(again)} samples were recorded, the report had 20")


@test
def too_few_samples_give_no_verdict():
    with Group(64 * MIB) as group:
        program = Growing("leak", preexec_fn=group.enter)
        try:
            result = memstate("oom", "predict", "-p", program.pid, "-n", 3, "-i", "10ms").must_be(3)
        finally:
            program.end()
        check(b"too soon to tell: 3 more samples are needed" in result.out, result.out)
        check(b"reaches the limit" not in result.out, result.out)


@test
def conflicting_options_are_refused():
    for args, word in [(["--csv"], b"--csv"), (["-o", "time"], b"-o"),
                       (["--cgroup", "/x", "-p", "1"], b"mutually exclusive"),
                       (["--at", "+1s"], b"--replay"), (["--kmsg", "-"], b"--kmsg")]:
        result = memstate("oom", "predict", *args).must_be(2)
        check(word in result.err, result.err)
        equal(result.out, b"", "output")


run()
