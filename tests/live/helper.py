# SPDX-License-Identifier: GPL-2.0-or-later
"""A program started with the helper: memstate gets the allocator's own figures, and the
helper does not disturb the program."""

import os
import re
import struct
import subprocess

from live import (IS_ROOT, OrderedTarget, Skip, check, equal, read_proc, run, status_field, test,
                  wait_until)

FOLDER = os.path.join(os.environ["builddir"], "tests", "targets")
AGENT = os.path.join(os.environ["builddir"], "src", "agent", "libmemstate-agent.so")
ALLOCATORS = {"jemalloc": ["libjemalloc.so.2"],
              "tcmalloc": ["libtcmalloc_minimal.so.4", "libtcmalloc.so.4"],
              "mimalloc": ["libmimalloc.so.2", "libmimalloc.so.2.0"]}
# No pages decay during a test.
STILL = "dirty_decay_ms:-1,muzzy_decay_ms:-1"
PAGE_BYTES = 4096 + (1 << 19)
IDLE_OFFSET = 0x30


class HelperTarget(OrderedTarget):
    def __init__(self, library=None, **popen):
        if not os.path.exists(AGENT):
            raise Skip("built without the helper")
        env = {**os.environ, "MALLOC_CONF": STILL, "MEMSTATE_SECCOMP_FILTERS":
               status_field("self", "Seccomp_filters") or "0"}
        env["LD_PRELOAD"] = f"{library}:{AGENT}" if library else AGENT
        super().__init__([os.path.join(FOLDER, "helper_target")], env=env, **popen)

    def become_itself(self):
        self.process.stdin.write(b"e")
        self.process.stdin.flush()
        self.read_until(b"ready")


def ask(pid, *args):
    """Ask the helper; return its figures by name, and the allocator's text."""
    done = subprocess.run([os.path.join(FOLDER, "ask_helper"), str(pid), *args],
                          capture_output=True, text=True)
    check(done.returncode == 0, f"ask_helper: {done.stdout} {done.stderr}")
    said = {}
    lines = done.stdout.splitlines()
    for number, line in enumerate(lines):
        words = line.split(" ")
        if len(words) != 2 or number > 40 or line.startswith(("<", "_", "-")):
            break
        said[words[0]] = int(words[1]) if words[1].isdigit() else words[1]
    return said, done.stdout


def refusal(pid):
    done = subprocess.run([os.path.join(FOLDER, "ask_helper"), str(pid)],
                          capture_output=True, text=True)
    check(done.returncode == 1, f"ask_helper: {done.stdout} {done.stderr}")
    return done.stdout.split()[1]


def find_library(names):
    for folder in ("/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib"):
        for name in names:
            if os.path.exists(os.path.join(folder, name)):
                return os.path.join(folder, name)
    raise Skip(f"{names[0]} is not installed")


def thread_names(pid):
    return sorted(read_proc(f"{pid}/task/{tid}", "comm").strip().decode()
                  for tid in os.listdir(f"/proc/{pid}/task"))


def page_addr(pid):
    for line in read_proc(pid, "maps").decode().splitlines():
        start, end = (int(a, 16) for a in line.split()[0].split("-"))
        if "/SYSV" in line and end - start == PAGE_BYTES:
            return start
    return None


def compare(library, allocator):
    with HelperTarget(library) as target:
        ask(target.pid)  # the helper's thread has now allocated what it needs
        before = target.order(b"i")
        said, _ = ask(target.pid)
        after = target.order(b"i")
        equal(said["allocator"], allocator, "allocator")
        check(len(before) > 1, "the target printed no figures")
        for name, value in before.items():
            if value == after[name]:
                equal(said[name], value, name)
        check(any(before[n] == after[n] and before[n] > 0 for n in before), "no figure is unchanged")


@test
def glibc_gives_the_helper_the_same_figures():
    with HelperTarget() as target:
        before = target.order(b"i")
        said, _ = ask(target.pid)
        equal({name: said[name] for name in before}, before, "mallinfo2")
        equal(target.order(b"i"), before, "figures after the query")


@test
def jemalloc_gives_the_helper_the_same_figures():
    compare(find_library(ALLOCATORS["jemalloc"]), "jemalloc")


@test
def gperftools_gives_the_helper_the_same_figures():
    compare(find_library(ALLOCATORS["tcmalloc"]), "tcmalloc")


@test
def mimalloc_gives_the_helper_the_same_figures():
    compare(find_library(ALLOCATORS["mimalloc"]), "mimalloc")


@test
def malloc_info_needs_no_arena_for_the_helper():
    with HelperTarget() as target:
        before = target.order(b"i")
        _, text = ask(target.pid, "text")
        equal(text.count("<heap nr="), 1, "arenas")
        system = re.findall(r'<system type="current" size="(\d+)"', text)
        equal(int(system[-1]), before["arena"], "bytes of all arenas")
        equal(target.order(b"i"), before, "figures after the query")


@test
def the_helper_uses_no_descriptors_or_signals_of_the_program():
    with HelperTarget() as target:
        # the thread sets its name when it first runs
        wait_until(lambda: thread_names(target.pid) == ["helper_target", "memstate-help"],
                   "the helper's thread has its name")
        equal(sorted(os.listdir(f"/proc/{target.pid}/fd")), ["0", "1", "2"], "descriptors")
        equal(status_field(target.pid, "SigBlk"), "0" * 16, "signals that the program blocks")
        for tid in os.listdir(f"/proc/{target.pid}/task"):
            if tid != str(target.pid):
                blocked = int(status_field(f"{target.pid}/task/{tid}", "SigBlk"), 16)
                # all signals except KILL and STOP, which cannot be blocked,
                # and libc's own
                equal(blocked | 1 << 8 | 1 << 18, (1 << 64) - 1 - (1 << 31) - (1 << 32),
                      "signals that the helper blocks")


