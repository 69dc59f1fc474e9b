# SPDX-License-Identifier: GPL-2.0-or-later
"""Processes that an ordinary user cannot read are counted and reported, never
shown as empty."""

import contextlib
import json
import os
import pwd
import shutil
import subprocess
import sys
import tempfile

from live import (IS_ROOT, MEMSTATE, MIB, TIMEOUT, Skip, Target, as_nobody, check, equal,
                  json_rows, memstate, run, test)


@contextlib.contextmanager
def somebody_elses():
    """Return a process of another user, and a preexec_fn; as root, run memstate
    as another user."""
    if not IS_ROOT:
        if os.stat("/proc/1").st_uid == os.geteuid():
            raise Skip("process 1 belongs to the same user")
        yield 1, None
        return
    become = as_nobody()
    try:
        subprocess.run([MEMSTATE, "--version"], preexec_fn=become, check=True,
                       stdout=subprocess.DEVNULL)
    except (OSError, subprocess.SubprocessError):
        raise Skip("the build tree cannot be reached by another user") from None
    with Target("unbacked", MIB, MIB) as target:
        yield target.pid, become


@test
def one_unreadable_process_is_an_error_with_a_remedy():
    with somebody_elses() as (theirs, become):
        for args in (["--csv"], ["--json"], ["--text"], ["--csv", "-n1", "--output-all"]):
            result = memstate("-p", theirs, *args, preexec_fn=become).must_be(1)
            equal(result.out, b"", f"stdout of {args}")
            check(f"{theirs}: Permission denied" in result.errors()[0], result.err)
        result = memstate("map", "-p", theirs, "--csv", preexec_fn=become).must_be(1)
        equal(result.out, b"", "stdout of map")


@test
def a_proc_of_another_pid_namespace_is_refused():
    if not IS_ROOT or not shutil.which("unshare"):
        raise Skip("only root can create a PID namespace with unshare(1)")
    within = ["unshare", "--pid", "--fork"]
    try:
        done = subprocess.run([*within, "true"], capture_output=True, timeout=TIMEOUT, check=False)
    except subprocess.TimeoutExpired:
        raise Skip("unshare(1) hangs") from None
    if done.returncode != 0:
        raise Skip(f"a PID namespace is not permitted: {done.stderr.decode().strip()}")
    # in the new namespace memstate is 1; in /proc, 1 is another process
    for args in (["-p", "1", "--csv", "-n1"], ["--json", "-n1"], ["heap", "-p", "1"],
                 ["map", "-p", "1"], ["leaks", "-p", "1"]):
        done = subprocess.run([*within, MEMSTATE, *args], capture_output=True, timeout=TIMEOUT,
                              check=False)
        equal(done.returncode, 1, f"status of {args}; {done.stderr}")
        equal(done.stdout, b"", f"stdout of {args}")
        equal(done.stderr, b"memstate: /proc belongs to another PID namespace; "
              b"mount proc in this one\n", f"stderr of {args}")
    done = subprocess.run([*within, "--mount-proc", MEMSTATE, "-p", "1", "--csv", "-n1", "-o", "pid"],
                          capture_output=True, timeout=TIMEOUT, check=False)
    if b"unshare:" not in done.stderr:
        equal((done.returncode, done.stdout), (0, b"pid\n1\n"), f"with its own /proc; {done.stderr}")


@test
def one_unreadable_process_of_two_is_a_partial_result():
    with somebody_elses() as (theirs, become), \
         Target("unbacked", MIB, MIB, preexec_fn=become) as ours:
        result = memstate("-p", f"{theirs},{ours.pid}", "--csv", "-n1",
                          preexec_fn=become).must_be(3)
        equal([row["pid"] for row in result.rows()], [ours.pid], "pids")
        check(f"{theirs}: Permission denied" in result.errors()[0], result.err)


