# SPDX-License-Identifier: GPL-2.0-or-later
"""A process that is stopped for a heap walk continues as if nothing had happened."""

import errno
import json
import os
import random
import signal
import subprocess
import threading
import time

from heap_lib import NO_HURRY, HeapTarget, check_target, read_heap
from inject_lib import FOLDER
from live import (MIB, Skip, Traced, check, equal, memstate, read_proc, run, start_memstate,
                  status_field, test, wait_until)

RESTARTED = ["nanosleep", "clock_nanosleep", "futex", "read", "poll", "select", "recv", "accept",
             "waitpid"]
# signal(7): these fail with EINTR after any stop; without a timeout, memstate restarts them.
ENDLESS = ["endless_epoll_wait", "endless_epoll_pwait", "endless_sigtimedwait",
           "endless_io_getevents", "semop"]
INTERRUPTED = ["epoll_wait", "sigtimedwait", "recv_in_time"]

WALKS = 10
PRE_COPY_TOOL = os.path.join(FOLDER, "pre_copy_tool")


def walk(pid):
    memstate("heap", "-p", pid, *NO_HURRY).must_be(0)


def is_released(pid):
    return all(b"\nTracerPid:\t0\n" in read_proc(f"{pid}/task/{tid}", "status") and
               read_proc(f"{pid}/task/{tid}", "stat").rsplit(b")", 1)[1].split()[0] != b"t"
               for tid in os.listdir(f"/proc/{pid}/task"))


class HeldTarget(HeapTarget):
    def __init__(self, *args):
        super().__init__(*args, program="held_target")

    def __exit__(self, *unused):
        self.process.stdin.close()  # the target cleans up, then exits
        try:
            self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            pass
        super().__exit__()


@test
def waiting_system_calls_continue_or_fail_with_eintr():
    with HeldTarget("sleeps", 0) as target:
        for _ in range(WALKS):
            walk(target.pid)
        said = target.order(b"i")
        for name in RESTARTED + ENDLESS + ["other"]:
            equal(said[name], 0, name)
        for name in INTERRUPTED:
            check(said[name] <= WALKS, f"{name}: {said[name]}")


@test
def endless_waits_continue_after_a_copy_before_the_pause():
    with HeldTarget("sleeps", 0) as target:
        command = [PRE_COPY_TOOL, "-n", str(WALKS), str(target.pid)]
        result = subprocess.run(command, stdout=subprocess.PIPE, check=False)
        tries = [json.loads(line)["result"] for line in result.stdout.splitlines()]
        if tries and set(tries) <= {-errno.EINVAL, -errno.ENOSYS, -errno.EPERM, -errno.EOPNOTSUPP}:
            raise Skip(f"the kernel does not track writes: {tries}")
        check(0 in tries, f"no copy was made: {tries}")
        said = target.order(b"i")
        for name in RESTARTED + ENDLESS + ["other"]:
            equal(said[name], 0, name)


@test
def no_queued_signal_is_lost_or_late():
    count = 100000
    with HeldTarget("signals", count) as target:
        said = {}
        sender = threading.Thread(target=lambda: said.update(target.order(b"g")))
        sender.start()
        generator = random.Random(1)
        walks = 0
        while sender.is_alive():
            process = start_memstate("heap", "-p", target.pid)
            if generator.random() < 0.5:
                time.sleep(generator.random() * 0.02)
                process.kill()  # possibly in the middle of a walk
            process.communicate()
            walks += 1
        sender.join()
        equal(said, {"received": count, "misplaced": 0}, "signals")
        check(walks > 1, "it was not walked: the test proves nothing")


@test
def the_target_continues_however_memstate_ends():
    with HeapTarget("threads", 12) as target:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGSEGV, signal.SIGABRT,
                       signal.SIGKILL):
            seen_stopped = False
            for i in range(12):
                process = start_memstate("heap", "-p", target.pid)
                while process.poll() is None:
                    if status_field(target.pid, "TracerPid") != "0":
                        seen_stopped = True
                        time.sleep(0.0002 * i)
                        break
                process.send_signal(number)
                process.communicate()
                wait_until(lambda: is_released(target.pid), "the target is released")
            check(seen_stopped, f"never stopped in the middle of a walk: {number}")
        target.order(b"i")
        check_target(target)


@test
def a_stopped_target_stays_stopped_and_its_parent_is_not_notified():
    options = os.WSTOPPED | os.WCONTINUED | os.WNOHANG
    with HeapTarget("fragmented", 4) as target:
        os.kill(target.pid, signal.SIGSTOP)
        equal(os.waitid(os.P_PID, target.pid, os.WSTOPPED).si_status, signal.SIGSTOP, "stop")
        for _ in range(WALKS):
            equal(read_heap(target.pid)["heap_quality"], "exact", "quality")
            # the process changes from ptrace stop to group stop without
            # running in between
            wait_until(lambda: status_field(target.pid, "State").startswith("T (stopped)"),
                       "the process is stopped again")
            equal(os.waitid(os.P_PID, target.pid, options), None, "wait status reported to its parent")
        os.kill(target.pid, signal.SIGCONT)
        wait_until(lambda: os.waitid(os.P_PID, target.pid, options),
                   "its parent is notified that it continues")
        check_target(target)


class MemoryCgroup:
    """A cgroup, version 1 or 2, with a memory limit; skips the test if it
    cannot be made."""

    PLACES = (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max"))

    def __init__(self, limit):
        self.path = None
        for parent, file in self.PLACES:
            path = os.path.join(parent, f"memstate-test-{os.getpid()}")
            try:
                os.mkdir(path)
                with open(os.path.join(path, file), "w", encoding="ascii") as f:
                    f.write(str(limit))
                self.path = path
                return
            except OSError:
                if os.path.isdir(path):
                    os.rmdir(path)
        raise Skip("no cgroup with a memory limit can be created")

    def join(self):
        with open(os.path.join(self.path, "cgroup.procs"), "w", encoding="ascii") as f:
            f.write("0")

    def __enter__(self):
        return self

    def is_removed(self):
        try:
            os.rmdir(self.path)
        except OSError:  # processes in it are still exiting
            return False
        return True

    def __exit__(self, *unused):
        wait_until(self.is_removed, "the cgroup is empty")


@test
def a_copy_that_does_not_fit_into_the_cgroup_is_refused():
    with MemoryCgroup(128 * MIB) as cgroup, HeapTarget("fragmented", 150) as target:
        result = memstate("heap", "-p", target.pid, *NO_HURRY, preexec_fn=cgroup.join).must_be(1)
        check(b"the copy requires " in result.err and b"cgroup" in result.err, result.err)
        equal(result.out, b"", "output")
        equal(status_field(target.pid, "TracerPid"), "0", "tracer")
        walk(target.pid)  # outside the cgroup there is room


@test
def a_traced_process_is_refused():
    with HeapTarget("nothing", 0) as target:
        with Traced(target.pid) as tracer:
            result = memstate("heap", "-p", target.pid).must_be(1)
            check(b"another tracer" in result.err, result.err)
            equal(status_field(target.pid, "TracerPid"), str(tracer), "tracer")


run()
