# SPDX-License-Identifier: GPL-2.0-or-later
"""memstate --preload: which allocator the command gets, its settings, and
what is refused."""

import os
import shutil
import stat
import subprocess

from live import Folder, Skip, as_nobody, check, equal, memstate, run, test

ENV = shutil.which("env")
CAT = shutil.which("cat")
TARGETS = os.path.join(os.environ["builddir"], "tests", "targets")
STATIC = os.path.join(TARGETS, "heap_target_static")
OWN_MALLOC = os.path.join(TARGETS, "own_malloc_target")
FILES = {"jemalloc": "libjemalloc.so", "tcmalloc": "libtcmalloc.so",
         "tcmalloc_minimal": "libtcmalloc_minimal.so", "mimalloc": "libmimalloc.so"}


def environment(**variables):
    return {**{k: v for k, v in os.environ.items() if k not in ("LD_PRELOAD", "MALLOC_CONF",
                                                                "GLIBC_TUNABLES")}, **variables}


def own_words(preload, *command, **popen):
    """Return the command's standard output, which appears on
    memstate's standard error."""
    result = memstate("--preload", preload, "--csv", "-i", "10ms", "--", *command, **popen)
    return result.must_be(0).err.decode(errors="replace").splitlines()


def is_installed(name):
    return memstate("--preload", name, "--csv", "--", "true").status == 0


def installed():
    found = [name for name in FILES if is_installed(name)]
    if not found:
        raise Skip("no other allocator is installed")
    return found


def variable(words, name):
    values = [line.split("=", 1)[1] for line in words if line.startswith(name + "=")]
    return values[0] if values else None


@test
def the_named_library_is_loaded():
    for name in installed():
        maps = own_words(name, CAT, "/proc/self/maps")
        check(any("/" + FILES[name] in line for line in maps), f"{name}: {maps}")
        path = next(line for line in maps if "/" + FILES[name] in line).split()[-1]
        maps = own_words(path, CAT, "/proc/self/maps")
        check(any(line.endswith(path) for line in maps), f"{path}: {maps}")


@test
def settings_are_added_to_the_environment():
    # the loader reports the missing library and continues
    preloaded = os.path.join(TARGETS, "no_such_library.so")
    before = environment(LD_PRELOAD=preloaded, GLIBC_TUNABLES="glibc.malloc.arena_max=8")
    words = own_words("glibc:arena_max=2:trim_threshold=64K", ENV, env=before)
    equal(variable(words, "GLIBC_TUNABLES"),
          "glibc.malloc.arena_max=8:glibc.malloc.arena_max=2:glibc.malloc.trim_threshold=65536",
          "GLIBC_TUNABLES")
    equal(variable(words, "LD_PRELOAD"), "libc.so.6:" + preloaded, "LD_PRELOAD")
    if "jemalloc" in installed():
        before = environment(MALLOC_CONF="narenas:1")
        words = own_words("jemalloc:dirty_decay_ms=0:muzzy_decay_ms=7", ENV, env=before)
        equal(variable(words, "MALLOC_CONF"), "narenas:1,dirty_decay_ms:0,muzzy_decay_ms:7",
              "MALLOC_CONF")


@test
def jemalloc_applies_its_settings():
    if "jemalloc" not in installed():
        raise Skip("jemalloc is not installed")
    target = os.path.join(TARGETS, "compare_target")
    words = own_words("jemalloc:dirty_decay_ms=4321:stats_print=true", target, "leaking", "1", "50")
    check(any("dirty_decay_ms: 4321" in line for line in words), words[:40])


