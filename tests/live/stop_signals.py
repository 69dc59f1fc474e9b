# SPDX-License-Identifier: GPL-2.0-or-later
"""memstate releases a held process before a signal stops memstate itself."""

import contextlib
import json
import os
import resource
import signal
import time

from live import (OrderedTarget, as_nobody, check, end_started, equal, memstate, run,
                  start_memstate, status_field, test, wait_until)

PROGRAM = os.path.join(os.environ["builddir"], "tests", "targets", "gap_target")
TRIES = 20
RELEASED_SECONDS = 20  # without the watchdog, the stop lasts until something continues memstate
GAP_MS_MAX = 3000
HEAP_KIB = 200 * 1024  # of gap_target, about


@contextlib.contextmanager
def gap_target():
    """Yield a target; end memstate first, since a process with a stopped tracer
    cannot be reaped."""
    with OrderedTarget([PROGRAM]) as target:
        try:
            yield target
        finally:
            end_started()


def become_a_job():
    """Act like a shell job: the kernel ignores SIGTSTP in an orphaned process group."""
    os.setpgrp()
    signal.signal(signal.SIGTSTP, signal.SIG_DFL)


def state(pid):
    text = status_field(pid, "State")
    return text[0] if text else None


def is_held(target):
    return state(target.pid) == "t"


def wait_for_hold(target, process):
    """Return False if memstate ends first."""
    while process.poll() is None:
        if is_held(target):
            return True
    return False


def send_during_hold(target, command, number):
    """Start memstate and send it the signal while it holds the process. Return memstate."""
    for _ in range(TRIES):
        process = start_memstate(*command, "-p", target.pid, "-J", "--max-pause", "15s",
                                 preexec_fn=become_a_job)
        if wait_for_hold(target, process):
            process.send_signal(number)
            if number == signal.SIGSTOP:
                wait_until(lambda: state(process.pid) == "T", "memstate is stopped")
            if is_held(target):
                return process
        process.send_signal(signal.SIGCONT)
        process.communicate()
    raise AssertionError("the signal never arrived while memstate held the process")


def check_release(target, process):
    """Check that the process runs before memstate stops, and that
    memstate continues afterwards."""
    end = time.monotonic() + RELEASED_SECONDS
    while is_held(target) or state(process.pid) != "T":
        check(time.monotonic() < end, f"after {RELEASED_SECONDS} seconds the process is in state "
              f"{state(target.pid)}, memstate in state {state(process.pid)}")
        time.sleep(0.001)
    gap_ms = target.order(b"g")["gap_ms"]
    check(gap_ms < GAP_MS_MAX, f"the process was stopped for {gap_ms} ms")
    equal(state(process.pid), "T", "state of memstate afterwards")
    process.send_signal(signal.SIGCONT)
    out, err = process.communicate()
    equal(process.returncode, 0, f"status of memstate ({err!r})")
    equal(json.loads(out)["problem"], None, "problem")


def check_signal(number):
    with gap_target() as target:
        for command in (["heap"], ["leaks"]):
            target.order(b"g")
            check_release(target, send_during_hold(target, command, number))


@test
def ctrl_z_takes_effect_after_the_release():
    check_signal(signal.SIGTSTP)


@test
def the_watchdog_ends_a_stop_that_nothing_can_defer():
    check_signal(signal.SIGSTOP)


@test
def a_continued_memstate_forgets_the_stop_that_it_deferred():
    with gap_target() as target:
        for _ in range(TRIES):
            process = send_during_hold(target, ["leaks"], signal.SIGTSTP)
            process.send_signal(signal.SIGCONT)
            if is_held(target):
                break
            process.send_signal(signal.SIGKILL)
            process.communicate()
        else:
            raise AssertionError("SIGCONT never arrived while memstate held the process")
        process.communicate(timeout=RELEASED_SECONDS)
        equal(process.returncode, 0, "status of memstate")


@test
def a_limit_on_processes_is_given_as_the_reason():
    """The watchdog and the tracing thread count as processes. Root is exempt from RLIMIT_NPROC."""
    become = as_nobody()

    def become_limited():
        become()
        resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))

    with OrderedTarget([PROGRAM], preexec_fn=become) as target:
        target.order(b"g")
        result = memstate("heap", "-p", target.pid, preexec_fn=become_limited).must_be(1)
        check("may not start another process or thread" in result.errors()[0], result.err)


def find_watchdogs(parent):
    found = []
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and status_field(name, "Name") == "memstate-watch" and \
                    status_field(name, "PPid") == str(parent):
                found.append(name)
        except OSError:
            pass  # the process has ended
    return found


@test
def the_watchdog_ends_with_memstate():
    with gap_target() as target:
        process = send_during_hold(target, ["leaks"], signal.SIGSTOP)
        # a watchdog that has just been started has no name yet, and all descriptors
        wait_until(lambda: find_watchdogs(process.pid), "the watchdog has its name")
        found = find_watchdogs(process.pid)
        equal(len(found), 1, "number of watchdogs")
        wait_until(lambda: len(os.listdir(f"/proc/{found[0]}/fd")) == 6,
                   "the watchdog has 6 descriptors")
        rss_kib = int(status_field(found[0], "VmRSS").split()[0])
        check(rss_kib < HEAP_KIB // 2, f"the watchdog keeps a copy of the heap: {rss_kib} KiB")
        process.kill()
        process.communicate()  # ends although the watchdog has memstate's output open
        wait_until(lambda: not os.path.exists(f"/proc/{found[0]}") or state(found[0]) in "ZX",
                   "the watchdog has ended")
        wait_until(lambda: not is_held(target), "the process is released")


run()
