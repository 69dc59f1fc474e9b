# SPDX-License-Identifier: GPL-2.0-or-later
"""Containers that wait for a line, and then fill their memory until the kernel kills them."""

import json
import os
import shutil
import subprocess

from live import MIB, TIMEOUT, Skip, wait_until
from oom_lib import find_hierarchy

LIMIT = 24 * MIB
BUSYBOX = shutil.which("busybox")
# tail buffers a line until its end, and /dev/zero has no line end
FILL = ["/bin/busybox", "sh", "-c", "read line; exec /bin/busybox tail /dev/zero"]


def need(*tools):
    for tool in (*tools, "busybox"):
        if not shutil.which(tool):
            raise Skip(f"{tool} is not installed")
    if os.geteuid() != 0:
        raise Skip("only root can start containers")
    with open(BUSYBOX, "rb") as f:
        if b"/ld-linux" in f.read():
            raise Skip("busybox is not static")


def make_root(folder):
    root = f"{folder}/root"
    for name in ("bin", "dev", "etc", "proc", "run", "sys", "tmp"):
        os.makedirs(f"{root}/{name}")
    shutil.copy(BUSYBOX, f"{root}/bin/busybox")
    return root


class Container:
    """A running container that waits for a line, then fills its memory; it is removed
    when it exits."""

    def __init__(self, command, path=None, id_file=None, prefix=None):
        """path: the cgroup's path; or id_file: where the runtime writes the id
        that follows prefix."""
        self.path, self.command, self.id_file, self.prefix = path, command, id_file, prefix
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT)

    @property
    def dir(self):
        return find_hierarchy()[0] + self.path

    def has_path(self):
        if not self.path and os.path.exists(self.id_file) and os.path.getsize(self.id_file):
            with open(self.id_file, encoding="ascii") as f:
                self.path = self.prefix + f.read().strip()
        return self.path

    def wait_until_running(self):
        def is_running():
            if self.process.poll() is not None:
                raise Skip(f"{self.command[0]} cannot run here: {self.process.stdout.read().decode().strip()}")
            if not self.has_path():
                return False
            try:
                with open(f"{self.dir}/cgroup.procs") as f:
                    pids = f.read().split()
                return any(os.readlink(f"/proc/{pid}/exe").endswith("/bin/busybox") for pid in pids)
            except OSError:
                return False
        wait_until(is_running, f"{self.command[0]} runs the container")

    def fill(self):
        self.process.communicate(b"go\n", timeout=TIMEOUT)
        return self.process.returncode


def oci_container(runtime, folder, root, path, number):
    """Start a container with runc or crun, whose cgroup is path."""
    bundle = f"{folder}/bundle{number}"
    os.mkdir(bundle)
    subprocess.run([runtime, "spec", "--bundle", bundle], check=True)
    with open(f"{bundle}/config.json", encoding="utf-8") as f:
        config = json.load(f)
    config["root"]["path"] = root
    process, linux = config["process"], config["linux"]
    process.update(terminal=False, args=FILL)
    process.pop("rlimits", None)
    linux["cgroupsPath"] = path
    linux["resources"] = {"memory": {"limit": LIMIT}}
    linux["namespaces"] = [n for n in linux["namespaces"] if n["type"] != "network"]
    with open(f"{bundle}/config.json", "w", encoding="utf-8") as f:
        json.dump(config, f)
    name = f"memstate-{os.getpid()}-{number}"
    return Container([runtime, "--root", f"{folder}/{runtime}", "run", "--bundle", bundle, name], path)
