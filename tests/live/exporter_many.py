#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""memstate exporter on a generated /proc tree with thousands of processes: the sums, the ages,
the CPU budget, and no growth of its memory over many looks.

    exporter_many.py [PROCESSES [GROUPS [LOOKS]]]
"""

import os
import sys
import time

from exporter_lib import OPENMETRICS, Exporter, add_up, parse
from exporter_tree_lib import Looks, cpu_seconds, private_bytes, tree_of
from live import KIB, PAGE, Skip, check, equal, has_address_sanitizer, run, test

ARGS = [int(arg) for arg in sys.argv[1:]]
PROCESSES, GROUPS, LOOKS = (ARGS + [2000, 100, 100][len(ARGS):])[:3]
CHANGES = 20  # processes that grow, end and begin between two looks
RESIDENT = "memstate_group_resident_bytes"
COLLECTED = "memstate_collect_timestamp_seconds"


@test
def all_processes_are_in_the_sums_and_every_group_has_an_age():
    with tree_of(PROCESSES, GROUPS) as tree:
        looks = Looks(tree, "--top", str(GROUPS), "--max-series", "100000", "-n", "40", "-i", "10ms",
                      "--max-cpu", "100%")
        begin = time.monotonic()
        while (text := looks.next()) is not None:
            samples, elapsed = parse(text), time.monotonic() - begin
        equal(looks.process.returncode, 0, "exit status")
        sums = {name: add_up(samples, RESIDENT, group=name) for name in tree.sums()}
        equal(sums, tree.sums(), "resident")
        equal(add_up(samples, "memstate_group_processes"), PROCESSES, "processes")
        ages = {dict(labels)["group"]: age for (at, labels), age in samples.items()
                if at == "memstate_group_age_seconds" and ("group", "(rest)") not in labels}
        equal(set(ages), set(tree.sums()), "groups with an age")
        check(all(0 <= age <= elapsed + 1 for age in ages.values()), f"{max(ages.values())} in {elapsed} s")
        # a look reads only a few of the idle processes again
        check(max(ages.values()) > 0, "some figures are older than the last look")
        print(f"{PROCESSES} processes: oldest figure {max(ages.values()):.2f} s after {elapsed:.2f} s")


@test
def the_budget_holds():
    """The CPU time that the kernel measures stays below --max-cpu after the first looks."""
    with tree_of(PROCESSES, GROUPS) as tree:
        looks = Looks(tree, "-i", "10ms", "--max-cpu", "5%", "-n", "1000000")
        check(looks.next() is not None, "a first look")
        pid = looks.process.pid
        # the pause after a look depends on the CPU time of that look
        check(looks.next() is not None, "a second look")
        begin, cpu, count = time.monotonic(), cpu_seconds(pid), 0
        while count < 3 or time.monotonic() - begin < 5:
            check(looks.next() is not None, "the exporter runs")
            elapsed, used = time.monotonic() - begin, cpu_seconds(pid) - cpu
            count += 1
        check(used <= 0.06 * elapsed, f"{used:.3f} s of CPU in {elapsed:.3f} s")
        print(f"{PROCESSES} processes: {used / count * 1000:.1f} ms of CPU per look, "
              f"{used / elapsed * 100:.1f} % of one CPU with --max-cpu 5%")


def growth_of(figures):
    """Return the growth from the second to the last quarter of the figures, and the former.

    Buffers have their final size after some looks with more processes than the first.
    """
    middle = max(figures[len(figures) // 4:len(figures) // 2])
    return max(figures[-len(figures) // 4:]) - middle, middle


REQUESTS = [("/metrics", {}), ("/metrics", {"Accept": OPENMETRICS, "Accept_Encoding": "gzip"}),
            ("/metrics?collect[]=processes", {}), ("/metrics?name[]=x", {}),
            ("/metrics?collect[]=processes", {"Accept": OPENMETRICS, "Accept_Encoding": "gzip"}), ("/", {})]


@test
def serving_does_not_grow():
    """Neither the process that collects nor the one that serves grows with the number of looks."""
    if has_address_sanitizer():
        raise Skip("AddressSanitizer keeps freed memory")
    with tree_of(300, 50) as tree, Exporter("--procfs", tree.folder, "--group-by", "comm",
                                            "-i", "1ms", "--max-cpu", "100%") as exporter:
        exporter.wait_ready()
        parent, child, figures, looks = exporter.process.pid, exporter.child(), [], 0
        while looks < LOOKS:
            before = exporter.samples()
            for path, headers in REQUESTS:
                equal(exporter.get(path, **headers).status, 400 if "name" in path else 200, path)
            exporter.wait_for(lambda s, t=before: add_up(s, COLLECTED) > add_up(t, COLLECTED), "a look")
            looks += 1
            with open(f"/proc/{child}/statm") as f:
                size, resident = [int(pages) * PAGE for pages in f.read().split()[:2]]
            fds = len(os.listdir(f"/proc/{parent}/fd"))
            figures.append((fds, private_bytes(parent), size, resident))
        names = ("descriptors", "memory of the parent", "size of the child", "memory of the child")
        growths = {name: growth_of(column)[0] for name, column in zip(names, zip(*figures))}
        # the parent may read a file at that moment
        check(growths.pop("descriptors") <= 4, "descriptors")
        check(max(growths.values()) <= 256 * KIB, growths)
        print(f"{LOOKS} looks and {LOOKS * (len(REQUESTS) + 2)} requests: growth {growths}")


@test
def memory_does_not_grow_while_processes_and_groups_come_and_go():
    if has_address_sanitizer():
        raise Skip("AddressSanitizer keeps freed memory")
    with tree_of(PROCESSES, GROUPS) as tree:
        looks = Looks(tree, "-i", "1ms", "--max-cpu", "100%", "-n", "1000000")
        pid, figures, pids, brief = looks.process.pid, [], sorted(tree.rss), []
        while len(figures) < LOOKS:
            check(looks.next() is not None, "the exporter runs")
            figures.append(private_bytes(pid))
            for i in range(CHANGES):
                tree.grow(pids[tree.random.randrange(len(pids))])
            brief.append([tree.add(f"brief{len(figures)}.{i}") for i in range(CHANGES)])
            # a whole look is between the next two, so these processes have been listed
            if len(brief) > 2:
                for pid_gone in brief.pop(0):
                    tree.remove(pid_gone)
        used = cpu_seconds(pid)
        looks.end()
        growth, middle = growth_of(figures)
        check(growth <= 128 * KIB, f"grown by {growth} bytes from {middle}")
        print(f"{PROCESSES} processes, {LOOKS} looks, {LOOKS * CHANGES} processes came and went: "
              f"anonymous memory {middle / KIB:.0f} KiB, growth {growth / KIB:.0f} KiB, "
              f"{used:.1f} s of CPU")


if __name__ == "__main__":
    run()
