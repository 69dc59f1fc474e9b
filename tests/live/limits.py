# SPDX-License-Identifier: GPL-2.0-or-later
"""memstate under resource limits, with closed descriptors, and
in unusual environments."""

import os
import resource
import shutil
import sqlite3
import subprocess
import tempfile

from live import (IS_ROOT, KIB, MEMSTATE, TIMEOUT, Folder, Skip, Target, as_nobody, check,
                  equal, memstate, need_built_with, need_small_address_space, run, test)



def run_without(descriptors, *args):
    """Run memstate with these descriptors (of 0 to 2) closed. Return the exit status."""
    def close_them():
        for fd in descriptors:
            os.close(fd)
    return subprocess.run([MEMSTATE, *[str(a) for a in args]], preexec_fn=close_them,
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, timeout=TIMEOUT).returncode


def integrity(path):
    database = sqlite3.connect(path)
    try:
        return database.execute("PRAGMA integrity_check").fetchone()[0]
    finally:
        database.close()


@test
def with_closed_descriptors_messages_never_end_up_in_a_recording():
    need_built_with("SQLITE")
    with Target("name", "present") as gone:
        pass
    with Target("name", "present") as target, Folder() as folder:
        for i, closed in enumerate(([2], [1], [0], [0, 1, 2], [1, 2])):
            path = os.path.join(folder, f"{i}.msr")
            run_without(closed, "-p", target.pid, "-p", gone.pid, "--csv", "-n", 2, "-i", "50ms",
                        "--record", path)
            with open(path, "rb") as f:
                equal(f.read(16), b"SQLite format 3\0", f"the beginning without {closed}")
            equal(integrity(path), "ok", f"integrity without {closed}")


@test
def a_closed_standard_output_is_an_error():
    with Target("name", "present") as target:
        equal(run_without([1], "-p", target.pid, "--text"), 1, "status without standard output")
        equal(run_without([0], "-p", target.pid, "--text"), 0, "status without standard input")


@test
def a_command_inherits_closed_descriptors():
    with Folder() as folder:
        said = os.path.join(folder, "said")
        script = f"test -e /proc/self/fd/0; echo $? >{said}"
        run_without([0], "count", "--", "sh", "-c", script)
        with open(said) as f:
            equal(f.read().strip(), "1", "number of closed standard inputs")


def limit_file_size(size_bytes):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, size_bytes))
    return limit


def check_too_large(folder, size_bytes, *args):
    before = set(os.listdir(folder))
    result = memstate(*args, preexec_fn=limit_file_size(size_bytes)).must_be(1)
    equal(len(result.errors()), 1, f"lines of {result.err}")
    check("File too large" in result.errors()[0], result.err)
    return set(os.listdir(folder)) - before


@test
def a_capture_beyond_the_file_size_limit_leaves_no_temporary_file():
    with Target("name", "present") as target, Folder() as folder:
        for name in ("tree", "tree.tar"):
            made = check_too_large(folder, KIB, "capture", "-p", target.pid, f"{folder}/{name}")
            equal(made, set(), "files left in the folder")


@test
def a_page_beyond_the_file_size_limit_leaves_no_temporary_file():
    need_built_with("SQLITE")
    with Target("name", "present") as target, Folder() as folder:
        path = f"{folder}/r.msr"
        memstate("-p", target.pid, "--csv", "-n", 200, "-i", "3ms", "--max-share", "100",
                 "--record", path).must_be(0)
        memstate("--replay", path, "--html", f"{folder}/whole.html").must_be(0)
        limit = 33 * KIB  # SQLite needs 32 KiB to read a recording
        check(os.path.getsize(f"{folder}/whole.html") > limit, "the page is too small for this test")
        made = check_too_large(folder, limit, "--replay", path, "--html", f"{folder}/page.html")
        equal(made, set(), "files left in the folder")


@test
def a_recording_without_room_for_its_first_sample_leaves_nothing():
    need_built_with("SQLITE")
    with Target("name", "present") as target, Folder() as folder:
        for size_kib in (1, 4, 8, 20, 60):
            made = check_too_large(folder, size_kib * KIB, "-p", target.pid, "--csv", "-n", 2, "-i",
                                   "10ms", "--record", f"{folder}/r.msr")
            equal(made, set(), f"files left in the folder at {size_kib} KiB")
        # memstate must not remove an empty file that it did not create
        with open(f"{folder}/empty", "wb"):
            pass
        check_too_large(folder, KIB, "-p", target.pid, "--csv", "-n", 2, "-i", "10ms", "--record",
                        f"{folder}/empty")
        check(os.path.exists(f"{folder}/empty"), "memstate removed an empty file of another owner")


