# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tests of leaks and explain share: the program that says what it leaked."""

import os

from live import OrderedTarget

PROGRAM = os.path.join(os.environ["builddir"], "tests", "targets", "leak_target")


class LeakTarget(OrderedTarget):
    """A shape of tests/targets/leak_target, made and waiting for letters."""

    def __init__(self, shape, number, **popen):
        super().__init__([PROGRAM, shape, str(number)], **popen)
        self.truth["direct_count"] = self.truth["direct"]
        self.truth["indirect_count"] = self.truth["indirect"]

    def word(self, addr):
        """What is in its memory there."""
        with open(f"/proc/{self.pid}/mem", "rb", buffering=0) as memory:
            memory.seek(addr)
            return int.from_bytes(memory.read(8), "little")
