# SPDX-License-Identifier: GPL-2.0-or-later
"""A recording of a pod shows which container grew and whose allocation hit the limit."""

import contextlib
import html
import json
import signal
import sqlite3
import time

from live import (KIB, MIB, Folder, Skip, check, equal, memstate, run, start_memstate, status_field,
                  wait_until)
from oom_lib import Group, test

LIMIT = 64 * MIB
POD_UID = "0f4cfb95-1f6f-4ca1-8a3c-2a8ff83b3d1e"
APP_ID, SIDECAR_ID = "a" * 64, "5" * 64


class Pod:
    """Cgroups named as kubelet does, with the limit at the pod."""

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            outer = stack.enter_context(Group())
            kubepods = stack.enter_context(Group(parent=outer, name="kubepods"))
            self.group = stack.enter_context(Group(LIMIT, parent=kubepods, name=f"pod{POD_UID}"))
            self.app = stack.enter_context(Group(parent=self.group, name=APP_ID))
            self.sidecar = stack.enter_context(Group(parent=self.group, name=SIDECAR_ID))
            self.processes = []
            self.stack = stack.pop_all()
        return self

    def start(self, group, *steps):
        """Start a program with these steps and wait for its first ready=1."""
        process = group.start(*steps)
        self.processes.append(process)
        wait_for_ready(process)
        return process

    def __exit__(self, *unused):
        for process in self.processes:
            process.kill()
            process.communicate()
        self.stack.close()


def wait_for_ready(process):
    equal(process.stdout.readline(), b"ready\n", "step")


def go_on(process):
    process.stdin.write(b"x")
    process.stdin.flush()


class Watch:
    """memstate oom watch of a pod."""

    def __init__(self, pod, path):
        self.path = path
        self.process = start_memstate("oom", "watch", "--cgroup", pod.group.dir, "--record", path, "-i", "50ms")
        if not self.process.stdout.readline():
            err = self.process.stderr.read()
            raise Skip("built without SQLite") if b"require SQLite" in err else AssertionError(err)

    def query(self, sql):
        with contextlib.closing(sqlite3.connect(self.path)) as db:
            return db.execute(sql).fetchall()

    def wait_for_samples(self, count):
        seen = self.query("SELECT count(*) FROM sample")[0][0]
        wait_until(lambda: self.query("SELECT count(*) FROM sample")[0][0] > seen + count, "more samples")

    def wait_for_kill(self):
        wait_until(lambda: self.query("SELECT count(*) FROM event WHERE kind='oom_kill'")[0][0] > 0,
                   "a kill is recorded")

    def explain(self):
        self.process.send_signal(signal.SIGTERM)
        _, err = self.process.communicate(timeout=60)
        equal(self.process.returncode, 4, f"status {err}")
        if b"kernel's log" in err:
            raise Skip("the kernel's log cannot be read")
        command = ["oom", "explain", "--record", self.path]
        text = " ".join(memstate(*command).must_be(0).out.decode().split())
        return json.loads(memstate(*command, "--json").must_be(0).out.splitlines()[0]), text


def check_grew(told, process, container_id, least_mib):
    """The process grew to more than least_mib. The rise is measured since the last change of
    pace, and other load on the machine changes the pace."""
    end, text = told
    grower = end["sample"]["growth"]["process"]
    check(grower, f"no growing process found: {text}")
    equal(grower["pid"], process.pid, f"pid of the grower: {text}")
    equal(grower["container_id"], container_id[:12], f"container of the grower: {text}")
    check(grower["to_bytes"] > least_mib * MIB, f"size of the grower: {grower}")
    check(grower["to_bytes"] - grower["from_bytes"] >= MIB, f"growth: {grower}")
    check(f"({process.pid}) in container {container_id[:12]}" in text, text)


def check_hit_by(told, process, container_id):
    end, text = told
    equal(end["hit_by"]["pid"], process.pid, f"pid whose allocation hit the limit: {text}")
    equal(end["hit_by"]["container_id"], container_id[:12], "container of that process")


