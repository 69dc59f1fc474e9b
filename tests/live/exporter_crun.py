#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""memstate exporter: kills in containers of crun, which requires cgroup version 2, count once each,
with their verdicts."""

import os

import oom_lib
from container_lib import make_root, need, oci_container
from exporter_lib import Exporter, add_up
from live import Folder, Skip, equal, run, wait_until
from oom_lib import find_hierarchy

KILLS = "memstate_cgroup_oom_kills_total"
VERDICTS = "memstate_oom_verdicts_total"
COUNT = 3


@oom_lib.test
def a_kill_in_a_container_of_crun_counts_once_with_its_verdict():
    need("crun")
    if find_hierarchy()[1] != 2:
        raise Skip("crun requires cgroup version 2")
    if not oom_lib.can_read_log():
        raise Skip("the kernel log cannot be read")
    path = f"/memstate-{os.getpid()}-crun"
    with Folder() as folder, Exporter("--group-by", "cgroup", "--match", f"^{path}$", "-i", "50ms",
                                      "--max-cpu", "100%") as x:
        root = make_root(folder)
        x.wait_ready()
        verdicts = add_up(x.samples(), VERDICTS)
        for i in range(COUNT):
            container = oci_container("crun", folder, root, path, i)
            container.wait_until_running()
            x.wait_for(lambda s, n=i: add_up(s, KILLS, group=path) == n, "the counter before the kill")
            equal(container.fill(), 137, "status of crun")
            wait_until(lambda c=container: not os.path.exists(c.dir), "the cgroup is removed")
            samples = x.wait_for(lambda s, n=i: add_up(s, KILLS, group=path) > n and
                                 add_up(s, VERDICTS) > verdicts + n, "the kill and its verdict")
            equal(add_up(samples, KILLS, group=path), i + 1, "kills")
            equal(add_up(samples, VERDICTS), verdicts + i + 1, "verdicts")


if __name__ == "__main__":
    run()
