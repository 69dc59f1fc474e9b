# SPDX-License-Identifier: GPL-2.0-or-later
"""A pseudo-terminal that runs memstate, for the tests of the screen."""

import fcntl
import os
import pty
import re
import resource
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

MEMSTATE = os.environ["MEMSTATE"]
LIMIT_S = 60  # only a hang takes this long
ENTER = b"\x1b[?1049h"
LEAVE = b"\x1b[?1049l"
CLEAR = b"\x1b[2J"
SHOW_CURSOR = b"\x1b[?25h"


# Tests must neither depend on the user's settings nor change them.
CONFIG = tempfile.TemporaryDirectory(prefix="memstate-config-")


class Failure(Exception):
    pass


def plain(output):
    """Return the output without the sequences that move the cursor or set colours."""
    text = re.sub(rb"\x1b\][^\x07\x1b]*(\x07|\x1b\\)", b"", output)
    text = re.sub(rb"\x1b\[[0-9;?]*[ -/]*[@-~]", b" ", text)
    text = re.sub(rb"\x1b[()][0-9A-B]|\x1b[=>78M]", b"", text)
    return re.sub(rb"\s+", b" ", text)


class Terminal:
    """A pseudo-terminal with memstate as the foreground program of its session."""

    def __init__(self, *args, term="xterm-256color", command=None, env=None):
        self.master, self.slave = pty.openpty()
        self.resize(24, 80)
        self.modes = termios.tcgetattr(self.slave)
        self.output = b""
        inherited = {name: value for name, value in os.environ.items()
                     if name not in ("COLUMNS", "COLORFGBG", "NO_COLOR")}
        env = {**inherited, "TERM": term, "LC_ALL": "C.UTF-8", "XDG_CONFIG_HOME": CONFIG.name,
               **(env or {})}
        self.process = subprocess.Popen(
            command or [MEMSTATE, *args], stdin=self.slave, stdout=self.slave,
            stderr=self.slave, env=env, preexec_fn=self.own_terminal)

    @staticmethod
    def own_terminal():
        os.setsid()
        # memstate would inherit signals ignored by nohup or in a background job
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        # crashes are intended here: write no core files
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    def resize(self, rows, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ,
                    struct.pack("HHHH", rows, columns, 0, 0))

    def pump(self, timeout):
        if select.select([self.master], [], [], timeout)[0]:
            try:
                self.output += os.read(self.master, 65536)
            except OSError:
                return False
        return True

    def wait_for(self, what, test):
        end = time.monotonic() + LIMIT_S
        while not test():
            if time.monotonic() > end:
                raise Failure(f"timed out waiting for {what}; the end of the output:\n"
                              f"{plain(self.output)[-1500:].decode(errors='replace')}")
            self.pump(0.05)

    def wait_for_text(self, text):
        """Wait for text in the output since the last mark()."""
        self.wait_for(repr(text), lambda: text.encode() in plain(self.output[self.start:]))

    def mark(self):
        self.start = len(self.output)

    start = 0

    def type(self, keys):
        """Send keys and ^L, so that memstate redraws the whole screen."""
        self.mark()
        os.write(self.master, keys + b"\x0c")

    def redraw(self):
        """Make memstate redraw the whole screen, and forget all output before that.

        The end of an earlier drawing may still be on its way.
        """
        self.type(b"")
        self.wait_for("a redraw", lambda: CLEAR in self.output[self.start:])
        self.start = self.output.index(CLEAR, self.start)

    def escape(self):
        """Send Esc and return once memstate has handled it.

        Output alone does not show that, because memstate also writes after a resize and
        at each sample. Keys are handled in order, so the help opens after Esc.
        """
        self.type(b"\x1bh")
        self.wait_for_text("everywhere")
        self.type(b"h")

    def wait_for_end(self):
        self.wait_for("the end", lambda: self.process.poll() is not None)
        while select.select([self.master], [], [], 0)[0] and self.pump(0):
            pass
        return self.process.returncode

    def check_restored(self):
        if termios.tcgetattr(self.slave) != self.modes:
            raise Failure("the terminal modes were not restored")
        if ENTER not in self.output:
            raise Failure("the alternate screen was never entered")
        if self.output.rfind(LEAVE) < self.output.rfind(ENTER):
            raise Failure("the alternate screen was not left")
        if self.output.rfind(SHOW_CURSOR) < self.output.rfind(b"\x1b[?25l"):
            raise Failure("the cursor is hidden")
        if self.output.rfind(b"\x1b[?1000l") < self.output.rfind(b"\x1b[?1000h"):
            raise Failure("mouse reporting is still on")

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.master)
        os.close(self.slave)


def has_terminals():
    try:
        os.close(os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY))
    except OSError as error:
        print(f"no pseudo-terminal available: {error}", file=sys.stderr)
        return False
    return True
