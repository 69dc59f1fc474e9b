# SPDX-License-Identifier: GPL-2.0-or-later
"""A recording of oom watch shows what led to a real kill, up to the kill, whichever
process was killed."""

import ctypes
import os
import pty
import signal
import subprocess
import threading

import live
from live import (IS_ROOT, MEMSTATE, MIB, TIMEOUT, Folder, Skip, as_nobody, check, equal, memstate,
                  run, start_memstate, status_field, stop, wait_until)
from oom_lib import Filled, Group, Watch, can_read_log, test

LIMIT = 48 * MIB
KILLED = -signal.SIGKILL
CLONE_NEWNS, MS_BIND, MS_REC, MS_PRIVATE = 0x20000, 1 << 12, 1 << 14, 1 << 18


def has_source(watch, word):
    return word not in watch.err


def usage_over_time(watch):
    rows = memstate("oom", "--replay", watch.path, "--csv", "-o", "time,usage_bytes,need_bytes,process_count")
    return rows.must_be(0).rows()


@test
def a_leak_is_recorded_up_to_its_end():
    with Folder() as folder, Group(LIMIT) as group:
        watch = Watch(group, f"{folder}/r")
        equal(group.run("leak=256/5"), KILLED, "status")
        watch.wait_for("oom_kill")
        watch.end(4)
        rows = usage_over_time(watch)
        near = [row for row in rows if row["need_bytes"] > LIMIT * 8 // 10]
        check(len(near) >= 4, f"{len(near)} samples above 80 %")
        check(max(row["need_bytes"] for row in rows) > LIMIT - 4 * MIB,
              "no sample shortly before the kill")
        # version 2 sends no notification before the limit is reached
        check(len(watch.events("limit")) >= (2 if group.version == 1 else 1), watch.events("limit"))
        check("killed   " in watch.text and "oom_target" in watch.text, watch.text)
        equal(watch.err.count(b"the watch continues until the cgroup is removed"), 1, watch.err)
        kills = watch.events("oom_kill")
        equal(len(kills), 1, "kills")
        if has_source(watch, b"kernel's log"):
            check("Killed process" in kills[0][1] and group.path in kills[0][1], kills[0][1])
        if has_source(watch, b"wait for the kernel to choose a victim"):
            equal([e[0] for e in watch.events("victim")], [k[0] for k in kills], "victims")


@test
def the_victim_need_not_be_the_growing_process():
    with Folder() as folder, Group(LIMIT) as group, Filled(group, "anon=30") as idle:
        watch = Watch(group, f"{folder}/r")
        group.run("leak=256/5")
        watch.wait_for("oom_kill")
        watch.end(4)
        equal(watch.events("oom_kill")[0][0], idle.pid, "pid of the first victim")
        rss = watch.query("SELECT max(rss_kb) FROM process JOIN usage USING(process) "
                          f"WHERE pid={idle.pid}")[0][0]
        check(rss >= 30 * 1024, f"memory of the victim: {rss} kB")


@test
def an_idle_cgroup_is_sampled_rarely_and_not_killed():
    with Folder() as folder, Group(LIMIT) as group, Filled(group, "anon=5", "fork=3/1") as filled:
        watch = Watch(group, f"{folder}/r", "-i", "200ms", "-n", 5)
        watch.end(0, None)
        equal(watch.query("SELECT count(*) FROM sample"), [(5,)], "samples")
        check("no process was killed" in watch.text, watch.text)
        equal([row["process_count"] for row in usage_over_time(watch)][0], "4", "processes")
        pids = [row[0] for row in watch.query("SELECT pid FROM process")]
        check(filled.pid in pids and len(pids) == 4, pids)
        check(watch.query("SELECT count(*) FROM mapping")[0][0] > 40, "mappings")


@test
def kills_in_other_cgroups_are_ignored():
    with Folder() as folder, Group(LIMIT) as group, Group(16 * MIB) as other, Filled(group, "anon=5"):
        watch = Watch(group, f"{folder}/r", "-i", "20ms")
        equal(other.run("anon=30"), KILLED, "status")
        seen = watch.query("SELECT count(*) FROM sample")[0][0]
        wait_until(lambda: watch.query("SELECT count(*) FROM sample")[0][0] > seen + 10,
                   "the watch has continued")
        watch.end(0)
        equal(watch.query("SELECT * FROM event WHERE kind IN ('victim', 'oom_kill')"), [], "events")


@live.test
def a_kill_is_recorded_although_the_kernel_omits_its_report():
    if not can_read_log():
        raise Skip("the kernel's log cannot be read")
    with Folder() as folder, Group() as group, Group(LIMIT, group) as child, Group(8 * MIB) as full:
        watch = Watch(group, f"{folder}/r", "-i", "20ms")
        for _ in range(5):
            # the kernel reports at most ten kills in five seconds
            for _ in range(11):
                equal(full.run("anon=16"), KILLED, "status in the other cgroup")
            count = len(watch.events("oom_kill"))
            process = child.start("anon=20", "wait=200", "anon=40")
            _, err = process.communicate(timeout=TIMEOUT)
            equal(process.returncode, KILLED, f"status {err}")
            wait_until(lambda: len(watch.events("oom_kill")) > count, "the kill is recorded")
            pid, text, _ = watch.events("oom_kill")[-1]
            equal(pid, process.pid, "pid of the victim")
            if "oom-kill:" not in text:
                break
        else:
            raise Skip("the kernel reported each kill")
        watch.end(4)


@test
def removing_the_cgroup_ends_the_watch():
    with Folder() as folder, Group(LIMIT) as group:
        watch = Watch(group, f"{folder}/r", "-i", "50ms")
        os.rmdir(group.dir)
        watch.end(0, None)
        equal(len(watch.events("removed")), 1, "events")
        os.mkdir(group.dir)


@test
def a_killed_watch_leaves_a_valid_recording():
    with Folder() as folder, Group(LIMIT) as group, Filled(group, "anon=5"):
        for n in range(5):
            watch = Watch(group, f"{folder}/r", "-i", "5ms")
            wait_until(lambda: watch.query("SELECT count(*) FROM sample WHERE session="
                                           f"(SELECT max(session) FROM sample)")[0][0] > 3 + n, "samples")
            watch.end(-signal.SIGKILL, signal.SIGKILL)
            equal(watch.query("PRAGMA integrity_check"), [("ok",)], "integrity of the file")
        rows = usage_over_time(watch)
        check(len(rows) > 20 and all(row["usage_bytes"] for row in rows),
              "missing or incomplete samples")


@test
def missing_permissions_are_reported():
    with Folder() as folder, Group(LIMIT) as group:
        os.chmod(folder, 0o777)
        watch = Watch(group, f"{folder}/r", "-i", "50ms", preexec_fn=as_nobody() if IS_ROOT else None)
        equal(group.run("anon=60"), KILLED, "status")
        watch.wait_for("oom_kill")
        watch.end(4)
        check(b"may kill memstate, too" in watch.err, watch.err)
        kills = watch.events("oom_kill")
        equal(len(kills), 1, "kills")
        for row in usage_over_time(watch)[:1]:
            check(row["usage_bytes"] is not None, "the cgroup is not readable")


def read_control(group):
    return dict(line.split() for line in group.read("memory.oom_control").splitlines())


def guards_of(watch):
    """Return the children of memstate that restore the changed settings."""
    return [int(pid) for pid in os.listdir("/proc") if pid.isdigit()
            and is_child(pid, watch.process.pid)]


def is_child(pid, parent):
    try:
        return status_field(pid, "PPid") == str(parent)
    except OSError:
        return False


def armed(group, folder, mode, *args, **popen):
    if mode == "freeze" and group.version != 1:
        raise Skip("only version 1 has memory.oom_control")
    if mode == "high" and group.version != 2:
        raise Skip("memory.high exists in version 2 only")
    watch = Watch(group, f"{folder}/r", "--arm", mode, "--yes", *args, **popen)
    watch.wait_for("armed")
    return watch


@test
def a_frozen_cgroup_is_fully_read_before_the_kill():
    with Folder() as folder, Group(LIMIT) as group, Filled(group, "anon=5"):
        watch = armed(group, folder, "freeze")
        equal(read_control(group)["oom_kill_disable"], "1", "frozen")
        equal(group.run("leak=256/5"), KILLED, "status")
        watch.wait_for("oom_kill")
        watch.end(4)
        control = read_control(group)
        equal([control["oom_kill_disable"], control["under_oom"]], ["0", "0"],
              "control file after the kill")
        # the sample taken during the freeze includes the mappings of that moment
        moment = watch.events("disarmed")[0][2]
        usage = [row["usage_bytes"] for row in usage_over_time(watch)]
        check(max(usage) >= LIMIT - MIB, "the last sample is far below the limit")
        killed = watch.events("oom_kill")[0][2]
        check(moment <= killed, f"killed at {killed}, before the release: {watch.events('disarmed')}")


@test
def a_frozen_cgroup_is_released_however_memstate_ends():
    with Folder() as folder, Group(LIMIT) as group, Filled(group, "anon=5"):
        watch = armed(group, folder, "freeze")
        watch.end(-signal.SIGKILL, signal.SIGKILL)
        wait_until(lambda: read_control(group)["oom_kill_disable"] == "0",
                   "the guard has restored the setting")
        watch = armed(group, folder, "freeze")
        os.kill(guards_of(watch)[0], signal.SIGKILL)
        watch.wait_for("disarmed")
        equal(read_control(group)["oom_kill_disable"], "0", "oom_kill_disable after memstate's end")
        watch.end(0)
        watch = armed(group, folder, "freeze")
        stop(watch.process.pid)
        wait_until(lambda: read_control(group)["oom_kill_disable"] == "0",
                   "the guard of a silent memstate has restored the setting")
        os.kill(watch.process.pid, signal.SIGCONT)
        watch.wait_for("disarmed")
        watch.end(0)
        group.write("memory.oom_control", 1)
        result = memstate("oom", "watch", "--cgroup", group.dir, "--record", f"{folder}/r", "--arm", "freeze",
                          "--yes").must_be(1)
        check(b"another program has already changed" in result.err, result.err)
        equal(read_control(group)["oom_kill_disable"], "1", "oom_kill_disable set by others")
        group.write("memory.oom_control", 0)


@test
def a_removed_cgroup_is_not_reported_as_frozen():
    with Folder() as folder, Group(LIMIT) as group:
        watch = armed(group, folder, "freeze")
        os.rmdir(group.dir)
        watch.end(0, None)
        equal(len(watch.events("removed")), 1, "events")
        check("was paused" not in watch.text, watch.text)
        os.mkdir(group.dir)


def hide_end_of_memory(group):
    """Hide the notification file of a version 1 cgroup, so that memstate gets
    no OOM events."""
    def hide():
        libc = ctypes.CDLL(None)
        path = f"{group.dir}/cgroup.event_control".encode()
        if libc.unshare(CLONE_NEWNS) or libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None) or \
                libc.mount(b"/dev/null", path, None, MS_BIND, None):
            raise OSError("no mounts of its own")
    return hide


