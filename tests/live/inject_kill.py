# SPDX-License-Identifier: GPL-2.0-or-later
"""memstate is killed while it injects or removes the helper. The target must keep
running, accept another injection, and retain little memory.

Here each step is hit once; "make stress-inject" hits each step in each kind of target.
"""

import ctypes
import itertools
import os
import signal
import time

from inject_lib import (KINDS, InjectTarget, KillTarget, check_same, end_tool, facts, maps,
                        put_in_and_out, start_holding, start_tool, steps_of, threads, was_put_in)
from live import check, read_proc, run, test, wait_until


def step_count():
    with KillTarget(*KINDS[0]) as target:
        return len(steps_of(target))


@test
def memstate_is_killed_at_each_step():
    for step, kind in zip(range(1, step_count() + 1), itertools.cycle(KINDS)):
        with KillTarget(*kind) as target:
            target.kill_at(step)


@test
def a_target_stopped_at_each_step_continues():
    for step in range(1, step_count() + 1):
        with KillTarget("spin", 0) as target:
            process = start_tool(target.pid, "-s", f"{step}:{int(signal.SIGSTOP)}")
            while process.poll() is None:
                os.kill(target.pid, signal.SIGCONT)
                time.sleep(0.01)
            was_put_in(end_tool(process)[1][0])
            os.kill(target.pid, signal.SIGCONT)
            target.check_as_before()
            target.check_left_over()


class Page:
    """The page in System V shared memory through which a helper answers."""

    IDLE_MS = 0x30  # offset of the idle time in the page, see agent/helper/abi.h

    def __init__(self, pid):
        (line,) = [line for line in maps(pid) if b"/SYSV" in line and b" rw-s " in line]
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.libc.shmat.restype = ctypes.c_void_p
        self.addr = self.libc.shmat(int(line.split()[4]), None, 0)
        check(self.addr != ctypes.c_void_p(-1).value, os.strerror(ctypes.get_errno()))

    def write(self, offset, value):
        ctypes.c_uint32.from_address(self.addr + offset).value = value

    def leave(self):
        self.libc.shmdt(ctypes.c_void_p(self.addr))


@test
def an_idle_helper_exits():
    with InjectTarget("still", 2) as target:
        before = facts(target.pid)
        process = start_holding(target.pid)
        page = Page(target.pid)
        page.write(Page.IDLE_MS, 50)
        page.leave()
        process.kill()
        end_tool(process)
        # the helper sleeps for the time set before; a query shortens that, and another
        # client may be busy
        for _ in range(5):
            put_in_and_out(target)
        wait_until(lambda: threads(target.pid) == before["threads"], "the helper has exited")
        target.check_whole()
        put_in_and_out(target)  # removes the remains
        check_same(before, facts(target.pid))


@test
def a_helper_survives_the_kill_of_its_client():
    with InjectTarget("chunks", 1000000) as target:
        seen = threads(target.pid)
        process = start_tool(target.pid, "-q", 2)
        wait_until(lambda: process.poll() is not None or is_at_work(target.pid, seen),
                   "the helper is queried")
        process.kill()
        end_tool(process)
        target.check_goes_on()
        put_in_and_out(target)
        target.check_goes_on()


def is_at_work(pid, others):
    for tid in set(threads(pid)) - set(others):
        try:
            return b") R " in read_proc(f"{pid}/task/{tid}", "stat")
        except OSError:
            pass
    return False


run()
