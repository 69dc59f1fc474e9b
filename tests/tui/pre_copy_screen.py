#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The screen follows a large heap: it keeps the copy between two reads, and ends the
tracking of the process when it no longer shows the heap."""

import os
import sys

sys.path.insert(0, os.path.join(os.environ["srcdir"], "tests", "live"))

from inject_lib import check_same, facts
from live import check, equal, run, test
from pre_copy_lib import Storm, heap_json, skip_if_unavailable, tool, tracked_mappings
from terminal_lib import Terminal, has_terminals

BIG = 640
WALK = ["--heap", "walk", "--max-share", "100%", "--max-pause", "220ms", "-i", "1s"]


@test
def a_large_heap_is_followed():
    with Storm(BIG, "quiet") as target:
        before = facts(target.pid)
        plain, problem = heap_json(target.pid, "--pre-copy", "off", "--max-pause", "30s")
        check(plain, problem)
        live = str(plain["live_resident_bytes"])
        screen = Terminal("-b", *WALK, "-p", str(target.pid))
        try:
            screen.resize(60, 160)
            screen.wait_for_text("F10 Quit")
            os.write(screen.master, b"H")
            screen.wait_for("the tracking", lambda: tracked_mappings(target.pid))
            # a plain pause has found the same figure
            screen.wait_for_text(live)
            check(tracked_mappings(target.pid), "the process is not tracked between the reads")
            screen.mark()
            screen.redraw()
            screen.wait_for_text(live)
            os.write(screen.master, b"q")
            screen.wait_for_end()
        finally:
            screen.close()
        equal(tracked_mappings(target.pid), [], "tracked mappings at the end")
        check_same(before, facts(target.pid))


@test
def a_walk_that_the_user_did_not_request_tracks_nothing():
    with Storm(BIG, "quiet") as target:
        screen = Terminal("-b", "--heap", "auto", *WALK[2:], "-p", str(target.pid))
        try:
            screen.resize(60, 160)
            screen.wait_for_text("F10 Quit")
            os.write(screen.master, b"H")
            screen.wait_for_text("RESIDENT")
            equal(tracked_mappings(target.pid), [], "tracked mappings")
            os.write(screen.master, b"q")
            screen.wait_for_end()
        finally:
            screen.close()


if not has_terminals():
    sys.exit(77)
skip_if_unavailable()
run()
