#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The screen on a real terminal: keys work, a resize is followed, and the terminal is as it was on
every way out."""

import fcntl
import mmap
import os
import pty
import re
import resource
import select
import signal
import struct
import subprocess
import sys
import termios
import time

MEMSTATE = os.environ["MEMSTATE"]
LIMIT_S = 20
ENTER = b"\x1b[?1049h"
LEAVE = b"\x1b[?1049l"
SHOW_CURSOR = b"\x1b[?25h"


class Failure(Exception):
    pass


def plain(output):
    """What was written, without the sequences that move and colour."""
    text = re.sub(rb"\x1b\][^\x07\x1b]*(\x07|\x1b\\)", b"", output)
    text = re.sub(rb"\x1b\[[0-9;?]*[ -/]*[@-~]", b" ", text)
    text = re.sub(rb"\x1b[()][0-9A-B]|\x1b[=>78M]", b"", text)
    return re.sub(rb"\s+", b" ", text)


class Terminal:
    """A pseudo terminal with memstate in it, as its session's foreground program."""

    def __init__(self, *args, term="xterm-256color", command=None):
        self.master, self.slave = pty.openpty()
        self.resize(24, 80)
        self.modes = termios.tcgetattr(self.slave)
        self.output = b""
        env = dict(os.environ, TERM=term, LC_ALL="C.UTF-8")
        env.pop("COLUMNS", None)
        self.process = subprocess.Popen(
            command or [MEMSTATE, *args], stdin=self.slave, stdout=self.slave,
            stderr=self.slave, env=env, preexec_fn=self.own_terminal)

    @staticmethod
    def own_terminal():
        os.setsid()
        # ignored after nohup or in a shell's background, and then by memstate too
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        # a crash here is meant: no core file of it
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
                raise Failure(f"waited in vain for {what}; the end of what came:\n"
                              f"{plain(self.output)[-1500:].decode(errors='replace')}")
            self.pump(0.05)

    def wait_for_text(self, text):
        """From what comes from now on, or came since the last mark()."""
        self.wait_for(repr(text), lambda: text.encode() in plain(self.output[self.start:]))

    def mark(self):
        self.start = len(self.output)

    start = 0

    def type(self, keys):
        """And ^L, so that all of the screen comes and not what has changed alone."""
        self.mark()
        os.write(self.master, keys + b"\x0c")

    def escape(self):
        """A key that is no sequence yet when nothing follows it; ^L comes when it was taken."""
        self.mark()
        os.write(self.master, b"\x1b")
        self.wait_for("an answer", lambda: len(self.output) > self.start)
        self.type(b"")

    def wait_for_end(self):
        self.wait_for("the end", lambda: self.process.poll() is not None)
        while select.select([self.master], [], [], 0)[0] and self.pump(0):
            pass
        return self.process.returncode

    def check_restored(self):
        if termios.tcgetattr(self.slave) != self.modes:
            raise Failure("the modes of the terminal are not as they were")
        if ENTER not in self.output:
            raise Failure("the alternate screen was never entered")
        if self.output.rfind(LEAVE) < self.output.rfind(ENTER):
            raise Failure("the alternate screen was not left")
        if self.output.rfind(SHOW_CURSOR) < self.output.rfind(b"\x1b[?25l"):
            raise Failure("the cursor is hidden")
        if self.output.rfind(b"\x1b[?1000l") < self.output.rfind(b"\x1b[?1000h"):
            raise Failure("the mouse still reports")

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.master)
        os.close(self.slave)


def is_sanitized():
    """Then a crash ends in the sanitizer's report."""
    with open(MEMSTATE, "rb") as program:
        return b"__asan_init" in program.read()


def end_by(number):
    terminal = Terminal("-p", str(os.getpid()))
    try:
        terminal.wait_for_text("F10 Quit")
        terminal.process.send_signal(number)
        status = terminal.wait_for_end()
        terminal.check_restored()
        return status
    finally:
        terminal.close()


def q_restores_the_terminal():
    terminal = Terminal()
    try:
        terminal.wait_for_text("F10 Quit")
        terminal.type(b"q")
        if terminal.wait_for_end() != 0:
            raise Failure(f"ended with {terminal.process.returncode}")
        terminal.check_restored()
    finally:
        terminal.close()


def term_int_and_hup_restore_the_terminal():
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        status = end_by(number)
        if status != 0:
            raise Failure(f"signal {number}: ended with {status}")


def a_terminal_that_goes_away_ends_it():
    terminal = Terminal()
    try:
        terminal.wait_for_text("F10 Quit")
        os.close(terminal.master)
        os.close(terminal.slave)
        try:
            terminal.process.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            raise Failure("it goes on without a terminal") from None
    finally:
        if terminal.process.poll() is None:
            terminal.process.kill()
            terminal.process.wait()


def crashes_restore_the_terminal_and_stay_crashes():
    for number in (signal.SIGABRT, signal.SIGSEGV, signal.SIGQUIT):
        status = end_by(number)
        if not is_sanitized() and status != -number:
            raise Failure(f"signal {number}: ended with {status}")


