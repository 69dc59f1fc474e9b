# SPDX-License-Identifier: GPL-2.0-or-later
"""Threads in places where no function may be called are left alone.

Processes with another file system view or without more resources are entered,
or left unchanged.
"""

import errno
import os
import shutil
import signal
import subprocess

from inject_lib import (LOOKED_AT, TARGET, Cgroup, InjectTarget, check_same, end_tool, facts,
                        file_maps, is_refused, maps, put_in_and_out, start_tool, steps_of, tool,
                        was_put_in)
from live import IS_ROOT, Folder, Skip, as_nobody, check, equal, run, test, wait_until

PARKED = [("malloc", 1), ("lock-of-malloc", 1), ("handler-in-malloc", 2), ("poll-in-handler-in-malloc", 2),
          ("other-stack", 2), ("poll-on-other-stack", 2), ("constructor", 1), ("fork", 1)]


LATE_TRY = 20


def check_parked(place, stage):
    with InjectTarget("parked", place) as target:
        if "handler" in place:
            target.wait_until_parked(1)
            os.kill(target.pid, signal.SIGUSR1)
        target.wait_until_parked(stage)
        is_refused(target.pid, "-l", 100, wanted=(errno.EAGAIN,), steps=LOOKED_AT)
        equal(target.counters(), [0], "the thread continued too early")
        target.say(b"u")
        target.check_goes_on()
        put_in_and_out(target)
        target.check_goes_on()


@test
def threads_in_unsafe_places_are_left_alone():
    skipped = []
    for place, stage in PARKED:
        try:
            check_parked(place, stage)
        except Skip as skip:
            skipped.append(f"{place}: {skip}")
    if len(skipped) == len(PARKED):
        raise Skip("; ".join(skipped))


@test
def a_thread_that_leaves_malloc_late_is_waited_for():
    """Allow many more tries than fit into the first moments, within 5 seconds."""
    with InjectTarget("parked", "malloc") as target:
        target.wait_until_parked()
        process = start_tool(target.pid, "-l", 60000, "-t", LATE_TRY)
        equal(process.stdout.readline(), b"tried\n", "output after a late try")
        target.say(b"u")
        was_put_in(end_tool(process)[1][0])
        target.check_goes_on()


@test
def a_process_with_its_own_mounts_and_root():
    if not IS_ROOT:
        raise Skip("only root can change its root")
    with Folder() as folder, InjectTarget("rooted", folder) as target:
        equal(os.listdir(f"/proc/{target.pid}/root"), [], "root folder of the target")
        before = facts(target.pid)
        put_in_and_out(target, "-n", 3)
        check_same(before, facts(target.pid))
        target.check_goes_on()


def own_libraries(folder):
    """Return a command that runs the target with copies of its loader and libc
    in the folder."""
    with InjectTarget("still", 1) as target:
        paths = {line.split()[5].decode() for line in maps(target.pid) if b"/" in line}
    loader = [path for path in paths if os.path.basename(path).startswith("ld-linux")]
    libc = [path for path in paths if os.path.basename(path) == "libc.so.6"]
    if not loader or not libc:
        raise Skip("the loader or the libc of the target has another name")
    for path in loader + libc:
        shutil.copy(path, folder)
    return [os.path.join(folder, os.path.basename(loader[0])), "--library-path", folder, TARGET]


def check_other_libc(change):
    if not IS_ROOT:
        raise Skip("only root can open files of processes after their path is gone")
    with Folder() as folder:
        with InjectTarget("churn", 2, command=own_libraries(folder)) as target:
            change(os.path.join(folder, "libc.so.6"))
            check(any(b"libc.so.6 (deleted)" in line for line in maps(target.pid)), "not deleted")
            before = facts(target.pid, file_maps)
            put_in_and_out(target, "-n", 3)
            check_same(before, facts(target.pid, file_maps))
            target.check_goes_on()


@test
def a_process_whose_libc_was_deleted():
    check_other_libc(os.unlink)


@test
def a_process_whose_libc_was_replaced():
    def replace(path):
        with open(path + ".new", "wb") as f:
            f.write(b"\x7fELF" + bytes(4096))
        os.rename(path + ".new", path)
    check_other_libc(replace)


@test
def a_process_that_runs_out_of_address_space_at_each_step():
    with InjectTarget("still", 2) as target:
        put_in_and_out(target)
        before, own = facts(target.pid), target.order(b"s")
        failed = 0
        for step in range(1, len(steps_of(target)) + 1):
            cycle = tool(target.pid, "-r", step)[0]
            failed += cycle["open"] != 0
            check(cycle["open"] != 0 or cycle["close"] == 0, f"{cycle}")
            check_same(before, facts(target.pid))
            equal(target.order(b"s"), own, "figures of the target")
        check(failed, "it never ran out of address space: the test proves nothing")
        put_in_and_out(target)
        target.check_whole()


@test
def a_process_at_its_thread_limit():
    """As root, only a cgroup limits the number of threads."""
    popen = {"preexec_fn": as_nobody()} if IS_ROOT else {}
    command = shutil.which("prlimit")
    if not command:
        raise Skip("prlimit is not installed")
    with InjectTarget("still", 2, **popen) as target:
        before = facts(target.pid)
        subprocess.run([command, f"--pid={target.pid}", "--nproc=1:1"], check=True, **popen)
        cycle = tool(target.pid, **popen)[0]
        check(cycle["open"] != 0, f"open: {cycle}")
        check_same(before, facts(target.pid))
        target.check_whole()


@test
def a_process_at_the_thread_limit_of_its_cgroup():
    with Cgroup("pids", "pids.max", "pids.max") as cgroup, InjectTarget("still", 2) as target:
        before = facts(target.pid)
        cgroup.write("cgroup.procs", target.pid)
        cgroup.set(3)
        cycle = tool(target.pid)[0]
        check(cycle["open"] != 0, f"open: {cycle}")
        check_same(before, facts(target.pid))
        cgroup.set("max")
        put_in_and_out(target)
        check_same(before, facts(target.pid))
        target.check_whole()


@test
def a_frozen_process():
    with Cgroup("freezer", "freezer.state", "cgroup.freeze") as cgroup, InjectTarget("spin") as target:
        is_old = cgroup.file.endswith("state")
        cgroup.write("cgroup.procs", target.pid)
        cgroup.set("FROZEN" if is_old else 1)
        cycle = tool(target.pid, "-l", 300)[0]
        check(cycle["open"] != 0, f"open: {cycle}")
        cgroup.set("THAWED" if is_old else 0)
        target.check_goes_on()
        put_in_and_out(target)
        target.check_goes_on()


run()
