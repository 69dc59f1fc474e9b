#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The heap view on a real terminal: its figures are the target's own.

Whatever happens on the screen, the target continues and is not traced.
"""

import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["srcdir"], "tests", "live"))

from heap_lib import NO_HURRY, HeapTarget
from live import Skip, equal, run, status_field, test, wait_until
from terminal_lib import Failure, Terminal, has_terminals, plain


class Screen(Terminal):
    """A screen large enough for all parts of a small heap, with exact bytes."""

    def __init__(self, *args, rows=60, columns=160):
        super().__init__("-b", *NO_HURRY, *[str(a) for a in args])
        self.resize(rows, columns)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def text(self):
        return plain(self.output[self.start:]).decode(errors="replace")

    def press(self, keys):
        """Send keys without forcing a redraw, which would show earlier text again."""
        self.mark()
        os.write(self.master, keys)

    def wait_for_heap(self, sign="RESIDENT"):
        def is_there():
            text = self.text()
            if "no permission to stop it" in text:
                raise Skip("no permission to stop another process")
            return sign in text
        self.wait_for(sign, is_there)
        self.redraw()
        self.wait_for_text("F10 Quit")

    def figures(self, label, count=2):
        """Return the first numbers after a label; a dot is 0."""
        match = re.search(re.escape(label) + r"((?: (?:\d+|\.)(?= )){%d})" % count, self.text())
        if not match:
            raise Failure(f"{label!r} is not on the screen: {self.text()[-1500:]}")
        return [0 if word == "." else int(word) for word in match[1].split()]

    def open_heap(self):
        self.wait_for_text("F10 Quit")
        self.press(b"H")
        self.wait_for_heap()


def check_free(target):
    """Check that no process traces the target and that it obeys commands."""
    wait_until(lambda: status_field(target.pid, "TracerPid") == "0", "nobody traces the target")
    target.order(b"i")


def is_held(target):
    return status_field(target.pid, "TracerPid") != "0"


@test
def the_heaps_of_a_runtime_and_of_malloc_are_listed():
    python = "/usr/bin/python3"
    if not os.access(python, os.X_OK):
        raise Skip("no Python interpreter to examine")
    with subprocess.Popen([python, "-c", "x = [[i] for i in range(50000)]; print(1, flush=True); input()"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as target:
        target.stdout.readline()
        with Screen("-p", target.pid) as screen:
            screen.open_heap()
            text = screen.text()
            for words in ("glibc malloc and Python objects, exact", "RESIDENT IN", "pools in use",
                          "free, in fastbins"):
                if words not in text:
                    raise Failure(f"{words!r} is not on the screen: {text[-3000:]}")
        target.kill()


@test
def figures_match_the_target():
    with HeapTarget("fragmented", 8) as target, Screen("-p", target.pid) as screen:
        screen.open_heap()
        truth = target.truth
        equal(screen.figures("free, in fastbins"), [truth["smblks"], truth["fsmblks"]], "fastbins")
        equal(screen.figures("live, in their own mappings"),
              [truth["hblks"], truth["hblkhd"]], "mapped")
        # ordblks includes the top chunk
        equal(screen.figures("free, in bins")[0], truth["ordblks"] - 1, "chunks in bins")
        check_free(target)
        screen.type(b"q")
        screen.wait_for_end()
        screen.check_restored()


@test
def leaks_match_the_target():
    with HeapTarget("list", 100, program="leak_target") as target:
        with Screen("-p", target.pid) as screen:
            screen.open_heap()
            screen.press(b"l")
            screen.wait_for_heap("LEAKS")
            truth = target.truth
            equal(screen.figures(" direct"), [truth["direct"], truth["direct_bytes"]], "direct")
            equal(screen.figures(" indirect"), [truth["indirect"], truth["indirect_bytes"]],
                  "indirect")


@test
def no_process_is_stopped_without_confirmation():
    with HeapTarget("fragmented", 8) as target, Screen() as screen:
        screen.wait_for_text("F10 Quit")
        screen.press(b"\\" + str(target.pid).encode() + b"\r")
        screen.wait_for_text("heap_target")
        screen.type(b"\r")
        screen.wait_for_text("memstate process ")
        screen.press(b"H")
        screen.wait_for_text("y/n")
        screen.type(b"n")
        screen.wait_for_text("has not been read")
        equal(status_field(target.pid, "TracerPid"), "0", "tracer")
        screen.press(b"r")
        screen.wait_for_text("y/n")
        screen.press(b"y")
        screen.wait_for_heap()
        screen.press(b"r")  # ask once only
        screen.wait_for_text("reading the heap")
        check_free(target)


def threads(pid):
    return [name.read().strip() for name in
            (open(f"/proc/{pid}/task/{tid}/comm") for tid in os.listdir(f"/proc/{pid}/task"))]


@test
def a_helper_is_injected_after_confirmation_and_removed_at_the_end():
    with HeapTarget("fragmented", 8) as target, Screen("-p", target.pid) as screen:
        screen.open_heap()
        equal(threads(target.pid), ["heap_target"], "threads")
        screen.press(b"a")
        screen.wait_for_text("y/n")
        screen.type(b"n")
        equal(threads(target.pid), ["heap_target"], "threads after a no")
        screen.press(b"a")
        screen.wait_for_text("y/n")
        screen.press(b"y")
        screen.wait_for_text("REPORTED BY THE ALLOCATOR")
        screen.type(b"")
        screen.wait_for_text("F10 Quit")
        equal(screen.figures("uordblks", 3)[2], 0, "difference between walk and allocator")
        equal(sorted(threads(target.pid)), ["heap_target", "memstate-help"], "threads with the helper")
        screen.type(b"q")
        screen.wait_for_end()
        screen.check_restored()
        equal(threads(target.pid), ["heap_target"], "threads after the end")
        check_free(target)


@test
def a_helper_requested_by_option_needs_no_confirmation():
    with HeapTarget("fragmented", 8) as target:
        with Screen("--heap", "helper", "-p", target.pid) as screen:
            screen.wait_for_text("F10 Quit")
            screen.press(b"H")
            screen.wait_for_text("REPORTED BY THE ALLOCATOR")
            screen.type(b"q")
            screen.wait_for_end()
        equal(threads(target.pid), ["heap_target"], "threads after the end")


def end_in_the_middle(end):
    """End memstate with these keys, or with SIGKILL, while it reads the heap."""
    with HeapTarget("fragmented", 64) as target, Screen("-p", target.pid) as screen:
        screen.wait_for_text("F10 Quit")
        screen.press(b"H")
        screen.wait_for("a stop, or its end",
                        lambda: is_held(target) or "RESIDENT" in screen.text())
        if end:
            os.write(screen.master, end)
        else:
            screen.process.kill()
        screen.wait_for_end()
        if end:
            screen.check_restored()
        check_free(target)


@test
def the_target_continues_however_the_screen_ends():
    for end in (b"q", b"\x03", None):
        end_in_the_middle(end)


@test
def a_leak_scan_can_be_left_and_the_screen_resized_meanwhile():
    with HeapTarget("fragmented", 32) as target, Screen("-p", target.pid) as screen:
        screen.open_heap()
        screen.press(b"l")
        screen.resize(12, 44)
        screen.wait_for("an answer", lambda: len(screen.output) > screen.start)
        screen.escape()
        screen.resize(60, 160)
        # if the search had ended before, Esc has left the view
        screen.wait_for("either view", lambda: re.search("memstate (heap|process)", screen.text()))
        if "memstate process" in screen.text():
            screen.press(b"H")
            screen.wait_for_text("memstate heap")
        screen.press(b"l")
        screen.wait_for_heap("LEAKS")
        check_free(target)


if __name__ == "__main__":
    if not has_terminals():
        sys.exit(77)
    run()
