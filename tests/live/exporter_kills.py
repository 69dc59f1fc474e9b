#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""memstate exporter: cgroups, their limits, and OOM kills with their verdicts."""

import contextlib
import os
import signal
import subprocess
import tempfile
import time

import oom_lib
from exporter_lib import Exporter, add_up
from live import MIB, Skip, check, equal, memstate, need_built_with, run, test
from oom_lib import Filled, Group, near

KILLS = "memstate_cgroup_oom_kills_total"
VERDICTS = "memstate_oom_verdicts_total"


def exporter(*args):
    return Exporter("--group-by", "cgroup", "-i", "100ms", "--max-cpu", "100%", *args)


@test
def figures_of_a_cgroup_are_those_of_the_kernel():
    with Group(64 * MIB) as group, Filled(group, "anon=20"), \
         exporter("--match", f"^({group.path}|/)$") as x:
        x.wait_ready()
        samples = x.wait_for(lambda s: add_up(s, "memstate_cgroup_limit_bytes", group=group.path),
                             "the cgroup is shown")
        equal(add_up(samples, "memstate_cgroup_limit_bytes", group=group.path), 64 * MIB, "limit")
        near(int(add_up(samples, "memstate_cgroup_need_bytes", group=group.path)), 20 * MIB, "need")
        usage = add_up(samples, "memstate_cgroup_usage_bytes", group=group.path)
        equal(add_up(samples, "memstate_cgroup_memory_bytes", group=group.path), usage, "sum of parts")
        anon, shmem = ("anon", "shmem") if group.version == 2 else ("total_rss", "total_shmem")
        parts = {part: add_up(samples, "memstate_cgroup_memory_bytes", group=group.path, part=part) or 0
                 for part in ("live_anon", "lazyfree", "shmem")}
        near(parts["live_anon"] + parts["lazyfree"], group.stat(anon), "anonymous memory in memory.stat")
        near(parts["live_anon"], 20 * MIB, "the memory that the program has written")
        near(parts["shmem"], group.stat(shmem), "shared memory in memory.stat")
        equal(add_up(samples, KILLS, group=group.path), 0, "no kill yet")
        shown = {dict(labels)["group"] for name, labels in samples if name == "memstate_cgroup_usage_bytes"}
        check(shown <= {group.path, "/"}, f"only what matches is shown: {shown}")
        # the rest of the machine has no such limit
        check(not any(name == "memstate_cgroup_limit_bytes" and dict(labels)["group"] == "/"
                      for name, labels in samples), "the root has no limit")


@test
def very_many_cgroups_stay_within_the_promise():
    with contextlib.ExitStack() as stack:
        groups = [stack.enter_context(Group(64 * MIB)) for _ in range(120)]
        processes = [subprocess.Popen(["sleep", "600"], preexec_fn=group.enter) for group in groups]
        for process in processes:
            stack.callback(process.wait)
            stack.callback(process.kill)
        x = stack.enter_context(exporter("--max-series", "600"))
        x.wait_ready()
        # on a busy machine, the first collection may read only some of the processes
        samples = x.wait_for(lambda s: add_up(s, "memstate_group_processes") >= 120, "all processes are in the sums")
        check(len(samples) <= 600, f"{len(samples)} series")
        check(add_up(samples, "memstate_series_left_out") > 0, "cgroups are left out")


@oom_lib.test
def a_kill_is_counted_with_its_verdict_and_outlives_its_cgroup():
    with exporter() as x:
        with Group(24 * MIB) as group, Filled(group, "anon=4"):
            x.wait_ready()
            before = x.wait_for(lambda s: add_up(s, KILLS, group=group.path) == 0, "born at 0")
            equal(group.run("anon=64"), -signal.SIGKILL, "killed")
            after = x.wait_for(lambda s: add_up(s, KILLS, group=group.path) == 1, "a kill is counted")
            if oom_lib.can_read_log():
                after = x.wait_for(lambda s: add_up(s, VERDICTS) > add_up(before, VERDICTS), "a verdict")
                last = "memstate_cgroup_last_oom_kill_timestamp_seconds"
                samples = x.wait_for(lambda s: add_up(s, last, group=group.path), "the time of the kill")
                check(abs(add_up(samples, last, group=group.path) - time.time()) < 60, "the time")
            equal(add_up(after, KILLS, group=group.path), 1, "counted once")
        samples = x.wait_for(lambda s: add_up(s, "memstate_cgroup_usage_bytes", group=group.path) is None,
                             "the cgroup is gone")
        equal(add_up(samples, KILLS, group=group.path), 1, "the count remains")


@oom_lib.test
def a_recording_explains_the_kill():
    need_built_with("SQLITE")
    if not oom_lib.can_read_log():
        raise Skip("the kernel log cannot be read")
    with tempfile.TemporaryDirectory() as folder, Group(24 * MIB) as group:
        path = os.path.join(folder, "r.msr")
        with exporter("--record", path) as x, Filled(group, "anon=4"):
            x.wait_ready()
            before = x.wait_for(lambda s: add_up(s, KILLS, group=group.path) == 0, "born at 0")
            equal(group.run("anon=64"), -signal.SIGKILL, "killed")
            x.wait_for(lambda s: add_up(s, VERDICTS) > add_up(before, VERDICTS), "a verdict")
            x.end()
        done = memstate("oom", "explain", "--record", path)
        equal(done.status, 0, "exit status")
        check(group.path in done.out.decode(), f"the cgroup is named: {done.out}")


@test
def kills_before_the_start_do_not_count():
    with Group(24 * MIB) as group, Filled(group, "anon=4"):
        equal(group.run("anon=64"), -signal.SIGKILL, "killed")
        with exporter() as x:
            x.wait_ready()
            x.wait_for(lambda s: add_up(s, KILLS, group=group.path) == 0, "born at 0")
            equal(group.run("anon=64"), -signal.SIGKILL, "killed")
            x.wait_for(lambda s: add_up(s, KILLS, group=group.path) == 1, "the new kill is counted")


if __name__ == "__main__":
    run()
