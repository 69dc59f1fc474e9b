# SPDX-License-Identifier: GPL-2.0-or-later
"""Coverage of memstate count: allocators that cannot be counted are named, and calls that
free nothing are shown separately."""

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

from live import (OrderedTarget, Skip, check, equal, memstate, need_built_with, parse_csv, run,
                  start_memstate, test, wait_until)

FOLDER = os.path.join(os.environ["builddir"], "tests", "targets")
WAYS = ("inject", "bpf", "perf")
NOT_COVERED = b"Go's allocator is not covered; only calls to malloc are counted"


def target_path(name):
    path = os.path.join(FOLDER, name)
    if not os.path.exists(path):
        raise Skip("no static libc")
    return path


class Waiting:
    """A program that prints "ready" and waits for the end of its input."""

    def __init__(self, name):
        self.process = subprocess.Popen([target_path(name)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        equal(self.process.stdout.readline(), b"ready\n", "the target's first line")

    def __enter__(self):
        return self.process.pid

    def __exit__(self, *unused):
        self.process.communicate()


def is_possible(err):
    return not any(word in err for word in
                   (b"not permitted", b"this kernel has no", b"cannot be read", b"Permission denied", b"built without"))


def check_go_process(name):
    with Waiting(name) as pid:
        for way in ("auto", *WAYS):
            result = memstate("count", "-p", pid, "--probe", way, "-n", "1", "-i", "20ms")
            equal(result.status, 3, f"status with {way}: {result.err}")
            check(NOT_COVERED in result.err and str(pid).encode() in result.err, f"{way}: {result.err}")
            check(b"0 threads made calls" in result.out or result.out == b"", result.out)


@test
def a_go_process_is_named_as_not_covered():
    check_go_process("go_like_target")


@test
def a_static_go_process_is_named_as_not_covered():
    check_go_process("go_like_target_static")


@test
def a_go_command_is_named_as_not_covered():
    result = memstate("count", "--", target_path("go_like_target"), stdin=subprocess.DEVNULL)
    equal(result.status, 3, f"status: {result.err}")
    check(NOT_COVERED in result.err and b"ready" in result.err, result.err)


@test
def a_go_command_that_cannot_be_counted_is_not_run():
    for options, name, status in (((), "go_like_target_static", 3), (("--runs", "2"), "go_like_target", 3),
                                  (("--check", "/dev/null"), "go_like_target", 125)):
        result = memstate("count", *options, "--", target_path(name), stdin=subprocess.DEVNULL)
        equal((result.status, result.out), (status, b""), f"{name} {options}: {result.err}")
        check(NOT_COVERED in result.err and b"ready" not in result.err, result.err)


@test
def a_process_that_calls_nothing_has_0_calls_with_status_0():
    possible = 0
    with OrderedTarget([target_path("uprobe_target")]) as target:
        for way in WAYS:
            result = memstate("count", "-p", target.pid, "--probe", way, "-n", "1", "-i", "20ms")
            if not is_possible(result.err):
                continue
            possible += 1
            result.must_be(0)
            check(b"0 threads made calls" in result.out, result.out)
    if not possible:
        raise Skip("processes cannot be counted here")


def count_process(way, letters, command=None, **popen):
    """Count a process while it does this; return its row and the calls it reports."""
    said = {}
    with OrderedTarget(command or [target_path("uprobe_target")], **popen) as target:
        counting = start_memstate("count", "-p", target.pid, "--probe", way, "--csv", "-i", "60s")
        header = counting.stdout.readline()  # counting has begun
        for letter in letters if header else ():
            for key, number in target.order(letter.encode()).items():
                said[key] = said.get(key, 0) + number
        counting.send_signal(signal.SIGINT)
        out, err = counting.communicate()
    if not header:
        raise Skip(f"{way}: {err.decode().strip()}")
    row = parse_csv(header + out)[-1]
    return {key: int(text) if isinstance(text, str) and text.isdigit() else text
            for key, text in row.items()}, said


def check_frees_of_null(way, letters):
    row, said = count_process(way, letters)
    equal(row["free_calls"], said["free"], "all calls of free")
    equal(row["free_null_calls"], said["free_null"], "calls with NULL")


@test
def frees_of_null_are_shown_by_inject():
    # the probe does not see frees of addresses that were taken before it was injected
    check_frees_of_null("inject", "nn")


@test
def frees_of_null_are_shown_by_bpf():
    check_frees_of_null("bpf", "wpnw")


@test
def perf_cannot_count_frees_of_null_and_counts_calling_threads_only():
    row, said = count_process("perf", "w")
    equal((row["free_calls"], row["free_null_calls"], row["threads"]), (said["free"], None, 1), "free, NULL, threads")
    equal(count_process("perf", "")[0]["threads"], 0, "threads without any call")


def counted_command(letters, *options):
    with tempfile.TemporaryFile() as orders:
        orders.write(letters)
        orders.seek(0)
        return memstate("count", *options, "--", target_path("uprobe_target"), stdin=orders).must_be(0)


@test
def frees_of_null_in_a_command_are_shown():
    once, more = (json.loads(counted_command(letters, "--json", "--output-all").out)["programs"][0]
                  for letters in (b"w", b"wpw"))
    # libc itself occasionally calls free(NULL)
    equal(more["free_null_calls"] - once["free_null_calls"], 10, "calls with NULL")
    equal(more["free_calls"] - once["free_calls"], 100 + 100000, "all calls of free")
    text = counted_command(b"w").out.decode()
    check(re.search(r"^  free\(NULL\) +[1-9]", text, re.M), text)
    check(re.search(r": pid \d+, 1 thread made calls, ended", text), text)


LIBRARIES = {"jemalloc": ("libjemalloc.so.2",), "tcmalloc": ("libtcmalloc_minimal.so.4", "libtcmalloc.so.4"),
             "mimalloc": ("libmimalloc.so.2", "libmimalloc.so.2.0")}


def find_library(allocator):
    for name in LIBRARIES[allocator]:
        done = subprocess.run(["/bin/true"], env={"LD_PRELOAD": name}, capture_output=True, check=False)
        if (done.returncode, done.stderr) == (0, b""):
            return name
    raise Skip(f"{allocator} is not installed")


def check_entries(allocator, way):
    environment = {**os.environ, "LD_PRELOAD": find_library(allocator)} if allocator else None
    name = "entry_target" if allocator else "entry_target_rjem"
    row, said = count_process(way, "ww", [target_path(name)], env=environment)
    # names that share code are counted as one: sized deletes and mi_free_size,
    # aligned_alloc and memalign
    for row_names, names in ((("malloc",), ("malloc",)), (("calloc",), ("calloc",)), (("realloc",), ("realloc",)),
                             (("free", "delete"), ("free",)), (("new",), ("new",)),
                             (("aligned_alloc", "memalign"), ("aligned_alloc", "memalign"))):
        equal(sum(row[f"{key}_calls"] for key in row_names), sum(said.get(key, 0) for key in names), f"{row_names}")
    equal(row["requested_bytes"], None if way == "perf" else said["bytes"], "requested bytes")


def check_entries_by_each(allocator):
    possible = 0
    for way in WAYS:
        try:
            check_entries(allocator, way)
            possible += 1
        except Skip as reason:
            check(not is_possible(str(reason).encode()), reason)
    if not possible:
        raise Skip("no process can be counted here")


@test
def entry_points_of_jemalloc_are_counted():
    check_entries_by_each("jemalloc")


@test
def entry_points_of_mimalloc_are_counted():
    check_entries_by_each("mimalloc")


@test
def entry_points_of_tcmalloc_are_counted():
    check_entries_by_each("tcmalloc")


@test
def entry_points_of_a_jemalloc_linked_into_the_program_are_counted():
    """As in Rust's tikv-jemallocator; a call from one entry point to
    another counts once."""
    check_entries_by_each(None)


def read_code(pid, name):
    """Return the code of a program, read from memory and from the file."""
    with open(f"/proc/{pid}/maps", encoding="ascii") as maps, open(f"/proc/{pid}/mem", "rb", 0) as memory:
        line = next(line.split() for line in maps if line.rstrip().endswith(name) and "r-xp" in line)
        start, end = (int(word, 16) for word in line[0].split("-"))
        memory.seek(start)
        here = memory.read(end - start)
    with open(line[-1], "rb") as file:
        file.seek(int(line[2], 16))
        there = file.read(end - start)
    return here[:len(there)], there


def inject_once(target, *options):
    result = memstate("count", "-p", target.pid, "--probe", "inject", "-n", "1", "-i", "20ms", *options)
    if not is_possible(result.err):
        raise Skip(result.err.decode())
    return result.must_be(0)


@test
def code_that_was_led_to_the_probe_is_as_before():
    with OrderedTarget([target_path("entry_target_rjem")]) as target:
        before, file = read_code(target.pid, "entry_target_rjem")
        equal(before, file, "code before")
        for _ in range(2):
            inject_once(target)
            equal(read_code(target.pid, "entry_target_rjem")[0], before, "code afterwards")
            equal(target.order(b"w")["malloc"], 7, "what it says")


@test
def code_is_as_before_once_the_next_memstate_has_cleaned_up_after_one_that_was_killed():
    with OrderedTarget([target_path("entry_target_rjem")]) as target:
        before, _ = read_code(target.pid, "entry_target_rjem")
        inject_once(target)
        counting = start_memstate("count", "-p", target.pid, "--probe", "inject", "--csv", "-i", "60s")
        counting.stdout.readline()
        counting.kill()
        counting.communicate()
        check(read_code(target.pid, "entry_target_rjem")[0] != before, "nothing leads to the probe")
        for _ in range(100):
            equal(target.order(b"w")["malloc"], 7, "what it says")
        inject_once(target)
        equal(read_code(target.pid, "entry_target_rjem")[0], before, "code afterwards")
        equal(target.order(b"w")["malloc"], 7, "what it says")


def is_counted(pid):
    with open(f"/proc/{pid}/maps", "rb") as maps:
        return any(b"/SYSV" in line for line in maps)


@test
def stacks_of_entry_points_are_recorded():
    need_built_with("LIBELF")
    for allocator, function in (("jemalloc", b"call_jemalloc"), (None, b"call_own")):
        environment = {**os.environ, "LD_PRELOAD": find_library(allocator)} if allocator else None
        path = target_path("entry_target" if allocator else "entry_target_rjem")
        with OrderedTarget([path], env=environment) as target:
            inject_once(target)
            counting = start_memstate("count", "-p", target.pid, "--probe", "inject", "--stacks", "--sample", "1B")
            wait_until(lambda target=target: is_counted(target.pid), "it is counted")
            end = time.monotonic() + 0.5
            while time.monotonic() < end:
                target.order(b"w")
            counting.send_signal(signal.SIGINT)
            out, err = counting.communicate()
            check(function in out and err == b"", f"{allocator}: {out} {err}")


@test
def entry_points_in_a_command_are_named_as_not_covered():
    result = memstate("count", "--", target_path("entry_target_rjem"), stdin=subprocess.DEVNULL)
    equal(result.status, 3, f"status: {result.err}")
    check(re.search(rb"_rjem_\w+ is not covered; only calls to malloc are counted", result.err), result.err)
    # the command is counted without them
    memstate("count", "--", target_path("entry_target"), stdin=subprocess.DEVNULL).must_be(0)


COUNTED = ("malloc", "free", "calloc", "realloc", "reallocarray", "posix_memalign", "aligned_alloc", "memalign",
           "valloc", "pvalloc", "new", "delete")


def count_entries_of_command(letters, allocator, *options):
    """The counts of a command with these calls, and what it reports itself."""
    environment = {**os.environ, "LD_PRELOAD": find_library(allocator)} if allocator else None
    with tempfile.TemporaryFile() as orders:
        orders.write(letters)
        orders.seek(0)
        result = memstate("count", "--json", "--output-all", *options, "--", target_path("entry_target"),
                          stdin=orders, env=environment).must_be(0)
    said = {}
    for name, number in re.findall(rb"^(\w+) (\d+)$", result.err, re.M):
        said[name.decode()] = said.get(name.decode(), 0) + int(number)
    return json.loads(result.out)["programs"][0], said


def check_entries_of_command(allocator, *options):
    before, _ = count_entries_of_command(b"", allocator, *options)
    for letters in (b"ww", b"ssw"):
        after, said = count_entries_of_command(letters, allocator, *options)
        for name in COUNTED:
            equal(after[f"{name}_calls"] - before[f"{name}_calls"], said.get(name, 0),
                  f"{allocator} {options} {letters}: {name}")
        equal(after["requested_bytes"] - before["requested_bytes"], said["bytes"], "requested bytes")
        if not options:
            for figure in ("live_blocks", "live_bytes", "failed_calls"):
                equal(after[figure], before[figure], f"{allocator} {letters}: {figure}")


def check_entries_by_each_library(allocator):
    check_entries_of_command(allocator)
    check_entries_of_command(allocator, "--calls-only")


@test
def entry_points_of_jemalloc_are_counted_of_a_command():
    check_entries_by_each_library("jemalloc")


@test
def entry_points_of_mimalloc_are_counted_of_a_command():
    check_entries_by_each_library("mimalloc")


@test
def entry_points_of_tcmalloc_are_counted_of_a_command():
    check_entries_by_each_library("tcmalloc")


@test
def stacks_of_entry_points_are_recorded_of_a_command():
    need_built_with("LIBELF")
    environment = {**os.environ, "LD_PRELOAD": find_library("mimalloc")}
    with tempfile.TemporaryFile() as orders:
        orders.write(b"w")
        orders.seek(0)
        result = memstate("count", "--stacks", "--", target_path("entry_target"), stdin=orders, env=environment)
    check(re.search(rb"^ +50 100.0% .*call_mimalloc", result.must_be(0).out, re.M), result.out)


@test
def a_command_without_such_an_allocator_finds_no_entry_points():
    _, said = count_entries_of_command(b"w", None)
    equal(said, {}, "calls of functions that are found")
    shell = memstate("count", "--", "sh", "-c", "echo $LD_PRELOAD").must_be(0)
    check(re.search(rb"/libmemstate-count\.so$", shell.err, re.M), shell.err)


@test
def a_linked_in_allocator_of_a_stripped_program_is_named_as_not_covered():
    if not shutil.which("strip"):
        raise Skip("no strip here")
    reason = b"jemalloc in this stripped program is not covered; only calls to malloc are counted"
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "stripped")
        subprocess.run(["strip", "-o", path, target_path("entry_target_rjem")], check=True)
        with OrderedTarget([path]) as target:
            result = memstate("count", "-p", target.pid, "-n", "1", "-i", "20ms")
            equal((result.status, reason in result.err), (3, True), f"{result.err}")
        result = memstate("count", "--", path, stdin=subprocess.DEVNULL)
        equal((result.status, reason in result.err), (3, True), f"{result.err}")
    memstate("count", "--", "true").must_be(0)


run()
