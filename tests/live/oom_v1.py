# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernel memory of a version 1 cgroup: which parts of it are known."""

import fcntl
import os
import re
import subprocess

from live import MIB, Folder, Skip, check, equal, memstate, run, test
from oom_lib import Filled, Group, check_sum, figures

LIMIT = 200 * MIB
PIPE = 64 << 10  # oom_target fills each of its pipes
SPARE = 2 * os.sysconf("SC_PAGESIZE")  # pages that the kernel may keep for an empty pipe


def classic():
    group = Group(LIMIT)
    if group.version != 1:
        os.rmdir(group.dir)
        raise Skip("the memory controller is on cgroup version 2")
    return group


def text_of(group):
    return memstate("oom", "--cgroup", group.path).must_be(0).out.decode()


def line_of(text, label):
    return " ".join(re.search(rf"^ +{label} .*", text, re.M)[0].split())


def pipes_of(pid):
    """Return the distinct inodes of the process's pipes."""
    return {link for fd in os.listdir(f"/proc/{pid}/fd")
            for link in [os.readlink(f"/proc/{pid}/fd/{fd}")] if link.startswith("pipe:")}


@test
def full_pipes_are_bounded_by_their_content():
    with classic() as group, Filled(group, "pipes=10", "tables=10") as program:
        f = figures(group)
        check_sum(f)
        full, all_of_them = 10 * MIB // PIPE, len(pipes_of(program.pid))
        check(all_of_them >= full, f"pipes: {all_of_them}")
        equal(f["pipe_count"], all_of_them, "pipes")
        bound = full * (PIPE + SPARE) + (all_of_them - full) * SPARE
        equal(f["pipe_limit_bytes"], bound, "upper bound of the pipes")
        check(10 * MIB <= f["pipe_limit_bytes"] <= f["kernel_bytes"],
              f"upper bound outside the kernel memory {f['kernel_bytes']}")
        check(f"upper bound; {all_of_them} open in its processes" in line_of(text_of(group), "pipes"), "report")


@test
def empty_pipes_hold_next_to_nothing():
    """Each may hold up to 64 KiB; two processes share all of them."""
    pipes = [os.pipe() for _ in range(100)]
    try:
        with classic() as group:
            program = subprocess.Popen(["sleep", "1000"], stdin=subprocess.DEVNULL, preexec_fn=group.enter,
                                       pass_fds=[fd for ends in pipes for fd in ends])
            other = subprocess.Popen(["sleep", "1000"], stdin=subprocess.DEVNULL, preexec_fn=group.enter,
                                     pass_fds=[fd for ends in pipes for fd in ends])
            try:
                f = figures(group)
                equal(f["pipe_count"], len(pipes_of(program.pid) | pipes_of(other.pid)),
                      "number of distinct pipes")
                check(f["pipe_limit_bytes"] <= f["pipe_count"] * SPARE,
                      f"upper bound of empty pipes {f['pipe_limit_bytes']}")
                before = [fcntl.fcntl(r, fcntl.F_GETFL) for r, _ in pipes]
                text_of(group)
                equal([fcntl.fcntl(r, fcntl.F_GETFL) for r, _ in pipes], before, "flags")
            finally:
                for started in (program, other):
                    started.kill()
                    started.wait()
    finally:
        for ends in pipes:
            os.close(ends[0])
            os.close(ends[1])


@test
def pipes_are_unknown_without_permission_to_read_them():
    if os.getuid() != 0:
        raise Skip("root only: the group is read as another user")
    with classic() as group, Filled(group, "pipes=2"):
        done = subprocess.run(["setpriv", "--reuid=65534", "--clear-groups", os.environ["MEMSTATE"], "oom",
                               "--cgroup", group.path], capture_output=True, check=False)
        if b"kernel" not in done.stdout:
            raise Skip(f"reading as another user is not possible: {done.stderr.decode().strip()}")
        check(not re.search(rb"^ +pipes ", done.stdout, re.M), done.stdout.decode())


@test
def tcp_buffers_are_known_if_they_have_a_limit():
    with classic() as group:
        group.write("memory.kmem.tcp.limit_in_bytes", 100 * MIB)
        with Filled(group, "tcp=16") as program:
            f = figures(group)
            check_sum(f)
            sockets = [os.readlink(f"/proc/{program.pid}/fd/{fd}") for fd in os.listdir(f"/proc/{program.pid}/fd")]
            equal(f["socket_count"], sum(link.startswith("socket:") for link in sockets), "sockets")
            counted = int(group.read("memory.kmem.tcp.usage_in_bytes"))
            check(f["tcp_bytes"] >= 16 * MIB, f"queued 16 MiB: {f['tcp_bytes']}")
            check(abs(f["tcp_bytes"] - counted) <= counted // 4, f"{f['tcp_bytes']}, the kernel reports {counted}")
            check(f["usage_bytes"] < 16 * MIB, f"TCP buffers are included in usage: {f['usage_bytes']}")
            check("not part of usage" in line_of(text_of(group), "TCP buffers"), "report")


@test
def tcp_buffers_without_a_limit_are_unknown():
    with classic() as group, Filled(group, "tcp=4"):
        equal(figures(group)["tcp_bytes"], None, "TCP buffers")
        check("TCP buffers" not in text_of(group), "report")


@test
def inodes_are_known_only_where_the_kernel_reports_them():
    with classic() as group, Folder() as folder, Filled(group, f"inodes=5:{folder}"):
        f = figures(group)
        slabs = group.read("memory.kmem.slabinfo") if os.path.exists(f"{group.dir}/memory.kmem.slabinfo") else ""
        if " : slabdata " in slabs:
            check(5000 * 300 < f["inode_slab_bytes"] <= f["kernel_bytes"], f"inodes: {f['inode_slab_bytes']}")
        else:
            equal([f["inode_slab_bytes"], f["socket_slab_bytes"]], [None, None], "slabs")
            check("this kernel does not report them" in line_of(text_of(group), "inodes"), "report")


run()
