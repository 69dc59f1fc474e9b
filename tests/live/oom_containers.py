# SPDX-License-Identifier: GPL-2.0-or-later
"""The recorder keeps the kernel's report of an OOM kill in a container that
is removed immediately.

Each runtime gets COUNT kills (default 3): "make stress-oom-containers COUNT=50".
"""

import json
import os
import secrets
import subprocess
import sys
import time

from container_lib import FILL, LIMIT, Container, make_root, need, oci_container
from live import Folder, Skip, check, equal, memstate, need_built_with, run, wait_until
from oom_lib import Watch, find_hierarchy, test

COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 3
PACE = 0.7  # seconds between kills; the kernel reports at most ten kills in five seconds


def recorded_kill(container, path, name):
    """Return an error message if the recording of one kill is wrong, else None."""
    container.wait_until_running()
    watch = Watch(container, path)
    status = container.fill()
    equal(status, 137, f"status of {name}")
    wait_until(lambda: not os.path.exists(container.dir), "the cgroup is removed")
    watch.end(None, None)
    if watch.process.returncode != 4 or "killed   " not in watch.text:
        return f"status {watch.process.returncode}: {watch.text}"
    reports = [text for _, text, _ in watch.events("oom_kill")]
    if len(reports) != 1 or not reports[0] or f"task_memcg={container.path}," not in reports[0] or \
            "Killed process" not in reports[0]:
        return f"reports: {reports}"
    explained = json.loads(memstate("oom", "explain", "--record", path, "--json").must_be(0).out.splitlines()[-1])
    if [explained["end"], explained["has_report"], explained["victim_cgroup"]] != ["killed", True, container.path]:
        return f"explained: {explained}"
    return None


def check_all(name, start):
    """Kill one container after another; no kill may be lost."""
    need_built_with("SQLITE")
    lost = []
    with Folder() as folder:
        root = make_root(folder)
        for i in range(COUNT):
            begun = time.monotonic()
            problem = recorded_kill(start(folder, root, i), f"{folder}/r{i}", name)
            if problem:
                lost.append(problem)
            time.sleep(max(0.0, begun + PACE - time.monotonic()))
    print(f"{name}: {COUNT - len(lost)} of {COUNT} kills were recorded with the kernel's report")
    check(not lost, lost)


@test
def containers_of_runc():
    need("runc")
    check_all("runc", lambda folder, root, i: oci_container("runc", folder, root, f"/memstate-{os.getpid()}-{i}", i))


@test
def containers_at_the_paths_of_docker():
    need("runc")
    try:
        check_all("docker's layout",
                  lambda folder, root, i: oci_container("runc", folder, root, f"/docker/{secrets.token_hex(32)}", i))
    finally:
        folder, _ = find_hierarchy()
        if os.path.isdir(f"{folder}/docker"):
            try:
                os.rmdir(f"{folder}/docker")
            except OSError:
                pass  # other containers are still running


class Docker:
    """A private Docker daemon with an image that contains busybox."""

    def __init__(self, folder, root):
        self.client = ["docker", "-H", f"unix://{folder}/docker.sock"]
        self.log = open(f"{folder}/log", "wb+")
        self.daemon = subprocess.Popen(
            ["dockerd", "-H", f"unix://{folder}/docker.sock", "--data-root", f"{folder}/data", "--exec-root",
             f"{folder}/exec", "--pidfile", f"{folder}/pid", "--storage-driver", "vfs", "--iptables=false",
             "--bridge=none", "--exec-opt", "native.cgroupdriver=cgroupfs"], stdout=self.log, stderr=self.log)
        self.root = root

    def is_ready(self):
        if self.daemon.poll() is not None:
            self.log.seek(0)
            raise Skip(f"dockerd cannot run here: {self.log.read().decode()[-300:].strip()}")
        return subprocess.run([*self.client, "info"], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, check=False).returncode == 0

    def __enter__(self):
        try:
            wait_until(self.is_ready, "dockerd is ready")
            tar = subprocess.run(["tar", "-C", self.root, "-c", "."], stdout=subprocess.PIPE,
                                 check=True).stdout
            subprocess.run([*self.client, "import", "-", "memstate"], input=tar,
                           stdout=subprocess.DEVNULL, check=True)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *unused):
        self.daemon.terminate()
        self.daemon.wait()
        self.log.close()

    def container(self, folder, _root, number):
        id_file = f"{folder}/id{number}"
        return Container([*self.client, "run", "-i", "--rm", "--network", "none", "--cidfile", id_file, "--memory",
                          str(LIMIT), "--memory-swap", str(LIMIT), "memstate", *FILL], id_file=id_file,
                         prefix="/docker/")


@test
def containers_of_docker():
    need("docker", "dockerd")
    if find_hierarchy()[1] != 1:
        raise Skip("docker lays out its cgroups differently in version 2")
    with Folder() as folder, Docker(folder, make_root(folder)) as docker:
        check_all("docker", docker.container)


def podman_container(folder, root, number):
    options = ["--root", f"{folder}/store", "--runroot", f"{folder}/run", "--cgroup-manager", "cgroupfs",
               "--events-backend", "none"]
    id_file = f"{folder}/id{number}"
    # podman's default limits may exceed what is allowed here
    return Container(["podman", *options, "run", "-i", "--rm", "--network", "none", "--cidfile", id_file,
                      "--memory", str(LIMIT), "--memory-swap", str(LIMIT), "--ulimit", "nofile=1024:1024",
                      "--ulimit", "nproc=1024:1024", "--rootfs", root, *FILL], id_file=id_file,
                     prefix="/libpod_parent/libpod-")


@test
def containers_of_podman():
    need("podman", "conmon")
    if find_hierarchy()[1] != 1:
        raise Skip("podman lays out its cgroups differently in version 2")
    check_all("podman", podman_container)


run()
