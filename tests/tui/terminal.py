#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The screen on a real terminal: keys work, a resize is followed, and every exit
restores the terminal."""

import contextlib
import mmap
import os
import re
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile

from terminal_lib import LEAVE, LIMIT_S, MEMSTATE, Failure, Terminal, has_terminals, plain

def is_sanitized():
    """Return whether memstate is built with ASan, where a crash ends in
    the sanitizer's report."""
    with open(MEMSTATE, "rb") as program:
        return b"__asan_init" in program.read()


def end_by(number):
    terminal = Terminal("-p", str(os.getpid()))
    try:
        terminal.wait_for_text("F10 Quit")
        terminal.process.send_signal(number)
        status = terminal.wait_for_end()
        terminal.check_restored()
        return status
    finally:
        terminal.close()


def quitting_restores_the_terminal():
    terminal = Terminal()
    try:
        terminal.wait_for_text("F10 Quit")
        terminal.type(b"q")
        if terminal.wait_for_end() != 0:
            raise Failure(f"ended with {terminal.process.returncode}")
        terminal.check_restored()
    finally:
        terminal.close()


def term_int_and_hup_restore_the_terminal():
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        status = end_by(number)
        if status != 0:
            raise Failure(f"signal {number}: ended with {status}")


def a_hangup_ends_memstate():
    terminal = Terminal()
    try:
        terminal.wait_for_text("F10 Quit")
        os.close(terminal.master)
        os.close(terminal.slave)
        try:
            terminal.process.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            raise Failure("memstate keeps running without a terminal") from None
    finally:
        if terminal.process.poll() is None:
            terminal.process.kill()
            terminal.process.wait()


def crashes_restore_the_terminal_and_stay_crashes():
    for number in (signal.SIGABRT, signal.SIGSEGV, signal.SIGQUIT):
        status = end_by(number)
        if not is_sanitized() and status != -number:
            raise Failure(f"signal {number}: ended with {status}")


def running_out_of_memory_restores_the_terminal():
    if is_sanitized():
        return  # AddressSanitizer's allocator behaves differently
    # reading the heap would leave free memory behind
    terminal = Terminal("-i", "100ms", "--heap", "off", "-p", str(os.getpid()))
    maps = []
    try:
        terminal.wait_for_text("F10 Quit")
        resource.prlimit(terminal.process.pid, resource.RLIMIT_AS, (1, 1))
        # mappings with different permissions cannot merge, so memstate has no room
        # for their list
        for i in range(8000):
            access = mmap.PROT_READ | (mmap.PROT_WRITE if i % 2 else 0)
            maps.append(mmap.mmap(-1, mmap.PAGESIZE, prot=access))
        status = terminal.wait_for_end()
        if status != 1 or b"out of memory" not in terminal.output:
            raise Failure(f"ended with {status}, not because of a lack of memory")
        terminal.check_restored()
    finally:
        terminal.close()
        for one in maps:
            one.close()


def control_c_quits():
    terminal = Terminal()
    try:
        terminal.wait_for_text("F10 Quit")
        terminal.type(b"\x03")
        terminal.wait_for_end()
        terminal.check_restored()
    finally:
        terminal.close()


def keys_switch_between_views():
    # two processes that do not end meanwhile
    terminal = Terminal("-p", f"{os.getpid()},{os.getppid()}")
    try:
        terminal.wait_for_text("F10 Quit")
        terminal.type(b"\r")
        terminal.wait_for_text("memstate process ")
        terminal.type(b"\t")
        terminal.wait_for_text("ADDRESS")
        terminal.escape()
        terminal.wait_for_text("beside")
        terminal.type(b"\x1bOP")
        terminal.wait_for_text("everywhere")
        terminal.escape()
        terminal.wait_for_text("beside")
        terminal.type(b"\x1b[21~")
        terminal.wait_for_end()
        terminal.check_restored()
    finally:
        terminal.close()


