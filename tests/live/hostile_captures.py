# SPDX-License-Identifier: GPL-2.0-or-later
"""Captured trees made to do harm: memstate reads nothing outside the tree, and neither
crashes nor hangs."""

import os
import shutil
import tempfile

from live import IS_ROOT, Folder, Target, check, memstate, run, test

SECRET = "not-for-anybody-else"
HUGE = 1 << 42

# All commands that read a tree; {pids} stands for all processes in it, {out} for
# a new folder.
OF_PROCESSES = [
    ["-p", "{pids}", "--text"],
    ["-p", "{pids}", "--csv", "-n", "1"],
    ["map", "-p", "{pids}", "-J"],
    ["heap", "-p", "{pids}"],
    ["leaks", "-p", "{pid}"],
    ["explain", "-p", "{pid}"],
    ["doctor", "-p", "{pid}"],
    ["oom", "-p", "{pid}"],
]
OF_MACHINE = [
    ["--text"],
    ["doctor"],
    ["oom"],
    ["capture", "{out}/all"],
    ["capture", "--redact", "{out}/redacted"],
]
READ_BY_DOCTOR = ("smaps", "status", "task/{pid}/syscall")


def write(path, data=b""):
    with open(path, "wb") as f:
        f.write(data)


def sparse(path):
    write(path)
    os.truncate(path, HUGE)


def device(path):
    os.mknod(path, 0o20666, os.makedev(1, 7))  # /dev/full


