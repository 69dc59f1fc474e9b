# SPDX-License-Identifier: GPL-2.0-or-later
"""The counting probe is injected into running processes. Its counts match their calls,
and removing it restores them."""

import errno
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

from count_inject_lib import (Counting, CountTarget, check_same_but_gates, difference, is_refused,
                              put_in_and_out, threads_of, was_put_in)
from inject_lib import InjectTarget, maps
from live import (MEMSTATE, Skip, check, equal, run, start_memstate, status_field, test,
                  wait_until)


def sums_of(said):
    """Add up what each thread reports that it called, by function."""
    sums = {}
    for key, number in said.items():
        function = key.split(".")[-1]
        sums[function] = sums.get(function, 0) + number
    return sums


@test
def every_call_of_every_thread_is_counted():
    with CountTarget(4) as target, Counting(target.pid) as counting:
        for turn in range(1, 4):
            said = target.order(b"w")
            counts = counting.read()
            threads = threads_of(counts)
            for key, number in said.items():
                tid, function = key.split(".")
                equal(threads[int(tid)][function], turn * number, key)
            equal(difference(dict.fromkeys(counts["sums"], 0), counts["sums"]),
                  {function: turn * number for function, number in sums_of(said).items()}, "sums")
        main = [thread["tid"] for thread in counts["threads"] if thread["main"]]
        equal(main, [target.pid], "main thread")
        check(counts["allocator"].split("/")[-1].startswith("libc"), counts["allocator"])
        was_put_in(counting.end())
        target.order(b"w")


@test
def allocations_inside_libc_are_counted():
    with CountTarget() as target, Counting(target.pid) as counting:
        before = counting.read()["sums"]
        said = target.order(b"s")
        equal(difference(before, counting.read()["sums"]), said, "calls")


@test
def threads_that_have_ended_stay_in_the_sums():
    with CountTarget() as target, Counting(target.pid) as counting:
        for _ in range(10):  # more threads than have their own slots
            before = counting.read()["sums"]
            said = target.order(b"t")
            done = difference(before, counting.read()["sums"])
            equal(done["malloc"], said["malloc"], "malloc")
            # libc frees for a thread itself, mostly NULL
            check(done["free"] >= said["free"], f"free: {done}")
        counts = counting.read()
        own = [t["malloc"] for t in counts["threads"] if t["tid"] != 0 and not t["main"]]
        equal(set(own), {5}, "calls of each thread")
        equal(counts["lost"], 0, "threads without a slot")


@test
def calls_from_a_library_loaded_later_are_counted():
    with CountTarget() as target, Counting(target.pid) as counting:
        target.order(b"d")
        # memstate looks for new libraries once a second
        wait_until(lambda: difference(counting.read()["sums"], turn(target, counting)).get("malloc") == 11,
                   "the library is counted")
        target.order(b"D")
        counting.read()
        cycle = counting.end()
        was_put_in(cycle)
        check("loaded meanwhile" in cycle["blind"], cycle["blind"])
        target.order(b"w")


def turn(target, counting):
    target.order(b"p")
    return counting.read()["sums"]


@test
def a_child_survives_and_is_not_counted():
    with CountTarget(2) as target, Counting(target.pid) as counting:
        before = counting.read()["sums"]
        equal(target.order(b"f")["status"], 0, "exit status of the child")
        done = difference(before, counting.read()["sums"])
        check(sum(done.get(key, 0) for key in ("malloc", "calloc", "pvalloc")) == 0, f"counted: {done}")
        was_put_in(counting.end())
        equal(target.order(b"f")["status"], 0, "exit status of the child after removal")


@test
def function_addresses_taken_while_counting_stay_valid():
    with CountTarget() as target:
        with Counting(target.pid) as counting:
            target.order(b"k")
            before = counting.read()["sums"]
            said = target.order(b"c")
            done = difference(before, counting.read()["sums"])
            check(done.get("malloc", 0) in (0, said["malloc"]), f"calls: {done}")
            was_put_in(counting.end())
        target.order(b"c")
        with Counting(target.pid) as counting:
            target.order(b"c")
            was_put_in(counting.end())
        target.order(b"c")


@test
def calls_through_initialized_pointers_are_counted():
    with CountTarget() as target:
        before = target.order(b"v")
        with Counting(target.pid) as counting:
            first = counting.read()["sums"]
            said = target.order(b"v")
            done = difference(first, counting.read()["sums"])
            equal((done["malloc"], done["calloc"], done["free"], done["bytes"]),
                  (said["malloc"], said["calloc"], said["free"], 19 * 23 + 29), "calls")
            counting.kill()
        put_in_and_out(target.pid)
        equal(target.order(b"v"), before, "pointers after removal")


