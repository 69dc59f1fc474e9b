# SPDX-License-Identifier: GPL-2.0-or-later
"""Counts under difficult conditions: many threads, concurrent forks, signals, full disks.

COUNT makes the first tests larger: `make stress-count COUNT=100000` starts
this many threads.
"""

import errno
import json
import os
import re
import resource
import shutil
import subprocess
import sys

from live import IS_ROOT, MEMSTATE, TIMEOUT, Folder, Skip, check, equal, memstate, run, test

COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 0
TARGET = os.path.join(os.environ["builddir"], "tests", "targets", "count_target")
LIBRARY = os.path.join(os.path.dirname(os.path.realpath(MEMSTATE)), "src", "agent",
                       "libmemstate-count.so")

if not os.path.exists(LIBRARY):
    print("built without the counting libraries", file=sys.stderr)
    sys.exit(77)


def said_by(err):
    """Return the numbers that the target printed: a list for each key."""
    said = {}
    for line in err.decode().splitlines():
        word = re.fullmatch(r"(\w+) (\d+)", line)
        if word:
            said.setdefault(word[1], []).append(int(word[2]))
    return said


def counted(*command, options=()):
    result = memstate("count", "-t", "--json", "--output-all", *options, "--", TARGET, *command,
                      timeout=TIMEOUT + COUNT // 100).must_be(0)
    return json.loads(result.out)["programs"], said_by(result.err), result


@test
def no_call_of_a_hundred_thousand_short_threads_is_lost():
    """`make check` runs fewer: slots are reused from 1000 threads on, so 10000 test
    the same code."""
    count = COUNT or 10000
    programs, truth, _ = counted("churn", count)
    own, = programs
    equal([own["malloc_calls"], own["threads"]], [3 * count, count + 1], "calls and threads")
    equal([own["malloc_calls"]], truth["malloc"], "malloc")
    for key in ("malloc_calls", "free_calls", "calloc_calls", "requested_bytes", "temporary_blocks"):
        equal(sum(t[key] for t in own["thread_list"]), own[key], f"threads' {key}")


@test
def forks_while_other_threads_allocate_lose_nothing():
    count = COUNT // 100 or 60
    programs, truth, _ = counted("storms", count)
    parent, = (p for p in programs if p["pid"] == truth["pid"][0])
    equal([parent["malloc_calls"]], truth["malloc"], "the parent's malloc")
    children = sorted(p["malloc_calls"] for p in programs if p is not parent)
    equal(children, sorted(truth["child_malloc"] * 4), "each child's malloc")
    check(all(p["parent_pid"] == parent["pid"] for p in programs if p is not parent), "parents")


@test
def handlers_that_allocate_at_any_moment_are_counted():
    for options in ((), ("--calls-only",)):
        programs, truth, _ = counted("timers", COUNT // 10 or 300, options=options)
        equal([programs[0]["malloc_calls"]], truth["malloc"], f"{options}: malloc")


def on_small_disks(script, places=("/dev/shm",)):
    """Run the script in a new mount namespace in which these places have room
    for 64 KiB."""
    if not IS_ROOT or not shutil.which("unshare"):
        raise Skip("only root can mount a small disk")
    if any(path.startswith(f"{place}/") for path in (os.path.realpath(MEMSTATE), TARGET)
           for place in places):
        raise Skip("the tested programs are in these places")
    mounts = "".join(f"mount -t tmpfs -o size=64k none {place} && " for place in places)
    done = subprocess.run(["unshare", "-m", "sh", "-c", mounts + script, "sh", MEMSTATE, TARGET],
                          capture_output=True, timeout=TIMEOUT, check=False)
    if b"unshare:" in done.stderr or b"mount:" in done.stderr:
        raise Skip(f"mounting is not permitted: {done.stderr.decode().strip()}")
    return done


@test
def threads_lost_to_a_full_disk_are_reported_and_do_no_harm():
    done = on_small_disks('exec "$1" count --json -- "$2" churn 900')
    equal(done.returncode, 0, f"status; {done.stderr}")
    own, = json.loads(done.stdout)["programs"]
    calls = said_by(done.stderr)["malloc"][0]
    check(0 < own["malloc_calls"] < calls, f"{own['malloc_calls']} of {calls} calls")
    lost = re.search(rb"(\d+) threads were not counted: no space", done.stderr)
    check(lost, f"nothing is reported: {done.stderr}")
    equal(own["malloc_calls"] + 3 * int(lost[1]), calls, "counted and lost calls")


@test
def an_incomplete_run_is_not_checked_against_limits():
    done = on_small_disks('printf "allocations <= 9\\n" >/dev/shm/limits; '
                          'exec "$1" count --check /dev/shm/limits -- "$2" churn 900')
    equal((done.returncode, done.stdout), (125, b""), f"status; {done.stderr}")
    check(b"no space" in done.stderr, done.stderr)


@test
def a_full_disk_is_reported_before_the_command_runs():
    done = on_small_disks('for d in /dev/shm /tmp; do head -c 1M /dev/zero >$d/full; done 2>/dev/null; '
                          'exec "$1" count -- "$2" pairs 3', places=("/dev/shm", "/tmp"))
    if done.returncode == 0:
        raise Skip("there is another writable place")
    equal((done.returncode, done.stdout), (125, b""), f"status; {done.stderr}")
    check(b"No space left" in done.stderr, done.stderr)


@test
def a_low_open_file_limit_is_reported():
    """memstate once reported this as a folder without room."""
    command = ["count", "--", shutil.which("sh"), "-c", "/bin/true; /bin/true"]
    failed = 0
    for count in range(5, 16):
        limit = {"preexec_fn": lambda count=count: resource.setrlimit(resource.RLIMIT_NOFILE, (count, count))}
        for arguments in (command, ["count", "--stacks", *command[1:]]):
            result = memstate(*arguments, **limit)
            check(b"no space" not in result.err, f"{count} descriptors: {result.err}")
            if re.search(rb"not counted|without stacks|no stacks", result.err):
                failed += 1
                check(b"RLIMIT_NOFILE" in result.err, f"{count} descriptors: {result.err}")
    check(failed, "it never failed: the test proves nothing")


@test
def scripts_are_nested_as_deeply_as_the_kernel_permits():
    with Folder() as folder:
        inner, statuses = "/bin/sh", []
        for depth in range(1, 8):
            path = os.path.join(folder, f"script{depth}")
            with open(path, "w", encoding="utf-8") as f:
                f.write(f"#!{inner}\ntrue\n")
            os.chmod(path, 0o755)
            try:
                subprocess.run([path], check=True, timeout=TIMEOUT)
                wanted = 0
            except OSError as e:
                equal(e.errno, errno.ELOOP, "error of the kernel")
                wanted = 125
            result = memstate("count", "--", path).must_be(wanted)
            equal(b"too many nested" in result.err, wanted != 0, (depth, result.err))
            statuses.append(wanted)
            inner = path
        check(statuses[0] == 0 and statuses[-1] != 0, statuses)


run()