@test
def a_frozen_cgroup_is_released_even_without_a_notification():
    with Folder() as folder, Group(LIMIT) as group:
        try:
            watch = armed(group, folder, "freeze", preexec_fn=hide_end_of_memory(group))
        except subprocess.SubprocessError:
            raise Skip("files of the cgroup cannot be hidden")
        equal(group.run("leak=256/5"), KILLED, "status")
        watch.wait_for("disarmed")
        equal(read_control(group)["oom_kill_disable"], "0", "oom_kill_disable")
        watch.end(4)


@test
def memstate_refuses_to_freeze_itself():
    with Folder() as folder, Group(LIMIT) as group:
        if group.version != 1:
            raise Skip("only version 1 has memory.oom_control")
        watch = start_memstate("oom", "watch", "--cgroup", group.dir, "--record", f"{folder}/r", "--arm",
                               "freeze", "--yes", preexec_fn=group.enter)
        err = watch.communicate(timeout=TIMEOUT)[1]
        if b"require SQLite" in err:
            raise Skip("built without SQLite")
        check(b"would be frozen" in err, err)
        equal(watch.returncode, 1, "status")
        equal(read_control(group)["oom_kill_disable"], "0", "oom_kill_disable")


@test
def quitting_at_the_prompt_changes_nothing():
    with Folder() as folder, Group(LIMIT) as group:
        if group.version != 1:
            raise Skip("only version 1 has memory.oom_control")
        pid, terminal = pty.fork()
        if pid == 0:
            os.execv(MEMSTATE, [MEMSTATE, "oom", "watch", "--cgroup", group.dir, "--record", f"{folder}/r",
                                "--arm", "freeze"])
        limit = threading.Timer(TIMEOUT, os.kill, (pid, signal.SIGKILL))
        limit.start()
        text = b""
        try:
            while b"[y/N]" not in text:
                text += os.read(terminal, 4096)
            os.write(terminal, b"\x03")
            status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        except OSError:
            os.waitpid(pid, 0)
            if b"require SQLite" in text:
                raise Skip("built without SQLite")
            raise AssertionError(text)
        finally:
            limit.cancel()
            os.close(terminal)
        equal(status, 1, text)
        equal(read_control(group)["oom_kill_disable"], "0", "oom_kill_disable")