@test
def unreadable_processes_are_counted_when_all_are_listed():
    with somebody_elses() as (theirs, become), \
         Target("unbacked", MIB, MIB, preexec_fn=become) as ours:
        result = memstate("--csv", "-n1", "-o", "pid,rss_bytes", preexec_fn=become).must_be(3)
        pids = {row["pid"] for row in result.rows()}
        check(ours.pid in pids, "the user's own process is missing")
        check(theirs not in pids, "a process that cannot be read is listed")
        numbers = [int(word) for word in result.errors()[0].split() if word.isdigit()]
        unreadable, total = numbers[:2]
        equal(total - unreadable, len(pids), "readable ones")
        check(unreadable >= 1, f"unreadable: {unreadable}")

        result = memstate("--json", "-n1", "-o", "pid,rss_bytes", preexec_fn=become).must_be(3)
        check(json_rows(result.out)[0]["unreadable"] >= 1, "unreadable in JSON")


@test
def root_without_the_capability_is_not_advised_to_run_as_root():
    if not IS_ROOT or not shutil.which("setpriv"):
        raise Skip("requires root and setpriv to drop capabilities")
    with Target("unbacked", MIB, MIB, preexec_fn=as_nobody()) as theirs:
        # CAP_PERFMON may also read memory maps since Linux 6.15;
        # CAP_SYS_ADMIN includes CAP_PERFMON
        result = subprocess.run(
            ["setpriv", "--inh-caps=-all", "--bounding-set=-sys_ptrace,-perfmon,-sys_admin",
             MEMSTATE, "-p", str(theirs.pid), "--text"], capture_output=True, text=True, check=False)
    equal(result.returncode, 1, "exit status")
    check(f"hint: memstate runs as root without CAP_{least_right().upper()}" in result.stderr,
          result.stderr)
    check("sudo" not in result.stderr, result.stderr)


@test
def the_hint_for_another_user_names_the_user_who_may():
    with somebody_elses() as (theirs, become):
        uid = os.stat(f"/proc/{theirs}").st_uid
        errors = memstate("-p", theirs, "--text", preexec_fn=become).must_be(1).errors()
        check(f"the process runs as {pwd.getpwuid(uid).pw_name}; use 'sudo" in errors[1], errors)
    if IS_ROOT:  # the named user may read it
        with Target("unbacked", MIB, MIB, preexec_fn=as_nobody()) as theirs:
            memstate("-p", theirs.pid, "--text", preexec_fn=as_nobody()).must_be(0)


def least_right():
    """Return the capability that permits reading the memory figures of other processes."""
    version = os.uname().release.split("-")[0].split(".")
    return "perfmon" if (int(version[0]), int(version[1])) >= (6, 15) else "sys_ptrace"


@test
def a_file_capability_grants_what_the_hint_says():
    if not IS_ROOT or not shutil.which("setcap"):
        raise Skip("requires root and setcap")
    with Target("unbacked", MIB, MIB) as target, tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        program = os.path.join(folder, "memstate")
        shutil.copy(MEMSTATE, program)
        capability = f"cap_{least_right()}+ep"
        hint = memstate("-p", target.pid, "--text", preexec_fn=as_nobody()).must_be(1).errors()[1]
        check(f"'sudo setcap {capability} FILE'" in hint, hint)
        if subprocess.run(["setcap", capability, program], check=False,
                          stderr=subprocess.DEVNULL).returncode != 0:
            raise Skip("this file system or kernel refuses file capabilities")
        for path, status in ((MEMSTATE, 1), (program, 0)):
            try:
                result = subprocess.run([path, "-p", str(target.pid), "--text"], check=False,
                                        capture_output=True, preexec_fn=as_nobody())
            except (OSError, subprocess.SubprocessError) as e:
                raise Skip(f"cannot be started: {e}") from None
            equal(result.returncode, status, f"status: {result.stderr}")


PROTECTED = """
import ctypes, os, sys
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(int(sys.argv[1]))
    os.setuid(int(sys.argv[1]))
ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
print(end="x", flush=True)
sys.stdin.read()
"""