@test
def a_pointer_that_the_program_has_changed_stays():
    with CountTarget() as target:
        target.order(b"V")
        before = target.order(b"v")
        with Counting(target.pid) as counting:
            equal(target.order(b"v")["malloc_addr"], before["malloc_addr"], "pointer while counting")
            was_put_in(counting.end())
        equal(target.order(b"v"), before, "pointers after removal")


@test
def a_pointer_that_the_program_changes_while_counting_stays():
    with CountTarget() as target:
        with Counting(target.pid) as counting:
            target.order(b"V")
            changed = target.order(b"v")["malloc_addr"]
            was_put_in(counting.end())
        equal(target.order(b"v")["malloc_addr"], changed, "pointer after removal")


@test
def the_target_may_exec_another_program():
    with CountTarget(2) as target:
        with Counting(target.pid) as counting:
            target.order(b"w")
            before = counting.read()["sums"]
            target.order(b"x")
            target.order(b"w")
            equal(difference(before, counting.read()["sums"]), {}, "calls after exec")
            was_put_in(counting.end())
        put_in_and_out(target.pid)
        target.order(b"w")


@test
def each_allocation_has_its_stack():
    with CountTarget(4) as target, Counting(target.pid, "-s", 0) as counting:
        for turn in range(1, 4):
            said = target.order(b"w")
            counts = counting.read()
            stacks = counts["stacks"]
            equal((counts["cut"], counts["lost"]), (0, 0), "cut and lost stacks")
            sums = sums_of(said)
            made = sum(turn * number for key, number in sums.items() if key not in ("free", "bytes"))
            equal(sum(stack["allocations"] for stack in stacks), made, "allocations")
            equal(sum(stack["bytes"] for stack in stacks), turn * sums["bytes"], "bytes")
        # nine call sites in one function, which main and four threads reach
        # along two paths
        equal(len({stack["frames"][0] for stack in stacks}), 9, "call sites")
        equal(len({tuple(stack["frames"]) for stack in stacks}), 18, "stacks")
        was_put_in(counting.end())
        target.order(b"w")


@test
def stacks_pass_through_libraries_loaded_later():
    with CountTarget() as target, Counting(target.pid, "-s", 0) as counting:
        plugin = target.order(b"d")["plugin"]
        wait_until(lambda: difference(counting.read()["sums"], turn(target, counting)).get("malloc") == 11,
                   "the library is counted")
        target.order(b"p")
        stacks = [s["frames"] for s in counting.read()["stacks"] if 0 < s["frames"][0] - plugin < 200]
        check(any(len(frames) > 3 for frames in stacks), f"no stack passes through the library: {stacks}")
        target.order(b"D")
        target.order(b"s")
        target.order(b"d")
        target.order(b"p")
        was_put_in(counting.end())
        target.order(b"p")


@test
def sampled_stacks_estimate_all_allocations():
    with CountTarget(4) as target, Counting(target.pid, "-s", 1000) as counting:
        for _ in range(10):
            target.order(b"w")
        counts = counting.read()
        check(counts["samples"] > 100, f"samples: {counts['samples']}")
        estimate = sum(stack["bytes"] for stack in counts["stacks"])
        # 706 000 bytes, from about 700 samples: one standard deviation is at most 1/26
        check(0.7 < estimate / counts["sums"]["bytes"] < 1.3, f"{estimate} of {counts['sums']['bytes']} bytes")
        equal(target.order(b"f")["status"], 0, "exit status of a child")
        target.order(b"t")
        was_put_in(counting.end())
        target.order(b"w")


@test
def stacks_are_shown_by_function():
    with open(os.path.join(os.environ["builddir"], "config.h"), encoding="utf-8") as config:
        if "#define HAVE_LIBELF 1" not in config.read():
            raise Skip("built without libelf, so there are no names")
    with CountTarget(2) as target, tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "stacks")
        command = [MEMSTATE, "count", "-p", str(target.pid), "--probe", "inject", "--stacks", "--sample", "1B",
                   "--folded", path, "-i", "100ms"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True) as process:
            wait_until(lambda: any(b"/SYSV" in line and b"rw-s" in line for line in maps(target.pid)), "the probe is injected")
            end = time.monotonic() + 1
            while time.monotonic() < end:
                target.order(b"w")
            process.send_signal(signal.SIGINT)
            out, err = process.communicate()
        equal((process.returncode, err), (0, ""), "status and messages")
        check("call_all" in out and "temporary" not in out.split("exact: each")[1], out)
        with open(path, encoding="utf-8") as folded:
            lines = folded.read().splitlines()
        check(any("main;answer;work_all;call_all " in line for line in lines), f"{lines}")
        check(any("start_thread;work;call_all " in line for line in lines), f"{lines}")
        target.order(b"w")


