# SPDX-License-Identifier: GPL-2.0-or-later
"""Processes that cannot or may not be entered: it is said why, and nothing is done to them, for most of them
not even a stop."""

import errno
import os
import resource
import shlex
import signal
import subprocess

from inject_lib import LOOKED_AT, InjectTarget, check_same, facts, is_refused, tool
from live import (IS_ROOT, Folder, Skip, as_nobody, check, equal, read_proc, run, status_field, stop,
                  test, wait_until)

# x86-64: mmap, mprotect, munmap, clone, exit, futex, clone3, rseq; and an allow-list of poll alone
FILTERS = [f"{action}:{number}" for action in ("errno", "trap", "kill")
           for number in (9, 10, 11, 56, 60, 202, 435, 334)] + ["allow:7"]


@test
def one_with_a_filter_of_system_calls():
    reasons = set()
    for name in FILTERS:
        with InjectTarget("filtered", name) as target:
            wait_until(lambda: target.is_in_call == 1, "it has its filter")
            before = facts(target.pid)
            reasons.add(is_refused(target.pid))
            check_same(before, facts(target.pid))
            target.check_goes_on()
    check(all("filter" in reason or "seccomp" in reason for reason in reasons), f"{reasons}")


@test
def one_that_is_traced():
    with InjectTarget("traced") as target:
        reason = is_refused(target.pid, wanted=(errno.EBUSY,))
        check("trace" in reason, reason)
        equal(status_field(target.pid, "TracerPid"), str(target.truth["tracer"]), "tracer")


@test
def one_that_is_stopped():
    with InjectTarget("churn", 2) as target:
        stop(target.pid)
        before = facts(target.pid)
        is_refused(target.pid, "-l", 300, wanted=(errno.EAGAIN,))
        wait_until(lambda: status_field(target.pid, "State").startswith("T (stopped)"),
                   "it is still stopped")
        check_same(before, facts(target.pid))
        os.kill(target.pid, signal.SIGCONT)
        target.check_goes_on()


@test
def one_of_another_user():
    nobody = {"preexec_fn": as_nobody()}
    with InjectTarget("churn", 2) as target:
        reason = is_refused(target.pid, wanted=(errno.EPERM, errno.EACCES),
                            steps=LOOKED_AT, **nobody)
        check(reason, "no reason")
        target.check_goes_on()


@test
def one_that_may_not_be_dumped():
    popen = {"preexec_fn": as_nobody()} if IS_ROOT else {}
    with InjectTarget("not-dumpable", **popen) as target:
        is_refused(target.pid, wanted=(errno.EPERM, errno.EACCES),
                   steps=LOOKED_AT, **popen)
        target.check_goes_on()


@test
def one_of_ones_own_as_an_ordinary_user():
    """If the machine lets it. Otherwise it is as it was."""
    popen = {"preexec_fn": as_nobody()} if IS_ROOT else {}
    with InjectTarget("still", 2, **popen) as target:
        before = facts(target.pid)
        cycle = tool(target.pid, **popen)[0]
        if cycle["open"] != 0:
            check(cycle["open_reason"], f"no reason: {cycle}")
        check_same(before, facts(target.pid))
        target.check_whole()
        if cycle["open"] != 0:
            raise Skip(cycle["open_reason"])


@test
def one_that_has_its_parents_memory():
    with InjectTarget("vforked") as target:
        before = [facts(target.truth[who]) for who in ("pid", "parent")]
        for who in ("pid", "parent"):
            is_refused(target.truth[who], "-l", 300, wanted=(errno.EAGAIN, errno.EOPNOTSUPP),
                       steps=LOOKED_AT)
        for was, who in zip(before, ("pid", "parent")):
            check_same(was, facts(target.truth[who]))


