# SPDX-License-Identifier: GPL-2.0-or-later
"""Cgroups that change while they are read, are large, have odd names, are stuck
or not accessible."""

import json
import os
import signal
import subprocess
import threading

from live import MEMSTATE, MIB, Skip, as_nobody, check, complaints, equal, memstate, parse_csv, run, \
    start_memstate, test, wait_until
from oom_lib import ROOT, Filled, Group, check_sum, figures, find_hierarchy, near

LIMIT = 128 * MIB


class Series:
    """memstate oom as CSV, all columns; each call of row() returns the next sample."""

    def __init__(self, *target):
        self.process = start_memstate("oom", *target, "--csv", "--output-all", "-i", "20ms")
        self.header = self.process.stdout.readline()

    def row(self):
        return parse_csv(self.header + self.process.stdout.readline())[0]

    def row_that(self, is_right):
        """Return the first row that satisfies is_right; a change appears in one of
        the next rows."""
        found = []

        def look():
            found.append(self.row())
            return is_right(found[-1])
        wait_until(look, "a row shows the change")
        return found[-1]

    def end(self):
        self.process.send_signal(signal.SIGINT)
        _, err = self.process.communicate(timeout=60)
        return self.process.returncode, complaints(err)


@test
def a_process_that_moves_counts_in_its_new_cgroup():
    with Group(LIMIT) as group, Group(LIMIT) as other, Filled(group, "anon=20") as filled:
        series = Series("-p", filled.pid)
        check_sum(series.row())
        other.take_in(filled.pid)
        row = series.row_that(lambda row: row["process_count"] == "0")
        equal(row["cgroup"], group.path, "selected cgroup")
        check(row["process_bytes"] == 0, "the cgroup still has processes")
        near(row["live_anon_bytes"], row["unaccounted_bytes"], "memory still charged to the old cgroup")
        group.take_in(filled.pid)
        check_sum(series.row_that(lambda row: row["process_count"] == "1"))
        equal(series.end(), (0, []), "end of the series")


@test
def processes_may_come_and_go():
    with Group(LIMIT) as group, Filled(group, "anon=10"):
        is_over = threading.Event()

        def come_and_go():
            while not is_over.is_set():
                group.run("anon=2", "fork=4/1")
        thread = threading.Thread(target=come_and_go)
        thread.start()
        try:
            series = Series("--cgroup", group.path)
            rows = [series.row() for _ in range(40)]
            equal(series.end(), (0, []), "end of the series")
        finally:
            is_over.set()
            thread.join()
        check(all(row["need_bytes"] >= 8 * MIB for row in rows), "need below the constant part")
        check(all(row["oom_kill_count"] == "0" for row in rows), "kills")


@test
def a_changed_limit_appears_in_a_later_sample():
    with Group(LIMIT) as parent, Group(LIMIT, parent) as group, Filled(group, "anon=5"):
        series = Series("--cgroup", group.path)
        equal(series.row()["limit_bytes"], LIMIT, "limit")
        parent.limit(40 * MIB)
        row = series.row_that(lambda row: row["limit_bytes"] == 40 * MIB)
        equal([row["limit_cgroup"], row["headroom_bytes"]], [parent.path, 40 * MIB - row["need_bytes"]], "whose")
        parent.limit(None)
        group.limit(None)
        row = series.row_that(lambda row: row["limit_bytes"] is None)
        equal([row["limit_cgroup"], row["headroom_bytes"]], [None, None], "limit after its removal")
        equal(series.end(), (0, []), "end of the series")


@test
def child_cgroups_may_be_created_and_removed():
    with Group(LIMIT) as group, Filled(group, "anon=5"):
        series = Series("--cgroup", group.path)
        for i in range(300):
            os.mkdir(f"{group.dir}/{i}")
            if i >= 50:
                os.rmdir(f"{group.dir}/{i - 50}")
        rows = [series.row() for _ in range(3)]
        for i in range(250, 300):
            os.rmdir(f"{group.dir}/{i}")
        equal(series.end(), (0, []), "end of the series")
        check(all(row["process_count"] == "1" for row in rows), "processes")


@test
def hundreds_of_processes_add_up():
    with Group(2 * LIMIT) as group, Filled(group, "anon=10", "fork=400/0"):
        f = figures(group)
        check_sum(f)
        equal(f["process_count"], 401, "processes")
        text = memstate("oom", "--cgroup", group.path).must_be(0).out.decode()
        check("401 processes" in text and "and 391 more" in text, text)