@test
def a_full_disk_leaves_no_recording_without_samples():
    need_built_with("SQLITE")
    with Target("name", "present") as target, Folder() as folder:
        for size_kib in (16, 40, 100, 128):
            done = in_mount_namespace(f'mount -t tmpfs -o size={size_kib}k none {folder} || exit 77;'
                                      '"$@" >/dev/null; status=$?; ls -A ' + folder + '; exit $status; :',
                                      "-p", target.pid, "--csv", "-n", 2, "-i", "10ms", "--record",
                                      f"{folder}/r.msr")
            if done.returncode == 77:
                raise Skip("mounting is not permitted")
            check(done.returncode in (1, 3), f"status at {size_kib} KiB: {done.returncode}")
            check(b"No space left on device" in done.stderr, done.stderr)
            equal(done.stdout, b"", f"files left at {size_kib} KiB")


@test
def reading_a_recording_leaves_no_files_beside_it():
    need_built_with("SQLITE")
    with Target("name", "present") as target, Folder() as folder:
        path = f"{folder}/r.msr"
        memstate("-p", target.pid, "--csv", "-n", 3, "-i", "10ms", "--record", path).must_be(0)
        with open(path, "rb") as f:
            content = f.read()
        equal(os.listdir(folder), ["r.msr"], "files after recording")
        for args in (["--replay", path, "--csv"], ["oom", "explain", "--record", path],
                     ["--replay", path, "--text"], ["diff", path, path]):
            memstate(*args)
            equal(os.listdir(folder), ["r.msr"], f"files after {args}")
        with open(path, "rb") as f:
            check(f.read() == content, "reading has changed the recording")


@test
def a_recording_in_another_users_folder_is_readable():
    need_built_with("SQLITE")
    become = as_nobody()
    with Target("name", "present") as target, tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        for name in ("r.msr", "100%20?#.msr"):
            path = os.path.join(folder, name)
            memstate("-p", target.pid, "--csv", "-n", 3, "-i", "10ms", "--record", path).must_be(0)
            os.chmod(path, 0o644)
            copy = shutil.copy(MEMSTATE, f"{folder}/memstate")
            done = subprocess.run([copy, "--replay", path, "--csv"], preexec_fn=become, timeout=TIMEOUT,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            equal((done.returncode, done.stderr), (0, b""), f"reading {name}")
            equal(done.stdout, memstate("--replay", path, "--csv").must_be(0).out, name)
            # a damaged write-ahead log makes the recording unreadable
            with open(f"{path}-wal", "wb") as f:
                f.write(bytes(32))
            done = subprocess.run([copy, "--replay", path, "--csv"], preexec_fn=become, timeout=TIMEOUT,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            equal((done.returncode, done.stdout), (1, b""), f"{name} with a log")


@test
def a_recording_at_the_file_size_limit_keeps_the_samples_that_fit():
    need_built_with("SQLITE")
    with Target("name", "present") as target, Folder() as folder:
        path = f"{folder}/r.msr"
        result = memstate("-p", target.pid, "--csv", "-n", 400, "-i", "2ms", "--max-share", "100",
                          "--record", path, preexec_fn=limit_file_size(100 * KIB))
        result.must_be(3)
        check(any("r.msr: File too large" in line for line in result.errors()), result.err)
        equal(integrity(path), "ok", "integrity")
        kept = memstate("--replay", path, "--csv").must_be(0).rows()
        check(len(kept) > 0, "no sample was kept")
        check(len(result.rows()) > len(kept), "the series ended when the recording did")


@test
def signals_ignored_by_memstate_are_not_ignored_in_the_command():
    with Folder() as folder:
        path = f"{folder}/status"
        script = ["sh", "-c", f"grep -e SigIgn: -e SigBlk: /proc/self/status >{path}"]
        said = []
        for command in (script, [MEMSTATE, "count", "--", *script]):
            subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                           timeout=TIMEOUT)
            with open(path) as f:
                said.append(f.read())
        check("SigIgn:" in said[0], said[0])
        equal(said[1], said[0], "signals that the command ignores and blocks")


def check_commands_with(what, *limits):
    commands = (["--text"], ["map"], ["heap"], ["leaks"], ["count", "-n", "1", "-i", "10ms"])
    with Target("name", "present") as target:
        for limit in limits:
            for command in commands:
                args = command + ["-p", target.pid]
                result = memstate(*args,
                                  preexec_fn=lambda: resource.setrlimit(what, (limit, limit)))
                # 127: not even the dynamic linker can map a library
                check(result.status in (0, 1, 3, 127), f"{args} with {limit}: {result.status}")
                check(result.status == 0 or result.err, f"{args} with {limit}: no message")


@test
def few_descriptors_lead_to_a_message():
    check_commands_with(resource.RLIMIT_NOFILE, 4, 5, 6, 7, 8, 10, 12)


@test
def little_address_space_leads_to_a_message():
    need_small_address_space()
    check_commands_with(resource.RLIMIT_AS, 16 << 20, 32 << 20)


@test
def a_lack_of_address_space_is_not_reported_as_a_limit_of_processes():
    """glibc gives both the same error code. How much memstate needs before it
    starts a thread depends on its libraries."""
    need_small_address_space()
    reasons = set()
    with Target("name", "present") as target:
        for mib in range(8, 96, 2):
            limit = (mib << 20, mib << 20)
            result = memstate("heap", "-p", target.pid,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, limit))
            text = " ".join((result.out + result.err).decode().split())
            check("another process or thread" not in text, f"{mib} MiB: {text}")
            if "no address space or memory for another thread" in text:
                reasons.add(mib)
            if result.status == 0:
                break
    check(reasons, "no limit had this effect")