def a_resize_is_followed():
    terminal = Terminal()
    try:
        terminal.wait_for_text("F10 Quit")
        terminal.mark()
        terminal.resize(5, 30)
        terminal.wait_for_text("too small")
        terminal.mark()
        terminal.resize(50, 160)
        terminal.wait_for_text("Z Pause")
        terminal.type(b"q")
        terminal.wait_for_end()
        terminal.check_restored()
    finally:
        terminal.close()


def written_by_child(pid):
    """Return the bytes written by the first child of memstate, its command; some may
    still be in a pipe. The watchdog for a heap read is a later child."""
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
        child = f.read().split()[0]
    with open(f"/proc/{child}/io", encoding="ascii") as f:
        return int(re.search(r"^wchar: (\d+)$", f.read(), re.MULTILINE).group(1))


def output_of_a_watched_command_is_kept_off_the_screen():
    terminal = Terminal("--", "sh", "-c", "printf 'first %s\\n' line; exec sleep 600")
    try:
        terminal.wait_for_text("F10 Quit")
        terminal.wait_for("output of the command",
                          lambda: written_by_child(terminal.process.pid) > 0)
        if b"first line" in terminal.output:
            raise Failure("the output of the command is on the screen")
        terminal.process.send_signal(signal.SIGTERM)
        terminal.wait_for_end()
        terminal.check_restored()
        after = terminal.output[terminal.output.rfind(LEAVE):]
        if b"first line" not in after:
            raise Failure("the output of the command is missing after the screen")
        if b"sh: killed by signal 15" not in after:
            raise Failure("the exit status of the command was not reported")
    finally:
        terminal.close()


def endless_output_of_a_command_does_not_block_the_screen():
    terminal = Terminal("--", "yes")
    try:
        terminal.wait_for_text("F10 Quit")
        terminal.wait_for("output of the command",
                          lambda: written_by_child(terminal.process.pid) > 200000)
        terminal.type(b"h")
        terminal.wait_for_text("everywhere")
        terminal.process.send_signal(signal.SIGTERM)
        terminal.wait_for_end()
        terminal.check_restored()
        after = terminal.output[terminal.output.rfind(LEAVE):]
        if not 1000 < len(after) < 500000:
            raise Failure(f"{len(after)} bytes of output from the command were shown")
    finally:
        terminal.close()


def an_ended_command_stays_on_the_screen():
    terminal = Terminal("-i", "100ms", "--", "sleep", "1")
    try:
        terminal.wait_for_text("F10 Quit")
        terminal.wait_for_text(" ended ")
        terminal.type(b"q")
        terminal.wait_for_end()
        terminal.check_restored()
        if b"sleep: exited with status 0" not in terminal.output:
            raise Failure("the exit status of the command was not reported")
    finally:
        terminal.close()


def names_cannot_control_the_terminal():
    """A process that names itself like an escape sequence."""
    evil = subprocess.Popen(
        ["\x1b]0;owned\x07\x1b[31m", "600"], executable="/bin/sleep")
    terminal = Terminal("-p", str(evil.pid))
    try:
        terminal.wait_for_text("F10 Quit")
        if b"\x1b]0;owned" in terminal.output:
            raise Failure("the escape sequence reached the terminal")
        terminal.wait_for_text(r"\x1b]0;owned")
        terminal.type(b"q")
        terminal.wait_for_end()
    finally:
        terminal.close()
        evil.kill()
        evil.wait()


def count_samples(path):
    try:
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as db:
            return db.execute("SELECT count(*) FROM sample").fetchone()[0]
    except sqlite3.Error:
        return 0  # the recording does not exist yet


def ask(terminal, keys, text):
    terminal.type(keys)
    terminal.wait_for_text(text)