@test
def an_unknown_name_or_setting_is_a_usage_error():
    for preload, said in (("nosuch", "unknown allocator 'nosuch'"),
                          ("glibc,nosuch", "unknown allocator 'nosuch'"),
                          ("glibc:nosuch=1", "glibc has no setting 'nosuch'"),
                          ("jemalloc:x=1,glibc", "jemalloc has no setting 'x'"),
                          ("glibc,glibc", "'glibc' appears twice"),
                          ("glibc,dirty_decay_ms=0", "with ':'"),
                          ("glibc:arena_max=x", "neither a number")):
        result = memstate("--preload", preload, "--", "true").must_be(2)
        check(said in result.errors()[0], f"{preload}: {result.err}")
        equal(result.out, b"", "stdout")
    for args, said in ((["--preload", "glibc"], "requires a command"),
                       (["--runs", "2", "--", "true"], "--runs requires --preload"),
                       (["--preload", "glibc", "--settle", "1", "--", "true"], "--settle requires"),
                       (["--preload", "glibc,/x", "--ready", "1", "--", "true"], "--workload"),
                       (["--preload", "glibc,/x", "-p", "1", "--", "true"], "-p cannot be combined")):
        check(said in memstate(*args).must_be(2).errors()[0], args)


class Marked:
    """A command that creates a file when it runs."""

    def __init__(self, folder):
        self.mark = os.path.join(folder, "mark")

    def was_run(self):
        return os.path.exists(self.mark)

    def refuse(self, said, *command, preload="glibc", **popen):
        for allocators in (preload, preload + ",glibc:arena_max=1"):
            result = memstate("--preload", allocators, "--", *command, **popen).must_be(1)
            check(said in result.errors()[0], f"{command}: {result.err}")
            equal(result.out, b"", "stdout")
            check(not self.was_run(), f"{command} was run")


@test
def a_missing_or_invalid_library_is_reported_before_anything_runs():
    with Folder() as folder:
        marked = Marked(folder)
        bad = os.path.join(folder, "libbad.so")
        with open(bad, "w", encoding="ascii") as f:
            f.write("INPUT(libjemalloc.so)")
        other = os.path.join(folder, "libother.so")
        with open(other, "wb") as f:  # a 32-bit library for a machine other than this one
            f.write(b"\x7fELF\x01\x01\x01".ljust(16, b"\0") + b"\3\0\xb7\xff".ljust(48, b"\0"))
        for path, said in ((os.path.join(folder, "none.so"), "none.so: No such file"),
                           (bad, "not a shared library"), (other, "different machine type (32-bit)")):
            marked.refuse(said, "touch", marked.mark, preload=path)
        for name in FILES:
            if not is_installed(name):
                marked.refuse(f"{name}: not found", "touch", marked.mark, preload=name)
                result = memstate("--preload", name, "--", "true").must_be(1)
                check("Debian" in result.errors()[1], result.err)


@test
def a_command_without_preloading_is_refused():
    with Folder() as folder:
        marked = Marked(folder)
        marked.refuse("No such file", "/no/such/program")
        marked.refuse("Permission denied", "/dev/null")
        marked.refuse("contains its own malloc", OWN_MALLOC, marked.mark)
        if os.path.exists(STATIC):
            marked.refuse("statically linked", STATIC, "fragmented")
            script = os.path.join(folder, "script")
            with open(script, "w", encoding="ascii") as f:
                f.write(f"#!{STATIC} fragmented\n")
            os.chmod(script, 0o755)
            marked.refuse("statically linked", script)


@test
def a_musl_program_is_refused():
    compiler = shutil.which("musl-gcc")
    if not compiler:
        raise Skip("musl-gcc is not installed")
    with Folder() as folder:
        source, program = os.path.join(folder, "a.c"), os.path.join(folder, "a")
        with open(source, "w", encoding="ascii") as f:
            f.write("int main(void) { return 0; }\n")
        subprocess.run([compiler, "-o", program, source], check=True)
        Marked(folder).refuse("linked with musl", program)


@test
def a_setuid_program_is_refused():
    setuid = [path for path in map(shutil.which, ("passwd", "su", "mount", "newgrp", "chsh"))
              if path and os.stat(path).st_mode & stat.S_ISUID and os.access(path, os.R_OK)]
    if not setuid:
        raise Skip("no program here is setuid and can be read")
    if os.geteuid() == os.stat(setuid[0]).st_uid:
        popen = {"preexec_fn": as_nobody(), "cwd": "/"}
    else:
        popen = {}
    with Folder() as folder:
        Marked(folder).refuse("set-user-ID program", setuid[0], **popen)


run()
