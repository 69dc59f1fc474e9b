#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The cgroup view on a real terminal: its figures match what a program puts into the
cgroup, and growth is visible while it happens."""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.environ["srcdir"], "tests", "live"))

from live import MIB, check, run, test
from oom_lib import SLACK, Filled, Group
from terminal_lib import Terminal, has_terminals, plain

LIMIT = 2048 * MIB


class Screen(Terminal):
    """A screen with exact bytes and ten samples a second."""

    def __init__(self, *args, interval="100ms"):
        super().__init__("-b", "--heap", "off", "-i", interval, *[str(a) for a in args])
        self.resize(40, 140)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def text(self):
        return plain(self.output[self.start:]).decode(errors="replace")

    def wait_for_redraw(self, sign):
        """Redraw from scratch until the text appears; otherwise only changes are sent."""
        def is_there():
            if sign in self.text():
                return True
            if len(self.output) - self.start > 4000:
                self.type(b"")
            return False
        self.type(b"")
        self.wait_for(sign, is_there)
        self.redraw()
        self.wait_for_text("F10 Quit")


def need_of(screen):
    """Return the need figure in the legend of the bar."""
    screen.wait_for_redraw("free")
    return int(re.search(r"N need (\d+)", screen.text()).group(1))


@test
def a_named_cgroup_comes_first_with_its_contents():
    with Group(LIMIT) as parent, Group(None, parent) as own, Filled(own, "anon=30", "free=0", "write=0"), \
            Filled(parent, "anon=10", "anon=8", "free=1"), Screen("--cgroup", own.path) as screen:
        screen.wait_for_redraw("memstate group")
        need = need_of(screen)
        check(abs(need - 40 * MIB) <= 2 * SLACK, f"need {need}")
        screen.wait_for_redraw(f"limit {LIMIT}, of {parent.path}")
        screen.wait_for_redraw("(hides ")
        hidden = int(re.search(r"hides (\d+)", screen.text()).group(1))
        check(abs(hidden - 30 * MIB) <= 2 * MIB, f"hidden {hidden}")


@test
def a_leak_is_distinguished_from_stable_memory_and_the_view_can_be_left():
    with Group(LIMIT) as group, Filled(group, "anon=20") as still, \
            Screen("-p", still.pid, interval="50ms") as screen:
        leak = group.start("leak=64/20")
        try:
            screen.wait_for_redraw("memstate process")
            screen.type(b"C")
            screen.wait_for_redraw("need: growing")
            screen.wait_for_redraw(", limit in ")
            screen.wait_for_redraw("no growth")
            check(re.search(rf"{still.pid} .*no growth +- +oom_target", screen.text()), screen.text())
            screen.escape()
            screen.wait_for_redraw("memstate process")
        finally:
            leak.kill()
            leak.wait()
            for pipe in (leak.stdin, leak.stdout, leak.stderr):
                pipe.close()


@test
def figures_of_a_removed_cgroup_stay_on_the_screen():
    with Group(LIMIT) as group, Screen("--cgroup", group.dir) as screen:
        screen.wait_for_redraw("0 processes")
        os.rmdir(group.dir)
        screen.wait_for_redraw(" ended ")
        check(group.path in screen.text(), screen.text())
        os.mkdir(group.dir)


if __name__ == "__main__":
    if not has_terminals():
        sys.exit(77)
    run()