def a_watched_process_is_recorded_and_replayed():
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/r"
        terminal = Terminal("-p", str(os.getpid()), "-i", "100ms", "--record", path)
        try:
            terminal.wait_for("a screen", lambda: b"REC" in plain(terminal.output) or
                              b"require SQLite" in terminal.output)
            if b"require SQLite" in terminal.output:
                return
            terminal.wait_for("samples", lambda: count_samples(path) > 2)
            ask(terminal, b"Z", "PAUSED")
            before = count_samples(path)
            terminal.wait_for("samples while it is paused", lambda: count_samples(path) > before + 2)
            terminal.type(b"q")
            terminal.wait_for_end()
            terminal.check_restored()
        finally:
            terminal.close()
        count = count_samples(path)
        terminal = Terminal("--replay", path)
        try:
            terminal.wait_for_text(f"/{count}")  # it opens at the largest sample
            ask(terminal, b"\x1bOF", f" {count}/{count}")
            ask(terminal, b"\x1bOD", f" {count - 1}/{count}")
            ask(terminal, b"\x1bOH", f" 1/{count}")
            ask(terminal, b"\r", f"({os.getpid()})")
            ask(terminal, b"@+1h\r", f" {count}/{count}")
            ask(terminal, b"q", "")
            terminal.wait_for_end()
            terminal.check_restored()
        finally:
            terminal.close()
        check_opens_at_the_kill(path)


def check_opens_at_the_kill(path):
    """Open a recording whose second sample is the last one before a kill."""
    count = count_samples(path)
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        sample, unix_ms = db.execute("SELECT sample, unix_ms FROM sample ORDER BY sample").fetchall()[1]
        db.execute("INSERT INTO event(sample, unix_ms, kind, pid) VALUES (?,?,'oom_kill',1)", (sample, unix_ms))
    for args, index in (((), 2), (("--at", "+0"), 1)):
        terminal = Terminal("--replay", path, *args)
        try:
            terminal.wait_for_text(f" {index}/{count}")
            ask(terminal, b"q", "")
            terminal.wait_for_end()
        finally:
            terminal.close()


def own_group():
    """Return the name of this process's cgroup, or None if it is in the root
    or in none."""
    with open("/proc/self/cgroup", encoding="ascii") as f:
        for line in f:
            _, controllers, path = line.rstrip("\n").split(":", 2)
            if (controllers == "" or "memory" in controllers.split(",")) and path != "/":
                return path
    return None


def a_whole_cgroup_is_recorded():
    group = own_group()
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/r"
        if not group:
            return
        terminal = Terminal("--cgroup", group, "-i", "100ms", "--heap", "off", "--record", path)
        try:
            terminal.wait_for("a screen", lambda: b"REC" in plain(terminal.output) or
                              terminal.process.poll() is not None)
            if terminal.process.poll() is not None:
                return  # built without SQLite, or the cgroup is not visible
            terminal.wait_for("samples", lambda: count_samples(path) > 2)
            terminal.type(b"q")
            terminal.wait_for_end()
        finally:
            terminal.close()
        with sqlite3.connect(path) as db:
            paths = db.execute("SELECT paths FROM cgroup").fetchone()[0]
            pids = {row[0] for row in db.execute("SELECT pid FROM process")}
        if not paths.split("\n")[0].endswith(group.rsplit("/", 1)[1]) or os.getpid() not in pids:
            raise Failure(f"recorded: {paths!r} with {pids}")
        terminal = Terminal("--replay", path, "-p", str(os.getpid()))
        try:
            terminal.wait_for_text(f"({os.getpid()})")
            ask(terminal, b"C", "need")
            ask(terminal, b"q", "")
            terminal.wait_for_end()
        finally:
            terminal.close()


TESTS = [
    quitting_restores_the_terminal,
    term_int_and_hup_restore_the_terminal,
    a_hangup_ends_memstate,
    crashes_restore_the_terminal_and_stay_crashes,
    running_out_of_memory_restores_the_terminal,
    control_c_quits,
    keys_switch_between_views,
    a_resize_is_followed,
    output_of_a_watched_command_is_kept_off_the_screen,
    endless_output_of_a_command_does_not_block_the_screen,
    an_ended_command_stays_on_the_screen,
    names_cannot_control_the_terminal,
    a_watched_process_is_recorded_and_replayed,
    a_whole_cgroup_is_recorded,
]


def main():
    failed = 0
    if not has_terminals():
        return 77
    for test in TESTS:
        try:
            test()
            print(f"ok: {test.__name__}")
        except Failure as failure:
            failed += 1
            print(f"FAILED: {test.__name__}: {failure}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
