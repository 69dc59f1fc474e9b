# SPDX-License-Identifier: GPL-2.0-or-later
"""A runtime's own memory limit, recorded from its environment or configuration file,
compared with the cgroup's limit."""

import json
import os
import shutil
import signal
import subprocess
import tempfile

from live import MIB, Folder, check, equal, memstate, run, start_memstate, Skip, wait_until
from oom_lib import TARGET, Group, test

LIMIT = 48 * MIB
SECRET = "hunter2-is-not-for-recordings"


def explain_leak(program, variables, *steps):
    """Record a leak by a program with this name until it is killed. Return the
    explanation and the recording's bytes."""
    with Folder() as folder, Group(LIMIT) as group:
        process = subprocess.Popen([program, "ready=1", *steps, "leak=256/5"], executable=TARGET,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   preexec_fn=group.enter, env={**os.environ, **variables})
        watch = None
        try:
            equal(process.stdout.readline(), b"ready\n", "step")
            watch = start_memstate("oom", "watch", "--cgroup", group.dir, "--record", f"{folder}/r", "-i", "50ms")
            if not watch.stdout.readline():
                raise Skip("built without SQLite")
            process.communicate(b"x", timeout=60)
            watch.send_signal(signal.SIGTERM)
            watch.communicate(timeout=60)
        finally:
            for started in filter(None, (process, watch)):
                started.kill()
                started.wait()
        told = memstate("oom", "explain", "--record", f"{folder}/r", "--json").must_be(0)
        with open(f"{folder}/r", "rb") as f:
            return json.loads(told.out.splitlines()[0]), f.read()


@test
def a_java_heap_larger_than_the_limit():
    end, recording = explain_leak("java", {"JAVA_TOOL_OPTIONS": f"-Dkeystore.password={SECRET} -Xmx600m",
                                           "DB_PASSWORD": SECRET})
    equal(end["cause"], "runtime_limit", f"verdict: {end['why']}")
    check("may grow to 600.0M (-Xmx600m), but the limit is 48.0M" in end["why"], end["why"])
    check("-XX:MaxRAMPercentage" in end["advice"], end["advice"])
    check(b"-Xmx600m" in recording, "the option is not in the recording")
    check(SECRET.encode() not in recording, "other environment variables are in the recording")


@test
def a_java_heap_that_fits():
    end, _ = explain_leak("java", {"JAVA_TOOL_OPTIONS": "-Xmx32m"})
    check("runtime_limit" not in [end["cause"], *end["also"]], f"verdict: {end}")


@test
def a_go_variable_inherited_by_another_program():
    end, recording = explain_leak("server", {"GOMEMLIMIT": "600MiB"})
    check("runtime_limit" not in [end["cause"], *end["also"]], f"verdict: {end}")
    check(b"600MiB" not in recording, "the variable is in the recording")


def explain_with_configuration(mode):
    """Explain a leak by a server that names a file with this mode."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        os.chmod(folder, 0o755)
        with open(f"{folder}/postgresql.conf", "w", encoding="utf-8") as f:
            f.write(f"ssl_passphrase_command = 'echo {SECRET}'\nshared_buffers = 600MB # of 48\n")
        os.chmod(f"{folder}/postgresql.conf", mode)
        return explain_leak("postgres", {"PGDATA": folder}, "shm=16")


@test
def shared_buffers_in_a_configuration_file_that_exceed_the_limit():
    end, recording = explain_with_configuration(0o644)
    equal(end["cause"], "runtime_limit", f"verdict: {end['why']}")
    check("may grow to 600.0M (shared_buffers=600MB in postgresql.conf), but the limit is 48.0M" in end["why"],
          end["why"])
    check(SECRET.encode() not in recording, "other lines of the file are in the recording")


@test
def a_configuration_file_that_the_process_cannot_read_is_not_used():
    end, recording = explain_with_configuration(0o000)
    check("runtime_limit" not in [end["cause"], *end["also"]], f"verdict: {end}")
    check(b"600MB" not in recording, "the file's value is in the recording")


LOAD = """CREATE DATABASE d; USE d; CREATE TABLE t (i INT PRIMARY KEY, s CHAR(200)) ENGINE=InnoDB;
INSERT INTO t SELECT seq, REPEAT('x', 200) FROM seq_1_to_900000;"""


@test
def a_buffer_pool_without_an_option_that_exceeds_the_limit():
    """The size of MariaDB's buffer pool is that of its mapping; no file or option is read."""
    paths = [shutil.which(p, path=os.environ["PATH"] + ":/usr/sbin")
             for p in ("mariadbd", "mariadb-install-db", "mariadb")]
    if not all(paths):
        raise Skip("MariaDB is not installed")
    server, install, client = paths
    with Folder() as folder, Group(120 * MIB) as group:
        own = ["--no-defaults", "--user=root", f"--datadir={folder}/data"]
        subprocess.run([install, *own, "--auth-root-authentication-method=normal"],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        process = subprocess.Popen([server, *own, "--skip-networking", f"--socket={folder}/socket"],
                                   preexec_fn=group.enter, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        watch = None
        try:
            ask = [client, "--no-defaults", "-uroot", f"-S{folder}/socket", "-e"]
            wait_until(lambda: subprocess.run([*ask, "SELECT 1"], capture_output=True, check=False)
                       .returncode == 0, "the server answers")
            # its mappings are recorded with the first sample
            watch = start_memstate("oom", "watch", "--cgroup", group.dir, "--record", f"{folder}/r", "-i", "50ms")
            if not watch.stdout.readline():
                raise Skip("built without SQLite")
            subprocess.run([*ask, LOAD], capture_output=True, check=False)
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired as error:
                raise Skip("the load does not exceed the limit here") from error
            watch.send_signal(signal.SIGTERM)
            watch.communicate(timeout=60)
        finally:
            for started in filter(None, (process, watch)):
                started.kill()
                started.wait()
        told = memstate("oom", "explain", "--record", f"{folder}/r", "--json").must_be(0)
        end = json.loads(told.out.splitlines()[0])
        equal(end["cause"], "runtime_limit", f"verdict: {end['why']}")
        check("innodb_buffer_pool_size of mariadbd" in end["why"], end["why"])
        check("the size of the InnoDB buffer pool" in end["why"], end["why"])


run()