@test
def a_sidecar_that_leaks_beside_an_app_that_was_larger_from_the_start():
    with Folder() as folder, Pod() as pod:
        app = pod.start(pod.app, "ready=1", "anon=40", "ready=1")
        sidecar = pod.start(pod.sidecar, "ready=1", "leak=256/20")
        watch = Watch(pod, f"{folder}/r")
        watch.wait_for_samples(2)
        go_on(app)
        wait_for_ready(app)
        watch.wait_for_samples(25)
        go_on(sidecar)
        watch.wait_for_kill()
        sidecar.kill()
        told = watch.explain()
        equal(told[0]["victim"]["pid"], app.pid, "pid of the victim")
        check_grew(told, sidecar, SIDECAR_ID, 15)
        check_hit_by(told, sidecar, SIDECAR_ID)
        check("its own allocation exceeded the limit" in told[1], told[1])
        memstate("--html", f"{folder}/page.html", "--replay", watch.path).must_be(0)
        with open(f"{folder}/page.html", encoding="utf-8") as f:
            page = html.unescape(f.read())
        verdict = page.partition("<h2>Verdict</h2>")[2].partition("</pre>")[0]
        check(f"({sidecar.pid}) in container {SIDECAR_ID[:12]}" in verdict,
              f"verdict in the page: {verdict}")
        check("\ncause " in verdict and "\nadvice " in verdict and "\\x0a" not in page, verdict)
        with contextlib.closing(sqlite3.connect(watch.path)) as db:
            db.execute("UPDATE cgroup SET container='app', pod='web-0<b>', namespace='shop'")
            db.commit()
        memstate("--html", f"{folder}/named.html", "--replay", watch.path).must_be(0)
        with open(f"{folder}/named.html", encoding="utf-8") as f:
            page = f.read()
        check("Runs <code>container app of pod shop/web-0&lt;b&gt;</code>" in page,
              "the page has no line with the names")


def grow_until_the_sidecar_hits_the_limit(folder, pod):
    """Return memstate's explanation of the kill, the app, the sidecar, and the time in ms from
    stopping the app to its kill."""
    app = pod.start(pod.app, "ready=1", "leak=512/25")
    sidecar = pod.start(pod.sidecar, "ready=1", "anon=12")
    watch = Watch(pod, f"{folder}/r")
    watch.wait_for_samples(10)
    go_on(app)
    wait_until(lambda: int(status_field(app.pid, "VmRSS").split()[0]) * KIB > 54 * MIB, "the app has grown")
    # otherwise, either of them could hit the limit first
    app.send_signal(signal.SIGSTOP)
    stopped_ms = time.time() * 1000
    go_on(sidecar)
    watch.wait_for_kill()
    killed_ms = watch.query("SELECT unix_ms FROM event WHERE kind='oom_kill'")[0][0]
    return watch.explain(), app, sidecar, killed_ms - stopped_ms


@test
def an_app_that_grew_until_a_sidecars_allocation_hit_the_limit():
    for _ in range(10):
        with Folder() as folder, Pod() as pod:
            told, app, sidecar, stopped_ms = grow_until_the_sidecar_hits_the_limit(folder, pod)
        # an app that is stopped for longer no longer grows
        if stopped_ms < 150:
            break
    else:
        raise Skip("the machine is too busy")
    check_grew(told, app, APP_ID, 40)
    check_hit_by(told, sidecar, SIDECAR_ID)
    check(f"the allocation that exceeded the limit was by oom_target ({sidecar.pid}) in container {SIDECAR_ID[:12]}"
          in told[1], told[1])


@test
def an_app_that_was_restarted_at_the_same_size():
    with Folder() as folder, Pod() as pod:
        first = pod.start(pod.app, "anon=40", "ready=1")
        sidecar = pod.start(pod.sidecar, "ready=1", "leak=256/20")
        watch = Watch(pod, f"{folder}/r")
        watch.wait_for_samples(25)
        go_on(sidecar)
        watch.wait_for_samples(10)
        first.kill()
        first.wait()
        pod.start(pod.app, "anon=40", "ready=1")
        watch.wait_for_kill()
        sidecar.kill()
        check_grew(watch.explain(), sidecar, SIDECAR_ID, 12)


@test
def a_limit_of_one_container_concerns_its_processes_alone():
    with Folder() as folder, Pod() as pod:
        pod.sidecar.limit(16 * MIB)
        app = pod.start(pod.app, "ready=1", "anon=30", "ready=1")
        sidecar = pod.start(pod.sidecar, "ready=1", "leak=256/20")
        watch = Watch(pod, f"{folder}/r")
        watch.wait_for_samples(20)
        go_on(sidecar)
        go_on(app)
        wait_for_ready(app)
        watch.wait_for_kill()
        told = watch.explain()
        equal(told[0]["limit_cgroup"], pod.sidecar.path, "cgroup of the limit")
        check_grew(told, sidecar, SIDECAR_ID, 10)
        sample = told[0]["sample"]
        # the recorded amounts are the pod's, which the app has, too
        for key in ("need_bytes", "usage_bytes", "hidden_bytes", "working_set_bytes"):
            equal(sample[key], None, f"{key} of the container")
        check(0 <= sample["growth"]["rise_bytes"] <= 16 * MIB, f"rise within the limit: {sample}")


run()
