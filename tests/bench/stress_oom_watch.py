# SPDX-License-Identifier: GPL-2.0-or-later
"""Kill the flight recorder of a busy cgroup COUNT times at random ("make stress-oom-watch
COUNT=n"; not part of "make check").

Each time the recording must open, be complete up to its last sample, and contain
all earlier samples.
"""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.environ["srcdir"], "tests", "live"))

from live import MIB, Folder, check, equal, memstate, start_memstate  # pylint: disable=wrong-import-position
from oom_lib import Filled, Group  # pylint: disable=wrong-import-position


def query(path, sql):
    with sqlite3.connect(path) as db:
        return db.execute(sql).fetchall()


def kill_once(group, path, before):
    process = start_memstate("oom", "watch", "--cgroup", group.dir, "--record", path, "-i", "5ms",
                             stderr=subprocess.DEVNULL)
    process.stdout.readline()
    time.sleep(random.uniform(0, 0.3))
    seen = query(path, "SELECT max(sample) FROM sample")[0][0]
    process.send_signal(signal.SIGKILL)
    process.communicate()
    equal(query(path, "PRAGMA integrity_check"), [("ok",)], "integrity of the file")
    count, last = query(path, "SELECT count(*), max(sample) FROM sample")[0]
    equal(count, last, "samples without a gap")
    check(last >= seen > before, f"{last} samples, {seen} before the kill, {before} before the run")
    # each sample has its cgroup: none is incomplete
    equal(query(path, "SELECT count(*) FROM sample WHERE sample NOT IN (SELECT sample FROM cgroup_level) AND "
                      "sample IN (SELECT min(sample) FROM sample GROUP BY session)"), [(0,)], "first samples")
    return last


def main():
    count, last = int(sys.argv[1]), 0
    with Folder() as folder, Group(128 * MIB) as group, Filled(group, "fork=5/2", "anon=20"):
        churn = group.start("leak=16/3")
        path = f"{folder}/r"
        for _ in range(count):
            if churn.poll() is not None:
                churn = group.start("leak=16/3")
            last = kill_once(group, path, last)
        churn.kill()
        churn.wait()
        rows = memstate("oom", "--replay", path, "--csv", "-o", "usage_bytes").must_be(0).rows()
        equal(len(rows), last, "samples shown")
    print(f"killed {count} times: {last} samples, all complete")


main()