def in_mount_namespace(script, *args):
    if not IS_ROOT or not shutil.which("unshare"):
        raise Skip("only root can create a mount namespace with unshare(1)")
    if subprocess.run(["unshare", "-m", "true"], stderr=subprocess.DEVNULL).returncode != 0:
        raise Skip("mount namespaces are not available")
    return subprocess.run(["unshare", "-m", "sh", "-c", script + '; exec "$@"', "sh", MEMSTATE,
                           *[str(a) for a in args]], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=TIMEOUT)


@test
def a_restricted_proc_is_read_as_far_as_possible():
    with Target("name", "present") as target:
        done = in_mount_namespace("mount -t proc -o subset=pid proc /proc", "-p", target.pid,
                                  "--text")
        equal(done.returncode, 0, f"status with subset=pid: {done.stderr}")
        hide = "mount -t tmpfs none /dev; mount -t tmpfs none /sys"
        if not MEMSTATE.startswith("/tmp/"):
            hide += "; mount -t tmpfs -o ro none /tmp"
        done = in_mount_namespace(hide, "leaks", "-p", target.pid)
        equal(done.returncode, 0, f"status without /dev and /sys: {done.stderr}")
        done = in_mount_namespace("umount -l /proc", "-p", target.pid, "--text")
        equal(done.returncode, 1, "status without /proc")
        check(b"/proc is not mounted" in done.stderr, done.stderr)


@test
def a_process_hidden_by_hidepid_is_not_reported_as_gone():
    if not shutil.which("setpriv"):
        raise Skip("setpriv(1) is not installed")
    with Target("name", "present") as target:
        done = in_mount_namespace("mount -t proc -o hidepid=2 proc /proc; set -- setpriv "
                                  '--reuid=65534 --regid=65534 --clear-groups "$@"',
                                  "-p", target.pid, "--text")
        equal(done.returncode, 1, "status")
        check(b"hidepid" in done.stderr, done.stderr)


@test
def a_setuid_copy_refuses_to_run():
    become = as_nobody()
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        copy = shutil.copy(MEMSTATE, f"{folder}/memstate")
        os.chmod(copy, 0o4755)
        done = subprocess.run([copy, "--text"], preexec_fn=become, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=TIMEOUT)
        if b"set-user-ID" not in done.stderr and os.statvfs(folder).f_flag & os.ST_NOSUID:
            raise Skip("the temporary folder is mounted nosuid")
        equal((done.returncode, done.stdout), (1, b""), "status and output")
        check(b"set-user-ID" in done.stderr, done.stderr)


@test
def odd_environments_cause_no_failure():
    hostile = {"HOME": "/nonexistent", "TMPDIR": "/nonexistent", "TERM": "../../x",
               "TERMINFO": "/etc", "LC_ALL": "xx_YY.bad", "COLUMNS": "-5", "LINES": "x",
               "NO_COLOR": "", "XDG_CONFIG_HOME": "\n", "MEMSTATE_COUNT": "/etc"}
    with Target("name", "present") as target:
        for environment in ({}, hostile, {"COLUMNS": "9" * 30}, {"COLUMNS": "1"}):
            for args in (["--text"], ["heap"], ["map"], ["doctor"]):
                memstate(*args, "-p", target.pid, env=environment).must_be(0)
        memstate("count", "--", shutil.which("true"), env=hostile).must_be(0)


run()
