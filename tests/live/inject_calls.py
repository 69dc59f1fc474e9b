# SPDX-License-Identifier: GPL-2.0-or-later
"""Injecting and removing the helper does not disturb a thread that waits in a system
call: the call returns the same result, no earlier than before."""

import concurrent.futures
import errno
import os
import signal

from inject_lib import InjectTarget, put_in_and_out, steps_of, tool
from live import Skip, check, equal, run, test, wait_until

TIMED = ["nanosleep", "clock_nanosleep", "futex", "poll", "ppoll", "select", "epoll_wait",
         "epoll_pwait", "recv", "semop", "sigtimedwait"]
ENDLESS = ["futex", "poll", "ppoll", "select", "epoll_wait", "epoll_pwait", "read", "recv", "accept",
           "connect", "semop", "msgrcv", "flock", "wait4", "sigtimedwait", "sigsuspend", "pause"]
SIGNALLED = ["pause", "read", "poll", "epoll_wait", "futex", "nanosleep:100000", "sigsuspend",
             "recv", "accept", "wait4", "select", "sigtimedwait"]
IDLE = ["read", "futex", "nanosleep:100000", "clock_nanosleep:100000", "poll:100000", "select:100000", "msgrcv", "flock"]
SLACK_US = 1000  # tolerance of the clock


def all_of(check_one, names):
    """Check all names in parallel, since they mostly sleep; leave out calls
    not available here."""
    left_out = []
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        for name, done in [(name, pool.submit(check_one, name)) for name in names]:
            try:
                done.result()
            except Skip as skip:
                left_out.append(f"{name}: {skip}")
            except Exception as e:
                raise AssertionError(f"{name}: {e}") from e
    if len(left_out) == len(names):
        raise Skip("; ".join(left_out))


def begin(target):
    target.say(b"c")
    target.wait_until_parked()


def answer(said):
    return said["failed"], said["value"], said["errno"]


def put_in(target, *args):
    """Try to inject the helper; EAGAIN means that the thread's call must
    not be interrupted."""
    cycle = tool(target.pid, "-l", 300, *args)[0]
    check(-cycle["open"] in (0, errno.EAGAIN), f"open: {cycle}")
    if cycle["open"] == 0:
        equal(cycle["close"], 0, f"close: {cycle}")
    return cycle["open"] == 0


def check_endless(name):
    with InjectTarget("call", name) as target:
        begin(target)
        target.say(b"w")
        wanted = answer(target.read_until(b"done"))
    with InjectTarget("call", name) as target:
        begin(target)
        for _ in range(3):
            put_in(target)
            equal(target.is_in_call, 1, "is in call")
        target.say(b"w")
        equal(answer(target.read_until(b"done")), wanted, "result of the call")
        target.check_whole()


def check_timed(name, milliseconds=600):
    with InjectTarget("call", f"{name}:50") as target:
        wanted = answer(target.order(b"c"))
    with InjectTarget("call", f"{name}:{milliseconds}") as target:
        begin(target)
        put_in(target)
        in_time = target.is_in_call == 1
        said = target.read_until(b"done")
        equal(answer(said), wanted, "result of the call")
        check(said["elapsed_us"] >= milliseconds * 1000 - SLACK_US, f"too early: {said}")
        target.check_whole()
    if not in_time:  # on a busy machine the call returned before the injection
        check(milliseconds < 60000, "never injected before the call returned")
        check_timed(name, milliseconds * 4)


def answer_to_signal(target):
    """Return the result after the handler has run; if the call still waits, provide what
    it waits for."""
    wait_until(lambda: target.counters()[0] > 0, "the signal is handled")
    if target.process.args[2].find(":") < 0:
        target.say(b"w")
    return answer(target.read_until(b"done"))


def check_signalled(case):
    """Send a signal at one step of the injection; signal(7) lists the calls that restart
    after a handler."""
    name, number, step = case
    with InjectTarget("call", name) as target:
        begin(target)
        os.kill(target.pid, number)
        wanted = answer_to_signal(target)
    with InjectTarget("call", name) as target:
        begin(target)
        if put_in(target, "-s", f"{step}:{number}"):
            equal(answer_to_signal(target), wanted, "result of the call")
        target.check_whole()


def step_count():
    with InjectTarget("call", "read") as target:
        return len(steps_of(target))


@test
def calls_that_wait_for_an_event():
    all_of(check_endless, ENDLESS)


@test
def stale_return_addresses_into_malloc_do_not_prevent_injection():
    """Injection must work where only the call stack can prove that the thread is
    not in malloc()."""
    for name in IDLE:
        with InjectTarget("idle", name) as target:
            begin(target)
            for cycle in put_in_and_out(target, "-n", 2):
                equal(cycle["open_in_main"], 1, f"{name}: injected through the main thread")
            equal(target.is_in_call, 1, "is in call")
            target.check_whole()


@test
def a_signal_handler_does_not_prevent_injection():
    with InjectTarget("idle", "handler") as target:
        target.wait_until_parked()
        put_in_and_out(target, "-n", 2)
        target.say(b"u")
        target.check_goes_on()


@test
def calls_with_a_timeout():
    all_of(check_timed, TIMED)


@test
def signals_during_the_injection_have_the_same_effect():
    count = step_count()
    all_of(check_signalled, [(name, number, 1 + (3 * i + number) % count)
                             for i, name in enumerate(SIGNALLED)
                             for number in (signal.SIGUSR1, signal.SIGALRM)])


run()
