# SPDX-License-Identifier: GPL-2.0-or-later
"""A cgroup as target: memstate follows the processes in it and below it as they
come and go."""

import json
import os

from live import MIB, Folder, Skip, check, complaints, equal, memstate, run, start_memstate, test
from oom_lib import Filled, Group, near

LIMIT = 128 * MIB


def pids(*args):
    result = memstate(*args, "--csv", "-n1", "-i1", "-o", "pid").must_be(0)
    return sorted(row["pid"] for row in result.rows())


@test
def cgroup_selects_processes_in_it_and_below_it_only():
    with Group(LIMIT) as parent, Group(None, parent) as own, Group(None, parent) as other, \
            Filled(own, "anon=10") as first, Filled(other, "anon=20") as second:
        equal(pids("--cgroup", parent.path), sorted([first.pid, second.pid]), "pids of the parent")
        # the limit is the parent's, but the child was named
        equal(pids("--cgroup", own.path), [first.pid], "pids of the child, by its path")
        equal(pids("--cgroup", other.dir), [second.pid], "pids of the child, by its folder")


@test
def figures_of_a_cgroup_target_are_those_of_its_processes():
    with Group(LIMIT) as group, Filled(group, "anon=30") as filled:
        row = memstate("--cgroup", group.path, "--csv", "-n1", "-i1").must_be(0).rows()[0]
        near(row["private_dirty_bytes"], 30 * MIB, "private_dirty")
        equal(row["live_bytes"], None, "live bytes without --heap")
        text = memstate("--cgroup", group.path, "--text").must_be(0).out.decode()
        check(str(filled.pid) in text.split(), text)


@test
def a_series_follows_processes_until_the_cgroup_is_removed():
    with Group(LIMIT) as group:
        first = Filled(group, "anon=10")
        process = start_memstate("--cgroup", group.path, "--json", "-i", "20ms", "-o", "pid")

        def wait_for(wanted):
            while True:
                line = process.stdout.readline()
                check(line, "the series ended too early")
                if [p["pid"] for p in json.loads(line)["processes"]] == wanted:
                    return
        wait_for([first.pid])
        with Filled(group, "anon=10") as second:
            wait_for(sorted([first.pid, second.pid]))
            first.__exit__()
            wait_for([second.pid])
        wait_for([])
        with Filled(group, "anon=10") as third:
            wait_for([third.pid])
        wait_for([])
        os.rmdir(group.dir)
        _, err = process.communicate(timeout=60)
        equal(process.returncode, 0, "status")
        message, = complaints(err)
        check(message.startswith(f"memstate: {group.path}: the cgroup was removed; ")
              and message.endswith(" samples were taken"), err)
        os.mkdir(group.dir)


@test
def figures_of_the_cgroup_are_recorded_with_its_processes():
    with Folder() as folder, Group(LIMIT) as parent, Group(None, parent) as own, \
            Filled(own, "anon=20") as filled, Filled(parent, "anon=10"):
        path = f"{folder}/r"
        result = memstate("--cgroup", own.path, "--csv", "-n3", "-i", "50ms", "-o", "pid", "--record", path)
        if b"require SQLite" in result.err:
            raise Skip("built without SQLite")
        equal([row["pid"] for row in result.must_be(0).rows()], [filled.pid] * 3, "processes")
        rows = memstate("oom", "--replay", path, "--csv", "--output-all").must_be(0).rows()
        equal([[row["cgroup"], row["limit_cgroup"]] for row in rows], [[own.path, parent.path]] * 3,
              "the group")
        near(rows[0]["usage_bytes"], 30 * MIB, "usage")
        near(rows[0]["process_bytes"], 20 * MIB, "of its processes")


@test
def an_empty_cgroup_is_reported():
    with Group(LIMIT) as group:
        result = memstate("--cgroup", group.path, "--text").must_be(1)
        check(b"no process in this cgroup" in result.err, result.err)
        equal(result.out, b"", "output")


@test
def conflicting_options_are_refused_in_one_line():
    for args, status, word in [(["--cgroup", "/no/such/group", "--csv"], 1, b"no such cgroup"),
                               (["--cgroup", "/", "-p", "1"], 2, b"mutually exclusive"),
                               (["--cgroup", "/", "--replay", "x"], 2, b"mutually exclusive"),
                               (["--cgroup", "/", "--heap", "helper"], 2, b"with -p"),
                               (["--cgroup", "/", "--", "true"], 2, b"mutually exclusive")]:
        result = memstate(*args).must_be(status)
        check(word in result.err, result.err)
        equal(result.out, b"", "output")


run()
