#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Signals sent from the screen: only after a confirmation, and only to the process shown."""

import os
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["srcdir"], "tests", "live"))

from live import equal, run, test, wait_until
from terminal_lib import MEMSTATE, Failure, Terminal, has_terminals


class Target:
    """A process that sleeps, and a screen that shows it."""

    def __enter__(self):
        self.process = subprocess.Popen(["sleep", "600"])  # pylint: disable=consider-using-with
        self.screen = Terminal("-p", str(self.process.pid))
        self.screen.wait_for_text(f"sleep ({self.process.pid}), state")
        return self

    def __exit__(self, *unused):
        self.screen.close()
        self.process.kill()
        self.process.wait()

    def ask(self, text, sign):
        """Press k, and type a signal."""
        self.screen.type(b"k")
        self.screen.wait_for_text("Signal for sleep")
        self.screen.type(text + b"\r")
        self.screen.wait_for_text(sign)


@test
def a_signal_is_sent_after_a_yes():
    with Target() as target:
        target.ask(b"USR1", "Send SIGUSR1 to sleep")
        if target.process.poll() is not None:
            raise Failure("the signal was sent without a confirmation")
        target.screen.type(b"y")
        wait_until(lambda: target.process.poll() is not None, "it ended")
        equal(target.process.returncode, -signal.SIGUSR1, "status")


@test
def a_no_sends_nothing():
    with Target() as target:
        target.ask(b"KILL", "Send SIGKILL to sleep")
        target.screen.type(b"n")
        # a signal that was sent before would end the process first, with another status
        target.ask(b"", "Send SIGTERM to sleep")
        target.screen.type(b"y")
        wait_until(lambda: target.process.poll() is not None, "it ended")
        equal(target.process.returncode, -signal.SIGTERM, "status")


@test
def memstate_itself_needs_a_second_confirmation():
    screen = Terminal(command=["sh", "-c", 'exec "$0" -p $$', MEMSTATE])
    try:
        screen.wait_for_text(f"({screen.process.pid}), state")
        screen.type(b"k")
        screen.wait_for_text("Signal for")
        screen.type(b"USR1\r")
        screen.wait_for_text("Send SIGUSR1")
        screen.type(b"y")
        screen.wait_for_text("is memstate itself")
        # not the pid: nothing is sent, and the prompt is closed, or q would not quit
        screen.type(b"yy\r")
        screen.type(b"q")
        equal(screen.wait_for_end(), 0, "status")
    finally:
        screen.close()


if __name__ == "__main__":
    if not has_terminals():
        sys.exit(77)
    run()
