# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tests of leaks and explain share: the program that says what it leaked."""

import os
import subprocess

from live import Skip, status_field, wait_until

PROGRAM = os.path.join(os.environ["builddir"], "tests", "targets", "leak_target")


class LeakTarget:
    """A shape of tests/targets/leak_target, made and waiting for letters."""

    def __init__(self, shape, number, **popen):
        self.process = subprocess.Popen([PROGRAM, shape, str(number)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, **popen)
        self.truth = self.read_until(b"ready")
        self.pid = self.truth["pid"]
        # it cleans its stack before it waits
        wait_until(lambda: status_field(self.pid, "State").startswith("S"), "it waits")
        self.truth["direct_count"] = self.truth["direct"]
        self.truth["indirect_count"] = self.truth["indirect"]

    def read_until(self, word):
        said = {}
        for line in self.process.stdout:
            if line.strip() == word:
                return said
            key, value = line.split()
            said[key.decode()] = int(value)
        status = self.process.wait()
        error = self.process.stderr.read().decode().strip()
        if status == 77:
            raise Skip(error or "cannot be had here")
        raise AssertionError(f"target: status {status}: {error}")

    def word(self, addr):
        """What is in its memory there."""
        with open(f"/proc/{self.pid}/mem", "rb", buffering=0) as memory:
            memory.seek(addr)
            return int.from_bytes(memory.read(8), "little")

    def order(self, letter):
        self.process.stdin.write(letter)
        self.process.stdin.flush()
        return self.read_until(b"done")

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            pipe.close()