@test
def a_process_that_is_protected_from_its_user_is_explained():
    become = as_nobody() if IS_ROOT else None
    nobody = str(pwd.getpwnam("nobody").pw_uid)
    process = subprocess.Popen([sys.executable, "-c", PROTECTED, nobody], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE)
    try:
        process.stdout.read(1)
        result = memstate("-p", process.pid, "--text", preexec_fn=become)
        if result.status == 0:
            raise Skip("this user may read undumpable processes")
        check("hint: the process is protected from its own user" in result.errors()[1], result.err)
    finally:
        process.stdin.close()
        process.wait()


@test
def root_of_a_user_namespace_is_referred_to_the_host():
    unshare = ["unshare", "-U", "-r", MEMSTATE]
    if not shutil.which("unshare") or \
            subprocess.run([*unshare, "--version"], check=False, capture_output=True).returncode != 0:
        raise Skip("user namespaces are not available")
    with Target("unbacked", MIB, MIB) as target:
        result = subprocess.run([*unshare, "-p", str(target.pid), "--text"], check=False,
                                capture_output=True, text=True)
    equal(result.returncode, 1, "status")
    check("run memstate on the host" in result.stderr, result.stderr)


@test
def the_scope_of_yama_is_named():
    try:
        with open("/proc/sys/kernel/yama/ptrace_scope") as f:
            scope = int(f.read())
    except OSError:
        raise Skip("this kernel has no Yama") from None
    if scope == 0:
        raise Skip("kernel.yama.ptrace_scope is 0")
    become = as_nobody() if IS_ROOT else None
    with Target("unbacked", MIB, MIB, preexec_fn=become) as target:
        result = memstate("heap", "-p", target.pid, preexec_fn=become).must_be(1)
        check(f"kernel.yama.ptrace_scope is {scope}" in result.errors()[-1], result.err)


HIDDEN = """
mount -t proc -o hidepid=2 proc /proc || exit 77
for only in -all -all,+sys_ptrace; do
	as="setpriv --reuid=65534 --regid=65534 --clear-groups --ambient-caps=$only"
	as="$as --inh-caps=$only --bounding-set=$only"
	$as "$MEMSTATE" doctor --json
	$as test -e /proc/$$ && echo 1 || echo 0
done
"""


@test
def doctor_names_the_least_right_for_all_processes():
    become = as_nobody() if IS_ROOT else None
    checks = {c["name"]: c for c in json.loads(memstate("doctor", "--json", preexec_fn=become).out)["checks"]}
    if checks["all_processes"]["answer"] == "yes":
        raise Skip("this user may read all processes")
    check(f"CAP_{least_right().upper()}" in checks["all_processes"]["fix"], checks["all_processes"])


@test
def doctor_names_the_rights_that_hidepid_requires():
    if not IS_ROOT or not shutil.which("setpriv") or not shutil.which("unshare"):
        raise Skip("requires root, setpriv and unshare")
    done = subprocess.run(["unshare", "-m", "sh", "-c", HIDDEN], capture_output=True, text=True,
                          timeout=TIMEOUT, check=False)
    if done.returncode == 77 or "unshare:" in done.stderr:
        raise Skip(f"/proc cannot be mounted with hidepid: {done.stderr.strip()}")
    lines = done.stdout.splitlines()
    equal(len(lines), 4, f"lines; {done.stderr}")
    for report, is_seen, wanted in ((lines[0], lines[1], "partly"), (lines[2], lines[3], "yes")):
        checks = {c["name"]: c for c in json.loads(report)["checks"]}
        equal(checks["visible_processes"]["answer"], wanted, "the answer of doctor")
        equal(is_seen == "1", wanted == "yes", "another user's process is visible")
    fix = {c["name"]: c["fix"] for c in json.loads(lines[0])["checks"]}
    check("gid=" in fix["visible_processes"], fix)


run()