class Program:
    """One that was built for this, and waits."""

    def __init__(self, folder, command, source):
        path, text = os.path.join(folder, "program"), os.path.join(folder, "program.c")
        with open(text, "w", encoding="ascii") as f:
            f.write(source)
        try:
            subprocess.run([*command, "-o", path, text], check=True, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
        except (OSError, subprocess.CalledProcessError):
            raise Skip(f"cannot be built here: {command}") from None
        self.process = subprocess.Popen([path])
        self.pid = self.process.pid

    def __enter__(self):
        wait_until(lambda: status_field(self.pid, "State").startswith("S") or
                   self.process.poll() is not None, "it waits")
        equal(self.process.poll(), None, "status")
        return self

    def __exit__(self, *unused):
        self.process.kill()
        self.process.wait()


WAITS = "#include <stdlib.h>\n#include <unistd.h>\nint main(void) { return malloc(9) ? pause() : 1; }\n"
WAITS_32 = ('__asm__(".globl _start\\n_start: mov $29, %eax\\n int $0x80\\n jmp _start\\n");\n')


CC = shlex.split(os.environ.get("CC", "cc"))


def check_program(command, source, words):
    """words: of the reason."""
    with Folder() as folder, Program(folder, command, source) as program:
        wait_until(lambda: read_proc(program.pid, "syscall").startswith((b"34 ", b"29 ")), "it waits")
        before = facts(program.pid)
        reason = is_refused(program.pid, wanted=(errno.EOPNOTSUPP, errno.ENOSYS))
        check(words in reason, f"{words!r} is not in the reason {reason!r}")
        check_same(before, facts(program.pid))
        equal(program.process.poll(), None, "status")


@test
def one_with_musl():
    check_program(["musl-gcc"], WAITS, "musl")


@test
def one_that_is_static():
    check_program([*CC, "-static"], WAITS, "static")


@test
def one_of_another_word_size():
    check_program([*CC, "-m32", "-nostdlib", "-static"], WAITS_32, "word size")


@test
def one_under_a_sanitizer():
    """Their runtimes crash in a thread that they did not start."""
    skipped = []
    for option, word in (("thread", "ThreadSanitizer"), ("address", "AddressSanitizer"),
                         ("leak", "LeakSanitizer")):
        try:
            check_program([*CC, f"-fsanitize={option}"], WAITS, word)
        except Skip as skip:
            skipped.append(str(skip))
    if len(skipped) == 3:
        raise Skip(skipped[0])


OWN_MALLOC = """
#include <stddef.h>
#include <unistd.h>
static char pool[1 << 20]; static size_t used;
void *malloc(size_t n) { used += (n + 31) & ~15; return pool + used - ((n + 15) & ~15); }
void free(void *p) { (void)p; }
void *calloc(size_t n, size_t m) { return malloc(n * m); }
void *realloc(void *p, size_t n) { (void)p; return malloc(n); }
int main(void) { return malloc(9) ? pause() : 1; }
"""
LIKE_GO = """
#include <sys/mman.h>
#include <unistd.h>
int main(void) { return mmap((void *)0xc000000000, 1 << 22, PROT_READ | PROT_WRITE,
MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == MAP_FAILED ? 1 : pause(); }
"""


@test
def one_whose_malloc_is_not_glibcs():
    """As in Chromium: mallinfo2 of glibc would report a malloc that the program does not use."""
    check_program([*CC, "-rdynamic", "-fno-builtin"], OWN_MALLOC, "malloc is not glibc's")


@test
def one_of_go():
    check_program([*CC, "-D_GNU_SOURCE"], LIKE_GO, "Go program")
    check_program([*CC, "-D_GNU_SOURCE", "-static"], LIKE_GO, "Go program")


@test
def memstate_with_few_descriptors():
    """It is refused before anything is done, and the limit is named; or there are enough."""
    refused = 0
    with InjectTarget("still", 2) as target:
        before = facts(target.pid)
        for count in range(6, 24):
            limit = {"preexec_fn": lambda count=count: resource.setrlimit(resource.RLIMIT_NOFILE, (count, count))}
            cycle = tool(target.pid, **limit)[0]
            if cycle["open"] == 0:
                equal(cycle["close"], 0, f"close with {count} descriptors: {cycle}")
            else:
                refused += 1
                check("RLIMIT_NOFILE" in cycle["open_reason"], f"{count} descriptors: {cycle}")
                equal(cycle["steps"], [], "steps")
            check_same(before, facts(target.pid))
    check(1 < refused < 18, f"refused {refused} times of 18")


run()
