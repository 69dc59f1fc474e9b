# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures and behaviour that only cgroup version 2 has. `make check-qemu` runs this in a
guest that has it."""

import json
import os
import shutil
import signal
import subprocess

from live import MEMSTATE, MIB, Folder, Skip, check, equal, memstate, run
from oom_lib import ROOT, Filled, Group, check_sum, explained, figures, find_hierarchy, near, test

LIMIT = 128 * MIB
KILLED = -signal.SIGKILL


def unified(limit=LIMIT, parent=None):
    if find_hierarchy()[1] != 2:
        raise Skip("the memory controller is on cgroup version 1")
    return Group(limit, parent)


def answer(group):
    return json.loads(memstate("oom", "--cgroup", group.path, "--json").must_be(0).out)


@test
def network_buffers_count_as_need_and_have_their_own_line():
    with unified() as group, Filled(group, "tcp=20"):
        f = figures(group)
        check_sum(f)
        near(f["sock_bytes"], group.stat("sock"), "network buffers", 1 * MIB)
        check(f["sock_bytes"] > 20 * MIB, f"{f['sock_bytes']} of 20 MiB")
        check(f["need_bytes"] >= f["sock_bytes"], "network buffers exceed need")


@test
def kernel_memory_is_reported_by_part():
    with unified() as group, Filled(group, "tables=16", "pipes=12", "stacks=200"):
        f = figures(group)
        check_sum(f)
        near(f["pagetables_bytes"], 16 * MIB, "page tables", 3 * MIB)
        near(f["other_kernel_bytes"], 12 * MIB, "pipes", 3 * MIB)
        near(f["kernel_stack_bytes"], 200 * 16 * 1024, "threads' stacks", 1 * MIB)
        near(f["live_anon_bytes"], 200 * 200 * 1024, "the threads' own", 4 * MIB)


@test
def inodes_are_mostly_unreclaimable_slab():
    folder = f"/dev/shm/memstate-{os.getpid()}"
    os.mkdir(folder)
    try:
        with unified() as group, Filled(group, f"inodes=20:{folder}"):
            f = figures(group)
            check_sum(f)
            check(f["slab_unreclaimable_bytes"] > 10 * MIB, f"{f['slab_unreclaimable_bytes']} of inodes")
            check(f["slab_reclaimable_bytes"] > 2 * MIB,
                  f"{f['slab_reclaimable_bytes']} of directory entries")
            near(f["kernel_bytes"], f["slab_unreclaimable_bytes"], "need", 3 * MIB)
            shutil.rmtree(folder)  # otherwise it stays charged
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@test
def the_tightest_limit_of_five_levels_counts():
    with unified(None) as a, unified(256 * MIB, a) as b, unified(48 * MIB, b) as c, \
            unified(None, c) as d, unified(LIMIT, d) as e, Filled(e, "anon=10"), \
            unified(LIMIT, c) as other, Filled(other, "anon=15"):
        f = figures(e)
        check_sum(f)
        equal([f["limit_bytes"], f["limit_cgroup"], f["process_count"]], [48 * MIB, c.path, 2],
              "limit, its cgroup, process count")
        near(f["usage_bytes"], 25 * MIB, "usage, at that level")
        limits = [level["limit_bytes"] for level in answer(e)["levels"]]
        equal(limits[:5], [LIMIT, None, 48 * MIB, 256 * MIB, None], "limits on the way up")


@test
def a_cgroup_without_the_controller_is_charged_to_its_parent():
    with unified() as group:
        inner = f"{group.dir}/inner"
        os.mkdir(inner)
        try:
            with Filled(group, "anon=10") as filled:
                with open(f"{inner}/cgroup.procs", "w") as f:
                    f.write(str(filled.pid))
                row = memstate("oom", "-p", filled.pid, "--csv", "-n1", "-i1", "--output-all").must_be(0).rows()[0]
                equal([row["cgroup"], row["limit_bytes"]], [group.path, LIMIT], "cgroup and limit")
                near(row["live_anon_bytes"], 10 * MIB, "anon")
        finally:
            os.rmdir(inner)


@test
def the_root_has_no_limit_and_is_not_truncated():
    unified().__exit__()
    said = json.loads(memstate("oom", "--cgroup", "/", "--json").must_be(0).out)
    equal([level["has_limit"] for level in said["levels"]], [False], "limits")
    equal(said["is_cut"], False, "is_cut")


@test
def limits_hidden_by_a_namespace_are_mentioned():
    if not shutil.which("unshare"):
        raise Skip("unshare is not installed")
    with unified(64 * MIB) as parent, unified(None, parent) as group:
        command = f"umount {ROOT} && mount -t cgroup2 cgroup2 {ROOT} && exec {MEMSTATE} oom"
        outs = [subprocess.run(["unshare", "-Cm", "sh", "-c", f"{command} {kind}"], preexec_fn=group.enter,
                               stdout=subprocess.PIPE, check=True).stdout.decode()
                for kind in ("--text", "--json")]
        check("limits above this namespace are not visible" in outs[0], outs[0])
        said = json.loads(outs[1])
        equal([said["is_cut"], len(said["levels"]), said["oom"]["limit_bytes"]], [True, 1, None],
              "is_cut, levels, limit")
        equal(said["oom"]["cgroup"], "/", "cgroup")


@test
def events_are_counted_in_the_right_cgroup():
    with unified(48 * MIB) as parent, unified(None, parent) as child:
        equal(child.run("anon=60"), KILLED, "status")
        own, above = answer(child)["levels"][:2]
        equal([own["max_count"], own["oom_count"], own["oom_kill_count"]], [0, 0, 1],
              "events of the victim's cgroup")
        equal(above["oom_kill_count"], 0, "kills in the cgroup with the limit")
        check(above["max_count"] > 0 and above["oom_count"] > 0, f"events of the limit: {above}")
        check(above["peak_bytes"] > 40 * MIB, f"peak of the cgroup with the limit: {above}")
        k = explained(child)
        equal([k["cause"], k["limit_cgroup"], k["victim_cgroup"]],
              ["ancestor_limit", parent.path, child.path], "cause")


@test
def a_group_kill_is_recognized():
    with unified(48 * MIB) as group, Filled(group, "fork=3/2") as filled:
        group.write("memory.oom.group", 1)
        equal(group.run("anon=60"), KILLED, "status")
        equal(filled.process.wait(), KILLED, "status of another process")
        k = explained(group)
        equal(k["is_group_killed"], True, "is_group_killed")
        # the parent's exit may kill a child first, which is then not counted
        check(2 <= k["killed_count"] <= 5, f"{k['killed_count']} of 5 killed")
        text = memstate("oom", "explain", "--cgroup", group.path).must_be(0).out.decode()
        check("the rest of its cgroup (memory.oom.group)" in " ".join(text.split()), text)


@test
def a_single_kill_is_recognized():
    with unified(48 * MIB) as group, Filled(group, "fork=3/2") as filled:
        equal(group.run("anon=60"), KILLED, "status")
        check(filled.process.poll() is None, "another process was killed too")
        k = explained(group)
        equal([k["is_group_killed"], k["killed_count"], k["cause"]], [False, 1, "private_memory"], "killed")


@test
def memory_high_throttles_without_a_kill():
    with Folder() as folder, unified() as group:
        group.write("memory.high", 32 * MIB)
        with Filled(group, f"file=60:{folder}/f"):
            f = figures(group)
            check_sum(f)
            equal([f["high_bytes"], f["limit_bytes"], f["oom_kill_count"]], [32 * MIB, LIMIT, 0], "limits")
            check(f["usage_bytes"] <= 36 * MIB, f"usage {f['usage_bytes']}")
            check(int(group.read("memory.events").split("high ")[1].split()[0]) > 0,
                  "memory.high was not reached")


def stalled_s(group, kind):
    lines = dict(line.split(" ", 1) for line in group.read("memory.pressure").splitlines())
    return int(lines[kind].rpartition("total=")[2]) / 1e6


@test
def memory_stall_time_is_reported():
    with Folder() as folder, unified() as group:
        group.write("memory.high", 16 * MIB)
        if not os.path.exists(f"{group.dir}/memory.pressure"):
            raise Skip("this kernel has no pressure stall information")
        with Filled(group, f"file=40:{folder}/f", *[f"read=1:{folder}/f"] * 4):
            before = [stalled_s(group, kind) for kind in ("some", "full")]
            f = figures(group)
            after = [stalled_s(group, kind) for kind in ("some", "full")]
            check(before[0] > 0, "no memory stall")
            for was, told, now in zip(before, (f["pressure_some_s"], f["pressure_full_s"]), after):
                check(was - 0.001 <= told <= now, f"{told} s stalled, expected between {was} and {now}")


@test
def network_buffers_are_the_cause_of_a_kill():
    with unified(48 * MIB) as group:
        equal(group.run("tcp=30", "anon=30"), KILLED, "status")
        equal(explained(group)["cause"], "kernel_memory", "cause")


@test
def page_tables_are_the_cause_of_a_kill_too():
    with unified(48 * MIB) as group:
        equal(group.run("tables=24", "anon=30"), KILLED, "status")
        equal(explained(group)["cause"], "kernel_memory", "cause")


run()
