# SPDX-License-Identifier: GPL-2.0-or-later
"""A read of a terminal continues after a stop for a heap walk: in the foreground,
and in a background process group that SIGTTIN stopped."""

import contextlib
import os
import pty
import select
import sys

from heap_lib import NO_HURRY
from live import TIMEOUT, check, equal, memstate, run, status_field, test, wait_until

WALKS = 10

# The session leader moves its child to the foreground when told so. The child reads the
# terminal once, with read(2) of libc, which does not repeat an interrupted call.
LEADER = """
import ctypes, os, signal, sys
answers, orders, is_background = (int(word) for word in sys.argv[1:])
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
libc = ctypes.CDLL(None, use_errno=True)
ready = os.pipe()
child = os.fork()
if child == 0:
    os.setpgid(0, 0)
    os.read(ready[0], 1)
    buffer = ctypes.create_string_buffer(100)
    os.write(answers, b"%d\\n" % os.getpid())
    count = libc.read(0, buffer, 100)
    os.write(answers, b"%d %d %s\\n" % (count, ctypes.get_errno(), buffer.value.strip()))
    os._exit(0)
try:
    os.setpgid(child, child)
except OSError:
    pass
if not is_background:
    os.tcsetpgrp(0, child)
os.write(ready[1], b"x")
while os.read(orders, 1) == b"f":
    os.tcsetpgrp(0, child)
    os.kill(child, signal.SIGCONT)
os.kill(child, signal.SIGKILL)
os.waitpid(child, 0)
"""


def read_line(fd):
    line = b""
    while not line.endswith(b"\n"):
        check(select.select([fd], [], [], TIMEOUT)[0], f"no answer after {line}")
        part = os.read(fd, 1)
        check(part, f"the target has ended after {line}")
        line += part
    return line.decode().split()


@contextlib.contextmanager
def reading_target(is_background):
    """Yield the target's pid, and descriptors of the terminal, the answers and orders."""
    answers, orders = os.pipe(), os.pipe()
    for fd in (answers[1], orders[0]):
        os.set_inheritable(fd, True)
    leader, terminal = pty.fork()
    if leader == 0:
        os.execv(sys.executable, [sys.executable, "-c", LEADER, str(answers[1]), str(orders[0]),
                                  str(int(is_background))])
    os.close(answers[1])
    os.close(orders[0])
    try:
        yield int(read_line(answers[0])[0]), terminal, answers[0], orders[1]
    finally:
        os.close(orders[1])
        os.waitpid(leader, 0)
        os.close(answers[0])
        os.close(terminal)


def is_in_state(pid, state):
    return status_field(pid, "State").startswith(state)


def is_in_read(pid):
    with open(f"/proc/{pid}/syscall", encoding="ascii") as file:
        return file.read().startswith("0 0x0 ")  # on x86-64, like heap walks


def walk(pid):
    memstate("heap", "-p", pid, *NO_HURRY).must_be(0)


@test
def a_read_of_the_terminal_continues():
    with reading_target(False) as (pid, terminal, answers, _):
        wait_until(lambda: is_in_read(pid), "the target waits")
        for _ in range(WALKS):
            walk(pid)
            equal(select.select([answers], [], [], 0)[0], [], "the read returned")
        os.write(terminal, b"typed\n")
        equal(read_line(answers), ["6", "0", "typed"], "bytes, errno, and text")


@test
def a_reader_in_the_background_stays_stopped_and_reads_in_the_foreground():
    with reading_target(True) as (pid, terminal, answers, orders):
        wait_until(lambda: is_in_state(pid, "T (stopped)"), "SIGTTIN stops the target")
        for _ in range(WALKS):
            walk(pid)
            # the process changes from ptrace stop to group stop without running in between
            wait_until(lambda: is_in_state(pid, "T (stopped)"), "it is stopped again")
        equal(select.select([answers], [], [], 0)[0], [], "the read returned")
        os.write(orders, b"f")
        wait_until(lambda: is_in_state(pid, "S"), "SIGCONT continues the target")
        walk(pid)
        os.write(terminal, b"typed\n")
        equal(read_line(answers), ["6", "0", "typed"], "bytes, errno, and text")


run()