@test
def the_process_is_restored_in_every_visible_respect():
    with InjectTarget("still", 16) as target:
        put_in_and_out(target.pid)
        seen, own = check_same_but_gates(target.pid), target.order(b"s")
        for args in (("-n", 5), ("-n", 3, "-s", 524288)):
            for cycle in put_in_and_out(target.pid, *args):
                check(0 < cycle["open_stops"] <= 20, f"stops: {cycle}")
        check_same_but_gates(target.pid, seen)
        equal(target.order(b"s"), own, "figures of the target")
        target.check_whole()


@test
def data_of_its_files_is_restored():
    with CountTarget(2) as target:
        target.order(b"w")
        put_in_and_out(target.pid)
        before = tables(target.pid)
        check(before, "no data of files found in the target")
        put_in_and_out(target.pid, "-n", 3)
        equal(tables(target.pid), before, "tables")


def tables(pid):
    """Return the data of its private file mappings, by their lines in maps."""
    found = {}
    with open(f"/proc/{pid}/maps", encoding="utf-8") as maps, open(f"/proc/{pid}/mem", "rb") as mem:
        for line in maps:
            place, rights, *_, path = line.split(None, 5)
            start, end = (int(addr, 16) for addr in place.split("-"))
            if path.startswith("/") and rights in ("r--p", "rw-p") and "SYSV" not in path:
                mem.seek(start)
                found[line] = mem.read(end - start)
    return found


@test
def no_register_changes():
    with InjectTarget("registers") as target:
        put_in_and_out(target.pid, "-n", 5)
        target.check_goes_on()


@test
def sixteen_allocating_threads_keep_running():
    with InjectTarget("churn", 16) as target:
        for args in (("-n", 2), ("-n", 1, "-s", 0), ("-n", 1, "-s", 10000)):
            for cycle in put_in_and_out(target.pid, *args):
                check(cycle["open_paused_ns"] > 0, f"{cycle}")
        target.check_goes_on()


@test
def a_second_memstate_is_refused():
    with CountTarget() as target, Counting(target.pid) as counting:
        check(re.search(r"another memstate is counting it: process [0-9]+ \(",
                        is_refused(target.pid, errno.EBUSY)), "no reason")
        target.order(b"w")
        was_put_in(counting.end())


@test
def unsupported_processes_are_refused():
    own_malloc = os.path.join(os.environ["builddir"], "tests", "targets", "own_malloc_target")
    process = subprocess.Popen([own_malloc, "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        equal(process.stdout.readline(), b"ready\n", "the target's first line")
        reason = is_refused(process.pid, errno.EOPNOTSUPP, errno.ENOENT)
        check("malloc" in reason, reason)
    finally:
        process.stdin.close()
        process.kill()
        process.wait()
        process.stdout.close()
    with InjectTarget("filtered", "errno:9") as target:
        wait_until(lambda: target.is_in_call == 1, "the filter is installed")
        check("seccomp" in is_refused(target.pid, errno.EOPNOTSUPP), "no reason")
        target.check_whole()


@test
def a_signal_during_the_preparation_ends_memstate():
    with InjectTarget("call", "connect") as target:
        target.say(b"c")
        target.wait_until_parked()
        process = start_memstate("count", "--probe", "inject", "-p", target.pid)
        wait_until(lambda: status_field(process.pid, "Threads") != "1", "a thread attaches")
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate()
        equal((process.returncode, out, err), (128 + signal.SIGTERM, b"", b""), "status and output")
        target.check_whole()


@test
def other_allocators_are_supported():
    path = shutil.which("redis-server")
    libraries = subprocess.run(["ldconfig", "-p"], capture_output=True, text=True, check=False).stdout
    found = [line.split()[-1] for line in libraries.splitlines() if "libjemalloc.so" in line]
    if not found:
        raise Skip(f"no jemalloc ({path})")
    with CountTarget(1, env={**os.environ, "LD_PRELOAD": found[0], "COUNT_NO_PVALLOC": "1"}) as target:
        with Counting(target.pid) as counting:
            said = target.order(b"w")
            counts = counting.read()
            check("jemalloc" in counts["allocator"], counts["allocator"])
            equal(difference(dict.fromkeys(counts["sums"], 0), counts["sums"]), sums_of(said), "sums")
            target.order(b"d")
            wait_until(lambda: difference(counting.read()["sums"],
                                          turn(target, counting)).get("malloc") == 11,
                       "a library that is loaded is counted")
            was_put_in(counting.end())
        target.order(b"w")
        target.check_whole()


run()
