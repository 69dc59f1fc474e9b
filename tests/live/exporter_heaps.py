#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""memstate exporter --heap walk: the owners of heaps, and the pauses."""

from exporter_lib import Exporter, add_up
from heap_lib import HeapTarget
from live import check, equal, memstate, run, test

OWNERS = "memstate_group_owner_bytes"


@test
def heap_owners_add_up_to_rss():
    with HeapTarget("fragmented", 16):
        with Exporter("--group-by", "comm", "--match", "^heap_target$", "--owners", "--heap", "walk",
                      "--heap-match", "^heap_target$", "-i", "200ms", "--max-cpu", "100%") as x:
            x.wait_ready()
            samples = x.wait_for(
                lambda s: add_up(s, "memstate_group_heap_known_processes", group="heap_target"), "a heap is read")
            check(add_up(samples, OWNERS, group="heap_target", memory_owner="live") > 0, "live")
            equal(add_up(samples, OWNERS, group="heap_target"),
                  add_up(samples, "memstate_group_resident_bytes", group="heap_target"), "sum of owners")
            check(add_up(samples, "memstate_heap_pause_seconds_count") >= 1, "a pause is counted")
            check(add_up(samples, "memstate_heap_pause_seconds_sum") > 0, "how long it was")


@test
def heaps_are_only_read_on_request():
    for args in (["--heap", "walk", "--owners"], ["--heap", "walk", "--heap-match", "x"],
                 ["--heap-match", "x"], ["--owners", "--heap", "auto"]):
        equal(memstate("exporter", "--once", *args).status, 2, args)


if __name__ == "__main__":
    run()
