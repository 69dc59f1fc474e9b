#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""memstate exporter: a container or a unit that is killed and restarted twenty times keeps its
series, and no kill is lost or counted twice."""

import os
import signal
import time

import oom_lib
from container_lib import make_root, need, oci_container
from exporter_lib import Exporter, add_up
from live import MIB, Folder, Skip, equal, run, wait_until
from oom_lib import Filled, Group

KILLS = "memstate_cgroup_oom_kills_total"
LAST_KILL = "memstate_cgroup_last_oom_kill_timestamp_seconds"
USAGE = "memstate_cgroup_usage_bytes"
COLLECTED = "memstate_collect_timestamp_seconds"
RESTARTS = 20
LIMIT = 24 * MIB
PACE = 0.7  # seconds between kills; the kernel reports at most ten kills in five seconds


def exporter(*args):
    return Exporter("-i", "50ms", "--max-cpu", "100%", *args)


def kill_one(group, *, is_seen, x, name):
    """Start a program in the cgroup, and have another one killed."""
    with Filled(group, "anon=4"):
        if is_seen:
            x.wait_for(lambda s: add_up(s, USAGE, group=name), "the cgroup is shown")
        equal(group.run("anon=64"), -signal.SIGKILL, "killed")


def look_again(x):
    """Wait for two more looks, the second of which begins after the call. Return its samples."""
    samples = x.samples()
    for _ in range(2):
        last = add_up(samples, COLLECTED)
        samples = x.wait_for(lambda s, t=last: add_up(s, COLLECTED) > t, "another look")
    return samples


def series_of(samples, name):
    return {(at, labels) for at, labels in samples if ("group", name) in labels}


def check_restarts(names, stem, group_name, *args):
    """Restart these cgroups one after the other, each with a kill. `stem` is in all of their names."""
    with exporter("--match", stem, *args) as x:
        x.wait_ready()
        for count, name in enumerate(names, 1):
            with Group(LIMIT, name=name) as group:
                kill_one(group, is_seen=True, x=x, name=group_name)
                samples = x.wait_for(lambda s, n=count: add_up(s, KILLS, group=group_name) >= n,
                                     f"{count} kills are counted")
                equal(add_up(samples, "memstate_cgroup_limit_bytes", group=group_name), LIMIT, "limit")
            samples = x.wait_for(lambda s: add_up(s, USAGE, group=group_name) is None,
                                 "the cgroup is gone")
            equal(add_up(samples, KILLS, group=group_name), count, "kills")
            shown = {(at, labels) for at, labels in samples
                     if at != LAST_KILL and stem in dict(labels).get("group", "")}
            if count == 1:
                first = shown
        equal(shown, first, "series after all restarts")


@oom_lib.test
def a_cgroup_that_is_created_again_continues_its_counters():
    name = f"memstate-{os.getpid()}-again"
    check_restarts([name] * RESTARTS, name, f"/{name}", "--group-by", "cgroup")


@oom_lib.test
def instances_of_a_unit_share_their_series():
    stem = "memstate-test-again"
    names = [f"{stem}@{i}.service" for i in range(RESTARTS)]
    check_restarts(names, stem, f"{stem}@*.service", "--group-by", "unit")


@oom_lib.test
def restarts_between_two_looks_lose_no_kill():
    """Only the kernel log knows of kills in cgroups that no look has seen."""
    if not oom_lib.can_read_log():
        raise Skip("the kernel log cannot be read")
    name = f"memstate-{os.getpid()}-between"
    path = f"/{name}"
    with exporter("--group-by", "cgroup", "-i", "3s", "--match", f"^{path}$") as x:
        x.wait_ready()
        with Group(LIMIT, name=name) as group, Filled(group, "anon=4"):
            x.wait_for(lambda s: add_up(s, KILLS, group=path) == 0, "born at 0")
        for _ in range(RESTARTS):
            with Group(LIMIT, name=name) as group:
                kill_one(group, is_seen=False, x=x, name=path)
            time.sleep(PACE)
        x.wait_for(lambda s: add_up(s, KILLS, group=path) >= RESTARTS, "all kills are counted")
        equal(add_up(look_again(x), KILLS, group=path), RESTARTS, "no kill is counted twice")


@oom_lib.test
def a_container_of_runc_is_restarted():
    need("runc")
    if not oom_lib.can_read_log():
        raise Skip("the kernel log cannot be read")
    path = f"/memstate-{os.getpid()}-runc"
    with Folder() as folder, exporter("--group-by", "cgroup", "--match", f"^{path}$") as x:
        root = make_root(folder)
        x.wait_ready()
        for i in range(RESTARTS):
            container = oci_container("runc", folder, root, path, i)
            container.wait_until_running()
            if i == 0:
                first = x.wait_for(lambda s: add_up(s, KILLS, group=path) == 0, "born at 0")
            equal(container.fill(), 137, "status of runc")
            wait_until(lambda c=container: not os.path.exists(c.dir), "the cgroup is removed")
            time.sleep(PACE)
        x.wait_for(lambda s: add_up(s, KILLS, group=path) >= RESTARTS, "all kills are counted")
        samples = look_again(x)
        equal(add_up(samples, KILLS, group=path), RESTARTS, "no kill is counted twice")
        equal({at for at, _ in series_of(samples, path) - series_of(first, path)}, {LAST_KILL}, "new series")


if __name__ == "__main__":
    run()
