# SPDX-License-Identifier: GPL-2.0-or-later
"""A process of the target's user, which is not allowed to trace the target, attacks
what memstate injects.

It must never reach code, and the memory it can write must not control anything.
"""

import ctypes
import json
import os
import select
import shutil
import subprocess
import sys
import time

import count_inject_lib
import inject_lib
from count_inject_lib import Counting, CountTarget
from inject_lib import InjectTarget, end_tool, maps, start_holding
from live import IS_ROOT, TIMEOUT, Skip, check, equal, run, status_field, test

NOBODY = "65534"
CLONE_NEWIPC = 0x08000000
HERE = os.path.dirname(os.path.abspath(__file__))
SETPRIV = shutil.which("setpriv")
NOTHING = b"0" * 16


def as_nobody(*rights):
    words = ",".join(f"+{right}" for right in rights) if rights else "-all"
    return [SETPRIV, f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", f"--inh-caps={words}",
            f"--ambient-caps={words}"]


def prepare():
    """Use a private IPC namespace, so that other users' segments are not touched."""
    if not IS_ROOT or not SETPRIV:
        raise Skip("requires root and setpriv")
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWIPC) != 0:
        raise Skip("requires a private IPC namespace")
    if subprocess.run([*as_nobody("net_raw"), inject_lib.TOOL], capture_output=True,
                      check=False).returncode == 127:
        raise Skip("the build tree cannot be reached by another user")


def start_target(kind, *args):
    """Start a target as an ordinary user with a capability the user's other processes
    lack, so that they cannot trace it."""
    prepare()
    command = kind.__init__.__defaults__[-1]
    target = kind(*args, command=[*as_nobody("net_raw"), *command])
    check(int(status_field(target.pid, "CapEff"), 16) != 0, "the target has no capability")
    equal(status_field(target.pid, "Uid").split()[1], NOBODY, "user of the target")
    return target


class Attacker:
    def __init__(self, pid, how):
        self.said = None
        self.process = subprocess.Popen([*as_nobody(), sys.executable, "-B",
                                         os.path.join(HERE, "same_user_lib.py"), how,
                                         str(pid)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        equal(self.process.stdout.readline(), b"ready\n", "first line of the attacker")
        equal(status_field(self.process.pid, "CapEff"), "0" * 16, "capabilities of the attacker")

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        out = self.process.communicate(timeout=TIMEOUT)[0]
        self.said = json.loads(out)


def check_out_of_reach(target, attacker):
    """Check that the attacker opened no file of the target and reached no code."""
    reached = [path for path in attacker.said["files"] if not path.startswith("/dev/shm/")]
    equal(reached, [], "files of the target that the attacker opened")
    mapped = b"\n".join(maps(target.pid)).decode()
    check(not any(path in mapped for path in attacker.said["files"]), "a file of /dev/shm is mapped")


def check_code(pid):
    """Check that injected code is private, not writable, and in no file that the user may
    write; return its bytes by address."""
    found = {}
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        for line in maps(pid):
            words = line.split()
            if b"x" not in words[1] or line.endswith(b"[vsyscall]") or line.endswith(b"[vdso]"):
                continue
            equal(words[1], b"r-xp", f"permissions of {line}")
            start, end = (int(addr, 16) for addr in words[0].split(b"-"))
            if len(words) == 5:
                memory.seek(start)
                found[start] = memory.read(min(end - start, 1 << 18))
    check(found, "no code was injected")
    return found


def shared_of(pid):
    """Return the ids of the attached System V segments."""
    return {int(line.split()[4]) for line in maps(pid) if b"/SYSV" in line}


def wait_a_round(rounds=0.3):
    """Let the attacker try everything many times; no condition could show us when
    it is done."""
    time.sleep(rounds)


@test
def no_code_of_the_helper_can_be_attached():
    with start_target(InjectTarget, "spin", 2) as target:
        with Attacker(target.pid, "attach") as attacker:
            process = start_holding(target.pid)
            check_code(target.pid)
            wait_a_round()
            process.stdin.write(b"\n")
            process.stdin.flush()
            inject_lib.was_put_in(end_tool(process)[1][-1])
            inject_lib.put_in_and_out(target, "-n", 5)
        check_out_of_reach(target, attacker)
        target.check_goes_on()


@test
def no_counting_code_can_be_attached():
    with start_target(CountTarget, 2) as target:
        with Attacker(target.pid, "attach") as attacker:
            for args in ((), ("-s", 0)):
                with Counting(target.pid, *args) as counting:
                    target.order(b"w")
                    check_code(target.pid)
                    wait_a_round()
                    count_inject_lib.was_put_in(counting.end())
                check_code(target.pid)  # the gates stay mapped
        check_out_of_reach(target, attacker)
        target.order(b"w")
        target.check_whole()


def segments_reach(attacker, pid, process):
    """Wait until the attacker has attached the shared segments, which belong
    to its user."""
    wanted = shared_of(pid)
    check(wanted, "no segment is shared")
    deadline = time.monotonic() + TIMEOUT
    with open(f"/proc/{attacker.process.pid}/maps", "rb") as lines:
        while time.monotonic() < deadline and process.poll() is None:
            lines.seek(0)
            if wanted <= {int(line.split()[4])
                          for line in lines.read().splitlines() if b"/SYSV" in line}:
                return
            time.sleep(0.01)
    check(process.poll() is not None, "the attacker cannot attach the shared segments")


@test
def a_helper_whose_page_is_garbled_harms_nobody():
    with start_target(InjectTarget, "spin", 2) as target:
        tool = [*as_nobody("sys_ptrace"), inject_lib.TOOL]
        inject_lib.put_in_and_out(target)
        process = start_holding(target.pid, command=tool)
        code = check_code(target.pid)
        with Attacker(target.pid, "garble") as attacker:
            segments_reach(attacker, target.pid, process)
            wait_a_round()
            equal(check_code(target.pid), code, "code")
            out, err = process.communicate(b"\n", timeout=TIMEOUT)
            equal(process.returncode, 0, f"status of the tool ({err})")
            check(json.loads(out.splitlines()[-1])["open"] == 0, f"{out}")
            cycle = inject_lib.tool(target.pid, command=tool)[0]
            check(cycle["open"] == 0 or cycle["open_reason"], f"no reason given: {cycle}")
            target.check_goes_on()
        check_out_of_reach(target, attacker)
        check(attacker.said["segments"], "the attacker attached nothing: the test proves nothing")
        target.check_goes_on()


@test
def a_probe_whose_counts_are_garbled_harms_nobody():
    with start_target(CountTarget, 2) as target:
        tool = [*as_nobody("sys_ptrace"), count_inject_lib.TOOL]
        with Counting(target.pid, "-s", 0, command=tool) as counting:
            code = check_code(target.pid)
            with Attacker(target.pid, "garble") as attacker:
                segments_reach(attacker, target.pid, counting.process)
                for letter in b"wktfw":
                    target.order(bytes([letter]))
                    counting.process.stdin.write(b"\n")
                    counting.process.stdin.flush()
                    check(select.select([counting.process.stdout], [], [], TIMEOUT)[0],
                          "no output before the timeout")
                    counting.process.stdout.readline()
                equal(check_code(target.pid), code, "code")
                cycle = counting.end()
            equal(cycle["close"], 0, f"close: {cycle.get('close_reason')}")
        check_out_of_reach(target, attacker)
        check(attacker.said["segments"], "the attacker attached nothing: the test proves nothing")
        for letter in b"wtf":
            target.order(bytes([letter]))
        target.check_whole()


run()
