# SPDX-License-Identifier: GPL-2.0-or-later
"""Helpers for the tests of leaks and explain: the program that reports what it leaked."""

import os

from live import OrderedTarget, wait_until

PROGRAM = os.path.join(os.environ["builddir"], "tests", "targets", "leak_target")
PAUSE = "34"  # the number of pause(2) on x86-64


class LeakTarget(OrderedTarget):
    """A shape of tests/targets/leak_target, set up and waiting for commands."""

    def __init__(self, shape, number, **popen):
        super().__init__([PROGRAM, shape, str(number)], **popen)
        self.truth["direct_count"] = self.truth["direct"]
        self.truth["indirect_count"] = self.truth["indirect"]
        if shape in ("stacks", "stale"):
            wait_until(self.has_paused, "each thread in pause()")

    def has_paused(self):
        """Whether each other thread is in pause(). A thread that has not left the barrier yet
        has frames with words of earlier calls in them, such as the address of a block."""
        calls = []
        for tid in os.listdir(f"/proc/{self.pid}/task"):
            if int(tid) != self.pid:
                with open(f"/proc/{self.pid}/task/{tid}/syscall") as f:
                    calls.append(f.read().split()[0])
        return all(call == PAUSE for call in calls)

    def word(self, addr):
        """Return the word at this address of the target's memory."""
        with open(f"/proc/{self.pid}/mem", "rb", buffering=0) as memory:
            memory.seek(addr)
            return int.from_bytes(memory.read(8), "little")