@test
def a_cgroup_created_below_a_frozen_one_is_not_frozen():
    def is_frozen(group):
        return read_control(group)["oom_kill_disable"] == "1"
    with Folder() as folder, Group(LIMIT) as group, Group(None, group) as before:
        if group.version == 1:
            before.write("memory.oom_control", 1)
        watch = armed(group, folder, "freeze")
        with Group(None, group) as made, Group(None, made) as within:
            wait_until(lambda: not is_frozen(made) and not is_frozen(within),
                       "new groups are released while the watch is armed")
        for number, status in [(signal.SIGKILL, -signal.SIGKILL), (signal.SIGTERM, 0)]:
            with Group(None, group) as made, Group(None, made) as within:
                watch.end(status, number)
                wait_until(lambda: not is_frozen(group), "the guard has restored the setting")
                wait_until(lambda: not is_frozen(made) and not is_frozen(within),
                           "the setting is restored in the groups below")
            if number == signal.SIGKILL:
                watch = armed(group, folder, "freeze")
        check(is_frozen(before), "a setting that existed before was changed")


@test
def a_throttled_cgroup_is_released_however_memstate_ends():
    with Folder() as folder, Group(LIMIT) as group:
        watch = armed(group, folder, "high")
        high = int(group.read("memory.high"))
        check(LIMIT * 14 // 16 < high < LIMIT, f"memory.high: {high}")
        watch.end(-signal.SIGKILL, signal.SIGKILL)
        wait_until(lambda: group.read("memory.high") == "max\n", "the guard has restored memory.high")
        watch = armed(group, folder, "high")
        equal(group.run("leak=256/5"), KILLED, "status")
        watch.wait_for("oom_kill")
        watch.end(4)
        equal(group.read("memory.high"), "max\n", "memory.high at the end")
        slowed = [row for row in usage_over_time(watch) if row["usage_bytes"] >= high]
        # the kernel decides how much it slows down; the cgroup may reach its limit
        # before the release
        check(len(slowed) >= 4, f"{len(slowed)} samples while the cgroup was slowed down")


@test
def memory_high_is_restored_unless_others_changed_it():
    with Folder() as folder, Group(LIMIT) as group, Filled(group, "anon=5"):
        def is_put_back():
            return group.read("memory.high") == "max\n"
        watch = armed(group, folder, "high")
        os.kill(guards_of(watch)[0], signal.SIGKILL)
        watch.wait_for("disarmed")
        check(is_put_back(), "memstate did not restore memory.high")
        watch.end(0)
        armed(group, folder, "high").end(0)
        check(is_put_back(), "memory.high was not restored at the end")
        watch = armed(group, folder, "high")
        group.write("memory.high", 40 * MIB)
        watch.end()
        equal(int(group.read("memory.high")), 40 * MIB, "memory.high set by others in the meantime")
        result = memstate("oom", "watch", "--cgroup", group.dir, "--record", f"{folder}/r", "--arm", "high",
                          "--yes").must_be(1)
        check(b"another program has already changed" in result.err, result.err)
        equal(int(group.read("memory.high")), 40 * MIB, "memory.high set by others before")


@test
def a_traced_process_is_read_at_its_exit():
    with Folder() as folder, Group(LIMIT) as group, Filled(group, "anon=20") as idle:
        watch = armed(group, folder, "trace")
        wait_until(lambda: status_field(idle.pid, "TracerPid") != "0", "the process is traced")
        os.kill(idle.pid, signal.SIGKILL)
        watch.wait_for("exit ")
        idle.process.wait()
        watch.end(0)
        pid, _, moment = watch.events("exit")[0]
        equal(pid, idle.pid, "who")
        rss = watch.query("SELECT rss_kb FROM process JOIN usage USING(process) "
                          f"WHERE pid={idle.pid} AND rss_kb NOT NULL ORDER BY usage.sample DESC LIMIT 1")[0][0]
        check(rss >= 20 * 1024, f"memory of the process at its end: {rss} kB")


@test
def a_process_traced_by_another_is_reported():
    with Folder() as folder, Group(LIMIT) as group, Filled(group, "anon=5") as filled:
        first = armed(group, folder, "trace")
        wait_until(lambda: status_field(filled.pid, "TracerPid") != "0", "the process is traced")
        second = Watch(group, f"{folder}/r2", "--arm", "trace", "--yes", "-i", "50ms")
        limit = threading.Timer(TIMEOUT, second.process.kill)
        limit.start()
        line = b" "
        while line and b"cannot trace" not in line:
            line = second.process.stderr.readline()
        limit.cancel()
        check(b"cannot trace process %d" % filled.pid in line, line)
        second.end(0)
        first.end(0)


@test
def a_traced_process_continues_and_gets_its_signals():
    with Folder() as folder, Group(LIMIT) as group, Filled(group, "anon=5") as filled:
        watch = armed(group, folder, "trace")
        wait_until(lambda: status_field(filled.pid, "TracerPid") != "0", "the process is traced")
        os.kill(filled.pid, signal.SIGSTOP)
        wait_until(lambda: status_field(filled.pid, "State")[0] in "tT", "the process is stopped")
        os.kill(filled.pid, signal.SIGCONT)
        wait_until(lambda: status_field(filled.pid, "State")[0] == "S", "the process continues")
        watch.end(-signal.SIGKILL, signal.SIGKILL)
        wait_until(lambda: status_field(filled.pid, "TracerPid") == "0", "the process is released")
        os.kill(filled.pid, signal.SIGTERM)
        equal(filled.process.wait(), -signal.SIGTERM, "status")


@test
def traced_processes_are_released_when_memstate_hangs():
    """A thread stuck in the kernel keeps memstate's sockets open, even after SIGKILL."""
    with Folder() as folder, Group(LIMIT) as group, Filled(group, "anon=5") as filled:
        watch = armed(group, folder, "trace")
        wait_until(lambda: status_field(filled.pid, "TracerPid") != "0", "the process is traced")
        os.kill(watch.process.pid, signal.SIGSTOP)
        wait_until(lambda: status_field(filled.pid, "TracerPid") == "0", "the process is released")
        check(status_field(watch.process.pid, "State")[0] == "T", "memstate is not stopped any more")
        os.kill(filled.pid, signal.SIGTERM)
        equal(filled.process.wait(), -signal.SIGTERM, "status")
        os.kill(watch.process.pid, signal.SIGCONT)
        watch.end(0)


@test
def bad_arguments_are_refused_in_one_line():
    for args, word in [([], b"--record FILE"), (["--record", "r", "--csv"], b"--csv"),
                       (["--record", "r", "--kmsg", "-"], b"--kmsg"), (["--record", "r", "--yes"], b"--arm"),
                       (["--record", "r", "--arm", "what"], b"high, freeze or trace"),
                       (["--record", "r", "--cgroup", "/", "-p", "1"], b"mutually exclusive")]:
        result = memstate("oom", "watch", *args).must_be(2)
        check(word in result.err, result.err)
        equal(result.out, b"", "output")
    result = memstate("oom", "watch", "--cgroup", "/no/such", "--record", "/no/r").must_be(1)
    check(b"no such cgroup" in result.err, result.err)


run()