@test
def a_child_has_its_own_page_and_helper():
    with HelperTarget() as target:
        child = target.order(b"f")["child"]
        equal(ask(child)[0]["allocator"], "glibc", "allocator of the child")
        equal(thread_names(child), ["helper_target", "memstate-help"], "threads")
        check(ask(child)[0]["uordblks"] > 0, "the child has no figures")
        ask(target.pid)
        equal(target.order(b"c"), {"signal": 15}, "wait status of the child")
        ask(target.pid)


def child_of_threads(library):
    with HelperTarget(library) as target:
        child = target.order(b"t")["child"]
        ask(child, "stall")
        equal(target.order(b"c"), {"signal": 15}, "wait status of the child")
        ask(target.pid, "stall")


@test
def a_child_of_many_threads_has_its_own_helper():
    child_of_threads(None)


@test
def a_child_of_many_threads_has_its_own_helper_with_jemalloc():
    child_of_threads(find_library(ALLOCATORS["jemalloc"]))


@test
def a_child_of_many_threads_has_its_own_helper_with_gperftools():
    child_of_threads(find_library(ALLOCATORS["tcmalloc"]))


@test
def a_daemon_has_its_own_helper():
    with HelperTarget() as target:
        child = target.order(b"d")["child"]
        try:
            ask(child)
        finally:
            os.kill(child, 9)


@test
def vfork_and_exec_work_as_without_the_helper():
    with HelperTarget() as target:
        equal(target.order(b"v"), {"status": 0}, "vfork")
        ask(target.pid)


@test
def a_program_started_by_exec_has_its_own_helper():
    with HelperTarget() as target:
        ask(target.pid)
        target.become_itself()
        before = target.order(b"i")
        equal(ask(target.pid)[0]["uordblks"], before["uordblks"], "uordblks")


@test
def setuid_does_not_hang_on_the_helper_thread():
    if not IS_ROOT:
        raise Skip("requires root")
    with HelperTarget() as target:
        equal(target.order(b"s"), {"same_uid": 1}, "users")
        ask(target.pid)


@test
def a_process_ends_when_all_its_threads_have_ended():
    with HelperTarget() as target:
        with open(f"/proc/{target.pid}/mem", "r+b", buffering=0) as memory:
            memory.seek(page_addr(target.pid) + IDLE_OFFSET)
            memory.write(struct.pack("<I", 100))
        ask(target.pid)
        target.process.stdin.write(b"m")
        target.process.stdin.flush()
        equal(target.process.stdout.read(), b"ended 1\n", "output of the atexit handler")
        equal(target.process.wait(), 0, "status")


@test
def a_process_lives_as_long_as_its_main_thread():
    with HelperTarget() as target:
        with open(f"/proc/{target.pid}/mem", "r+b", buffering=0) as memory:
            memory.seek(page_addr(target.pid) + IDLE_OFFSET)
            memory.write(struct.pack("<I", 1))
        ask(target.pid)
        for _ in range(20):
            ask(target.pid)
        equal(thread_names(target.pid), ["helper_target", "memstate-help"], "threads")


@test
def a_process_without_a_helper_is_not_queried():
    equal(refusal(os.getpid()), "ENOENT", "error for a process without a helper")


@test
def an_ordinary_user_can_query_their_own_program():
    if not IS_ROOT:
        raise Skip("all other tests do this already")
    user = 65534

    def become_user():
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)

    if subprocess.run(["test", "-x", os.path.join(FOLDER, "ask_helper")],
                      preexec_fn=become_user).returncode:
        raise Skip("the build tree is not readable by other users")
    with HelperTarget(preexec_fn=become_user) as target:
        done = subprocess.run([os.path.join(FOLDER, "ask_helper"), str(target.pid)],
                              preexec_fn=become_user, capture_output=True, text=True)
        check(done.stdout.startswith("allocator glibc\n"), done.stdout)
    with HelperTarget() as target:
        done = subprocess.run([os.path.join(FOLDER, "ask_helper"), str(target.pid)],
                              preexec_fn=become_user, capture_output=True, text=True)
        equal(done.returncode, 1, "status for another user's process")


@test
def a_program_under_a_new_filter_gets_no_helper():
    """A filter installed after memstate started may kill a process that
    attaches a segment."""
    if not os.path.exists(AGENT):
        raise Skip("built without the helper")
    filters = status_field("self", "Seccomp_filters")
    if filters is None:
        raise Skip("requires Linux 5.9")
    target = os.path.join(FOLDER, "helper_target")
    script = f"""
import ctypes, os, struct
libc = ctypes.CDLL(None, use_errno=True)
program = struct.pack("HBBI", 0x06, 0, 0, 0x7fff0000)  # SECCOMP_RET_ALLOW
kept = ctypes.create_string_buffer(program)
class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, ctypes.byref(Program(1, ctypes.addressof(kept))), 0, 0) == 0
env = dict(os.environ, LD_PRELOAD={AGENT!r}, MEMSTATE_SECCOMP_FILTERS={filters!r})
os.execve({target!r}, [{target!r}], env)
"""
    with OrderedTarget(["python3", "-c", script]) as filtered:
        equal(thread_names(filtered.pid), ["helper_target"], "threads")
        equal(page_addr(filtered.pid), None, "page of the filtered process")


run()
