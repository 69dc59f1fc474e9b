# SPDX-License-Identifier: GPL-2.0-or-later
"""Helpers for the tests of leaks and explain: the program that reports what it leaked."""

import os

from live import OrderedTarget

PROGRAM = os.path.join(os.environ["builddir"], "tests", "targets", "leak_target")


class LeakTarget(OrderedTarget):
    """A shape of tests/targets/leak_target, set up and waiting for commands."""

    def __init__(self, shape, number, **popen):
        super().__init__([PROGRAM, shape, str(number)], **popen)
        self.truth["direct_count"] = self.truth["direct"]
        self.truth["indirect_count"] = self.truth["indirect"]

    def word(self, addr):
        """Return the word at this address of the target's memory."""
        with open(f"/proc/{self.pid}/mem", "rb", buffering=0) as memory:
            memory.seek(addr)
            return int.from_bytes(memory.read(8), "little")