@test
def names_of_cgroups_are_escaped():
    with Group(LIMIT) as group:
        name = b'a "b", c\\d \xff\xc3\xa4 \x1b[31m =1+1'
        path = os.fsencode(group.dir) + b"/" + name
        if group.version == 2:
            group.write("cgroup.subtree_control", "+memory")
        os.mkdir(path)
        try:
            asked = os.fsencode(group.path) + b"/" + name
            said = subprocess.run([MEMSTATE, "oom", "--json", "--cgroup", asked], stdout=subprocess.PIPE,
                                  check=True).stdout
            check(json.loads(said)["oom"]["cgroup"].startswith(group.path + '/a "b", c\\d '), said)
            check(b"\x1b" not in said, "an escape character in the output")
            rows = parse_csv(subprocess.run([MEMSTATE, "oom", "--csv", "--cgroup", asked], stdout=subprocess.PIPE,
                                            check=True).stdout.replace(b"\xff", b"?"))
            equal(len(rows), 1, "rows")
            said = subprocess.run([MEMSTATE, "oom", "--text", "--cgroup", asked], stdout=subprocess.PIPE,
                                  check=True).stdout
            check(b"\x1b" not in said, "an escape character in the output")
        finally:
            os.rmdir(path)


@test
def figures_an_ordinary_user_cannot_read_are_unknown():
    with Group(LIMIT) as group, Filled(group, "anon=20", "free=0", "anon=5"):
        result = memstate("oom", "--cgroup", group.path, "--csv", "--output-all",
                          preexec_fn=as_nobody()).must_be(3)
        check(b"1 of 1 processes could not be read" in result.err, result.err)
        row = result.rows()[0]
        equal([row["hidden_bytes"], row["process_bytes"], row["unaccounted_bytes"]], [None] * 3, "unknown")
        near(row["usage_bytes"], 25 * MIB, "usage")
        text = memstate("oom", "--cgroup", group.path, preexec_fn=as_nobody()).must_be(3).out.decode()
        check("lower bound: some processes could not be read" in text, text)
        check(" hidden" not in text and "in no visible process" not in text, text)


@test
def a_frozen_cgroup_is_read():
    with Group(LIMIT) as group, Filled(group, "anon=10") as filled:
        with frozen(group, filled.pid, group.version):
            f = figures(group)
            check_sum(f)
            equal(f["process_count"], 1, "processes")


class frozen:
    """Freeze a cgroup's processes during the block."""

    def __init__(self, group, pid, version):
        self.version = version
        self.dir = group.dir if version == 2 else f"{ROOT}/freezer{group.path}"
        if version == 1:
            try:
                os.mkdir(self.dir)
            except OSError as error:
                raise Skip(f"{self.dir}: {error.strerror}")
            self.write("cgroup.procs", pid)

    def write(self, name, value):
        with open(f"{self.dir}/{name}", "w") as f:
            f.write(str(value))

    def is_still(self):
        if self.version == 1:
            with open(f"{self.dir}/freezer.state") as f:
                return f.read() == "FROZEN\n"
        with open(f"{self.dir}/cgroup.events") as f:
            return "frozen 1" in f.read()

    def freeze(self, is_wanted):
        if self.version == 1:
            self.write("freezer.state", "FROZEN" if is_wanted else "THAWED")
        else:
            self.write("cgroup.freeze", int(is_wanted))

    def __enter__(self):
        self.freeze(True)
        wait_until(self.is_still, "the cgroup is frozen")

    def __exit__(self, *unused):
        self.freeze(False)
        if self.version == 1:
            with open(f"{self.dir}/cgroup.procs") as f, open(f"{ROOT}/freezer/cgroup.procs", "w") as to:
                to.write(f.read())
            os.rmdir(self.dir)


@test
def processes_stuck_at_the_limit_are_read():
    with Group(32 * MIB) as group:
        if group.version == 2:
            raise Skip("version 2 has no memory.oom_control")
        group.write("memory.oom_control", 1)
        process = group.start("anon=60")
        try:
            wait_until(lambda: "under_oom 1" in group.read("memory.oom_control"),
                       "the cgroup is out of memory")
            f = figures(group)
            check_sum(f)
            near(f["live_anon_bytes"], 32 * MIB, "anon")
            near(f["headroom_bytes"], 0, "headroom")
            equal([f["process_count"], f["oom_kill_count"]], [1, 0], "processes, kills")
        finally:
            process.kill()
            process.communicate()


@test
def in_a_hybrid_hierarchy_the_memory_controller_is_found():
    if find_hierarchy()[1] == 2:
        raise Skip("the hierarchy is version 2 only")
    with open("/proc/self/mountinfo") as f:
        folders = [line.split()[4] for line in f if " - cgroup2 " in line]
    if not folders:
        raise Skip("version 2 is not mounted beside version 1")
    inner = f"{folders[0]}/memstate-{os.getpid()}"
    try:
        os.mkdir(inner)
    except OSError as error:
        raise Skip(f"{inner}: {error.strerror}")
    try:
        with Group(LIMIT) as group, Filled(group, "anon=10") as filled:
            with open(f"{inner}/cgroup.procs", "w") as f:
                f.write(str(filled.pid))
            said = json.loads(memstate("oom", "-p", filled.pid, "--json").must_be(0).out)
            equal([said["oom"]["cgroup"], said["cgroup_version"]], [group.path, 1],
                  "cgroup and version")
            near(said["oom"]["live_anon_bytes"], 10 * MIB, "anon")
    finally:
        wait_until(lambda: not open(f"{inner}/cgroup.procs").read(), "the cgroup is empty")
        os.rmdir(inner)


run()
