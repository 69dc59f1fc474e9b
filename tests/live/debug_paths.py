# SPDX-License-Identifier: GPL-2.0-or-later
"""Debug information with paths from untrusted files: memstate opens
regular files only."""

import contextlib
import ctypes
import os
import shlex
import shutil
import subprocess

from live import Folder, Skip, check, equal, memstate, run, test
from pprof_lib import Profile

IN_OPEN = 0x20
LIBC = ctypes.CDLL(None, use_errno=True)
SOURCE = """#include <stdlib.h>
__attribute__((noinline)) void *outer(size_t n)
{
	return malloc(n);
}
int main(void)
{
	free(outer(12345));
	return 0;
}
"""
ALLOCATION_LINE = 4

with open(os.path.join(os.environ["builddir"], "config.h"), encoding="ascii") as _config:
    CONFIG = _config.read()


def tool(*args, cwd):
    done = subprocess.run(args, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0:
        raise Skip(f"{shlex.join(args)}: {done.stderr.decode()}")


class Opens:
    """Count how often a file is opened while this object exists."""

    def __init__(self, path):
        self.fd = LIBC.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        check(self.fd >= 0, "inotify")
        check(LIBC.inotify_add_watch(self.fd, os.fsencode(path), IN_OPEN) >= 0,
              "inotify_add_watch() failed")

    def count(self):
        try:
            return len(os.read(self.fd, 65536)) // 16
        except BlockingIOError:
            return 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.fd)


@contextlib.contextmanager
def own_device():
    """Return the path of a terminal, a device that no other test opens."""
    descriptors = os.openpty()
    try:
        yield os.ttyname(descriptors[1])
    finally:
        for fd in descriptors:
            os.close(fd)


def build(folder, *options):
    if "#define HAVE_LIBDW 1" not in CONFIG or "#define HAVE_PPROF 1" not in CONFIG:
        raise Skip("built without libdw or protobuf-c, so there are no lines")
    compiler = shlex.split(os.environ.get("CC", "cc"))
    if not shutil.which(compiler[-1]) or not shutil.which("objcopy"):
        raise Skip("a compiler or objcopy is missing")
    with open(os.path.join(folder, "program.c"), "w", encoding="ascii") as f:
        f.write(SOURCE)
    tool(compiler[-1], "-O0", "-g", "-c", *options, "program.c", cwd=folder)
    tool(compiler[-1], "-o", "program", "program.o", cwd=folder)
    return os.path.join(folder, "program")


def find_line(folder):
    """Return the line of outer() that allocates, or None if debug information
    is not found."""
    recorded = os.path.join(folder, "recorded")
    if os.path.exists(recorded):
        os.unlink(recorded)
    memstate("count", "--stacks", "--record", recorded, "--",
             os.path.join(folder, "program")).must_be(0)
    lines = {frame.line for frames, _ in Profile(recorded).samples for frame in frames
             if frame.file.endswith("program.c")}
    check(not lines or ALLOCATION_LINE in lines, f"lines: {lines}")
    return ALLOCATION_LINE if lines else None


def check_only_regular_is_opened(folder, debug):
    equal(find_line(folder), ALLOCATION_LINE, f"the line with {os.path.basename(debug)}")
    os.rename(debug, debug + ".away")
    os.mkfifo(debug)
    with Opens(debug) as opens:
        equal(find_line(folder), None, "the line with a FIFO in its place")
        equal(opens.count(), 0, "opens of the FIFO")
    os.unlink(debug)
    with own_device() as device:
        os.symlink(device, debug)
        with Opens(device) as opens:
            equal(find_line(folder), None, "the line with a device in its place")
            equal(opens.count(), 0, "opens of the device")
    os.unlink(debug)
    os.rename(debug + ".away", debug)
    equal(find_line(folder), ALLOCATION_LINE, "the line with the file back in its place")


@test
def a_debug_link_is_followed_only_to_a_regular_file():
    with Folder() as folder:
        build(folder)
        tool("objcopy", "--only-keep-debug", "program", "program.debug", cwd=folder)
        tool("objcopy", "--strip-all", "--add-gnu-debuglink=program.debug", "program", cwd=folder)
        check_only_regular_is_opened(folder, os.path.join(folder, "program.debug"))


@test
def split_debug_information_is_read_only_from_a_regular_file():
    with Folder() as folder:
        build(folder, "-gsplit-dwarf")
        debug = os.path.join(folder, "program.dwo")
        if not os.path.exists(debug):
            raise Skip("this compiler does not split debug information")
        os.unlink(debug)
        with own_device() as device:
            os.symlink(device, debug)
            with Opens(device) as opens:
                find_line(folder)
                equal(opens.count(), 0, "opens of the device")


run()
