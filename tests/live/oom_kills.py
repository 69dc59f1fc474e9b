# SPDX-License-Identifier: GPL-2.0-or-later
"""Real OOM kills with a known cause: the kernel's log explains them."""

import os
import signal

from live import MIB, check, equal, memstate, run, start_memstate
from oom_lib import Filled, Group, explained, test

LIMIT = 48 * MIB
KILLED = -signal.SIGKILL


def kill(group, *steps):
    equal(group.run(*steps), KILLED, f"status of {steps}")
    return explained(group)


@test
def private_memory_of_one_process():
    with Group(LIMIT) as group:
        equal(group.run("anon=30"), 0, "status with a smaller allocation")
        k = kill(group, "anon=30", "anon=30")
        equal([k["cause"], k["also"]], ["private_memory", []], "cause")
        equal([k["limit_cgroup"], k["victim_cgroup"], k["limit_bytes"]],
              [group.path, group.path, LIMIT], "cgroups and limit")
        check(k["victim"]["anon_bytes"] > LIMIT * 0.8, f"memory of the victim: {k['victim']}")
        equal([len(k["tasks"]), k["tasks"][0]["pid"]], [1, k["victim"]["pid"]], "task table")


@test
def shared_memory():
    with Group(LIMIT) as group:
        equal(kill(group, "anon=8", "shm=50")["cause"], "shmem", "cause")


@test
def kernel_memory():
    with Group(LIMIT) as group:
        equal(kill(group, "pipes=30", "anon=25")["cause"], "kernel_memory", "cause")


@test
def files_left_on_a_tmpfs():
    path = f"/dev/shm/memstate-{os.getpid()}"
    with Group(LIMIT) as group:
        try:
            equal(group.run(f"file=40:{path}"), 0, "status of the writer")
            equal(kill(group, "anon=12")["cause"], "tmpfs_leftovers", "cause")
        finally:
            if os.path.exists(path):
                os.unlink(path)


@test
def a_limit_of_a_parent():
    with Group(LIMIT) as parent, Group(2 * LIMIT, parent) as child:
        k = kill(child, "anon=60")
        equal([k["cause"], k["also"]], ["ancestor_limit", ["private_memory"]], "cause")
        equal([k["limit_cgroup"], k["victim_cgroup"]], [parent.path, child.path], "cgroups")


@test
def many_small_processes_together():
    with Group(LIMIT) as group, Filled(group, "fork=7/6"):
        group.run("anon=12")
        k = explained(group)
        equal(k["cause"], "many_processes", "cause")
        check(len(k["tasks"]) >= 7, f"{len(k['tasks'])} tasks")


@test
def page_cache_and_lazily_freed_memory_cause_no_kill():
    with Group(LIMIT) as group:
        equal(group.run("anon=40", "free=0", "anon=30"), 0, "LazyFree")
        result = memstate("oom", "explain", "--cgroup", group.path)
        # unrelated kills that name no cgroup are shown, with status 3
        check(result.status in (1, 3) and group.path.encode() not in result.out, result.out)
        check(b"no OOM kill for that cgroup" in result.err or b"/dev/kmsg" in result.err, result.err)


@test
def a_log_in_a_file_needs_no_privileges():
    log = (b"Nov 21 17:00:00 host kernel: oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,"
           b"mems_allowed=0,global_oom,task_memcg=/system.slice/x.service,task=x,pid=9,uid=1\n"
           b"Nov 21 17:00:00 host kernel: Out of memory: Killed process 9 (x) total-vm:4kB, anon-rss:2kB, "
           b"file-rss:0kB, shmem-rss:0kB, UID:1 pgtables:1kB oom_score_adj:0\n")
    process = start_memstate("oom", "explain", "--kmsg", "-", stdin=-1)
    out, err = process.communicate(log)
    equal([process.returncode, err], [0, b""], "status")
    check(b"x (9) of /system.slice/x.service" in out and b"the machine ran out of memory" in out, out)
    for args, status, word in [(["--kmsg", "/no/such"], 1, b"/no/such: No such file"),
                               (["--kmsg", "/dev/null"], 1, b"no OOM kill found in this log"),
                               (["--kmsg", "/dev/null", "-p", "1"], 2, b"--cgroup"),
                               (["--kmsg", "/dev/null", "--csv"], 2, b"--csv")]:
        result = memstate("oom", "explain", *args).must_be(status)
        check(word in result.err, result.err)
    for args, word in [(["why"], b"unknown command 'oom why'; available: 'oom explain',"),
                       (["-p", "1", "explain"], b"'explain' must directly follow 'oom'"),
                       (["--kmsg", "/dev/null"], b"unknown option '--kmsg'"), (["explain", "x"], b"unexpected argument")]:
        result = memstate("oom", *args).must_be(2)
        check(word in result.err, result.err)


run()