def want_of_memory_restores_the_terminal():
    if is_sanitized():
        return  # its allocator has ways of its own
    # a read of the heap would leave room behind
    terminal = Terminal("-i", "100ms", "--heap", "off", "-p", str(os.getpid()))
    maps = []
    try:
        terminal.wait_for_text("F10 Quit")
        resource.prlimit(terminal.process.pid, resource.RLIMIT_AS, (1, 1))
        # neighbours that differ cannot become one mapping: a list that memstate has no room for
        for i in range(8000):
            access = mmap.PROT_READ | (mmap.PROT_WRITE if i % 2 else 0)
            maps.append(mmap.mmap(-1, mmap.PAGESIZE, prot=access))
        status = terminal.wait_for_end()
        if status != 1 or b"out of memory" not in terminal.output:
            raise Failure(f"ended with {status}, and not for want of memory")
        terminal.check_restored()
    finally:
        terminal.close()
        for one in maps:
            one.close()


def control_c_is_an_end():
    terminal = Terminal()
    try:
        terminal.wait_for_text("F10 Quit")
        terminal.type(b"\x03")
        terminal.wait_for_end()
        terminal.check_restored()
    finally:
        terminal.close()


def keys_go_from_view_to_view():
    # two that do not end meanwhile
    terminal = Terminal("-p", f"{os.getpid()},{os.getppid()}")
    try:
        terminal.wait_for_text("F10 Quit")
        terminal.type(b"\r")
        terminal.wait_for_text("memstate process ")
        terminal.type(b"\t")
        terminal.wait_for_text("ADDRESS")
        terminal.escape()
        terminal.wait_for_text("beside")
        terminal.type(b"\x1bOP")
        terminal.wait_for_text("everywhere")
        terminal.escape()
        terminal.wait_for_text("beside")
        terminal.type(b"\x1b[21~")
        terminal.wait_for_end()
        terminal.check_restored()
    finally:
        terminal.close()


def a_resize_is_followed():
    terminal = Terminal()
    try:
        terminal.wait_for_text("F10 Quit")
        terminal.mark()
        terminal.resize(5, 30)
        terminal.wait_for_text("too small")
        terminal.mark()
        terminal.resize(50, 160)
        terminal.wait_for_text("Z Pause")
        terminal.type(b"q")
        terminal.wait_for_end()
        terminal.check_restored()
    finally:
        terminal.close()


def a_command_is_watched_and_its_output_kept_from_the_screen():
    terminal = Terminal("--", "sh", "-c", "printf 'first %s\\n' line; exec sleep 600")
    try:
        terminal.wait_for_text("F10 Quit")
        if b"first line" in terminal.output:
            raise Failure("the output of the command is on the screen")
        terminal.process.send_signal(signal.SIGTERM)
        terminal.wait_for_end()
        terminal.check_restored()
        after = terminal.output[terminal.output.rfind(LEAVE):]
        if b"first line" not in after:
            raise Failure("the output of the command did not come after the screen")
        if b"sh: ended by signal 15" not in after:
            raise Failure("how the command ended was not said")
    finally:
        terminal.close()


def a_command_that_never_stops_printing_stops_nothing():
    terminal = Terminal("--", "yes")
    try:
        terminal.wait_for_text("F10 Quit")
        terminal.type(b"h")
        terminal.wait_for_text("everywhere")
        terminal.process.send_signal(signal.SIGTERM)
        terminal.wait_for_end()
        terminal.check_restored()
        after = terminal.output[terminal.output.rfind(LEAVE):]
        if not 1000 < len(after) < 500000:
            raise Failure(f"{len(after)} bytes of the output of the command came")
    finally:
        terminal.close()


def an_ended_command_stays_on_the_screen():
    terminal = Terminal("-i", "100ms", "--", "sleep", "1")
    try:
        terminal.wait_for_text("F10 Quit")
        terminal.wait_for_text(" ended ")
        terminal.type(b"q")
        terminal.wait_for_end()
        terminal.check_restored()
        if b"sleep: exited with status 0" not in terminal.output:
            raise Failure("how the command ended was not said")
    finally:
        terminal.close()


def no_names_drive_the_terminal():
    """A process that calls itself an escape sequence."""
    evil = subprocess.Popen(
        ["\x1b]0;owned\x07\x1b[31m", "600"], executable="/bin/sleep")
    terminal = Terminal("-p", str(evil.pid))
    try:
        terminal.wait_for_text("F10 Quit")
        if b"\x1b]0;owned" in terminal.output:
            raise Failure("the escape sequence came through")
        terminal.wait_for_text(r"\x1b]0;owned")
        terminal.type(b"q")
        terminal.wait_for_end()
    finally:
        terminal.close()
        evil.kill()
        evil.wait()


TESTS = [
    q_restores_the_terminal,
    term_int_and_hup_restore_the_terminal,
    a_terminal_that_goes_away_ends_it,
    crashes_restore_the_terminal_and_stay_crashes,
    want_of_memory_restores_the_terminal,
    control_c_is_an_end,
    keys_go_from_view_to_view,
    a_resize_is_followed,
    a_command_is_watched_and_its_output_kept_from_the_screen,
    a_command_that_never_stops_printing_stops_nothing,
    an_ended_command_stays_on_the_screen,
    no_names_drive_the_terminal,
]


def main():
    failed = 0
    try:
        os.close(os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY))
    except OSError as error:
        print(f"no pseudo terminal to be had here: {error}", file=sys.stderr)
        return 77
    for test in TESTS:
        try:
            test()
            print(f"ok: {test.__name__}")
        except Failure as failure:
            failed += 1
            print(f"FAILED: {test.__name__}: {failure}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