def ways_to_replace(data, secret):
    """Return the ways to turn a file into an odd one, by name."""
    ways = {
        "empty": write,
        "FIFO": os.mkfifo,
        "directory": os.mkdir,
        "huge": sparse,
        "link out of the tree": lambda path: os.symlink(secret, path),
        "link out of the tree by dots": lambda path: os.symlink("../../../../.." + secret, path),
        "link to a device": lambda path: os.symlink("/dev/zero", path),
        "dangling link": lambda path: os.symlink("nothing", path),
        "link to itself": lambda path: os.symlink(os.path.basename(path), path),
        "NULs": lambda path: write(path, bytes(len(data))),
        "not text": lambda path: write(path, bytes(range(128, 256)) * (len(data) // 128 + 1)),
    }
    if IS_ROOT:
        ways["device"] = device
    for length in sorted({1, len(data) // 3, len(data) // 2, max(len(data) - 1, 0)}):
        ways[f"cut to {length} of {len(data)} bytes"] = \
            lambda path, length=length: write(path, data[:length])
    return ways


def files_below(tree):
    for folder, _, names in os.walk(tree):
        for name in names:
            yield os.path.join(folder, name)


def check_no_secret(out, what):
    for path in files_below(out):
        check(not os.path.islink(path), f"{what}: {path} is a symlink")
        with open(path, "rb") as f:
            check(SECRET.encode() not in f.read(), f"{what}: the secret is in {path}")


def check_commands(commands, tree, pids, what):
    with tempfile.TemporaryDirectory() as out:
        for command in commands:
            words = [word.format(pid=pids[0], pids=",".join(map(str, pids)), out=out)
                     for word in command]
            verb = [] if words[0].startswith("-") else [words.pop(0)]
            result = memstate(*verb, "--procfs", tree, *words, timeout=60)
            text = f"{what}: {' '.join(command)}: {result.err.decode(errors='replace')[:500]}"
            check(result.status in (0, 1, 2, 3), f"{text}: status {result.status}")
            check(SECRET.encode() not in result.out + result.err, f"{text}: shows the secret")
        check_no_secret(out, what)


def make_tree(folder):
    """Return a capture of one process, an outside file that must not be read,
    and the pid."""
    tree = os.path.join(folder, "tree")
    secret = os.path.join(folder, "secret")
    write(secret, SECRET.encode() + b"\n")
    with Target("name", "captured") as target:
        memstate("capture", "-p", str(target.pid), tree).must_be(0)
        return tree, secret, target.pid


def discard(path):
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    else:
        os.unlink(path)


def copy_process(tree, pid, copy):
    """Copy a process in the tree under another pid."""
    to = os.path.join(tree, str(copy))
    shutil.copytree(os.path.join(tree, str(pid)), to)
    os.rename(os.path.join(to, "task", str(pid)), os.path.join(to, "task", str(copy)))
    for name in ("stat", f"task/{copy}/stat"):
        with open(os.path.join(to, name), "rb") as f:
            text = f.read()
        write(os.path.join(to, name), text.replace(str(pid).encode(), str(copy).encode(), 1))
    return to


@test
def no_file_of_a_process_can_do_harm():
    with Folder() as folder:
        tree, secret, pid = make_tree(folder)
        own = os.path.join(tree, str(pid))
        names = [name for name in sorted(os.listdir(own)) if name != "task"]
        names += ["task/{pid}/stat", "task/{pid}/comm", "task/{pid}/syscall"]
        for name in names:
            with open(os.path.join(own, name.format(pid=pid)), "rb") as f:
                ways = ways_to_replace(f.read(), secret)
            copies = [(1000000 + i, way, ways[way]) for i, way in enumerate(ways)]
            for copy, _, replace in copies:
                path = os.path.join(copy_process(tree, pid, copy), name.format(pid=copy))
                os.unlink(path)
                replace(path)
            check_commands(OF_PROCESSES, tree, [copy for copy, _, _ in copies] + [pid], name)
            check_commands(OF_MACHINE, tree, [pid], name)
            for copy, way, _ in copies:
                if name in READ_BY_DOCTOR:
                    check_commands([["doctor", "-p", "{pid}"]], tree, [copy], f"{name}, {way}")
                shutil.rmtree(os.path.join(tree, str(copy)))


@test
def no_file_of_the_machine_can_do_harm():
    with Folder() as folder:
        tree, secret, pid = make_tree(folder)
        files = [f for f in files_below(tree) if f"/{pid}/" not in f]
        check(len(files) >= 5, f"files of the machine: {files}")
        for path in sorted(files):
            with open(path, "rb") as f:
                data = f.read()
            for way, replace in ways_to_replace(data, secret).items():
                discard(path)
                replace(path)
                check_commands([OF_MACHINE[1], OF_MACHINE[-1]], tree, [pid], f"{os.path.relpath(path, tree)}, {way}")
            discard(path)
            write(path, data)


@test
def symlinked_process_and_thread_directories_are_not_read():
    with Folder() as folder:
        tree, _, pid = make_tree(folder)
        own = os.path.join(tree, str(pid))
        for place, comm in ((own, "comm"), (os.path.join(own, "task"), f"{pid}/comm")):
            outside = os.path.join(folder, "outside")
            kept = os.path.join(folder, "kept")
            shutil.copytree(place, outside)
            write(os.path.join(outside, comm), SECRET.encode())
            os.rename(place, kept)
            os.symlink(outside, place)
            check_commands(OF_PROCESSES + OF_MACHINE, tree, [pid],
                           f"{os.path.relpath(place, tree)} is a link")
            os.unlink(place)
            os.rename(kept, place)
            shutil.rmtree(outside)


@test
def a_captured_tree_names_no_directories_of_this_machine():
    with Folder() as folder:
        tree, _, pid = make_tree(folder)
        outside = os.path.join(folder, "cgroups")
        os.mkdir(outside)
        os.mkfifo(os.path.join(outside, "cgroup.controllers"))
        shutil.copytree(os.path.join(tree, str(pid)), os.path.join(tree, "self"))
        write(os.path.join(tree, "self", "mountinfo"),
              f"35 31 0:32 / {outside} rw - cgroup2 cgroup rw\n".encode())
        check_commands(OF_PROCESSES + OF_MACHINE, tree, [pid], "private mounts")


run()
