# SPDX-License-Identifier: GPL-2.0-or-later
"""The commands in README.md and the tutorials work, and print what the page quotes.

A page's console blocks are one session of a shell, in a copy of doc/tutorials/programs. Each
"$ command" must succeed; its status may differ from 0 only if "$ echo $?" follows. Words of
the quoted output must be in the real output. Digits, addresses and bars may differ.
Comments before a block change that:

    <!-- needs: cgroup jemalloc sqlite -->  skip it where one of these is missing
    <!-- not run: reason -->                never run it
    <!-- run as: s/-i 10s/-i 1s/ -->        change its commands first, by this rule
    <!-- prints: killed limit -->           compare only these words: others depend on the
                                            machine, or on the course of events

MEMSTATE_BLESS=yes writes the real output into the pages. Names of pages as arguments select
them.
"""

import functools
import glob
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile

import live
import oom_lib
from live import IS_ROOT, MEMSTATE, TIMEOUT, Skip, check, need_built_with, wait_until

TOP = os.environ["srcdir"]
PROGRAMS = os.path.join(TOP, "doc", "tutorials", "programs")
GROUP = "memstate-tutorial"
OWN_GROUP = f"{GROUP}-{os.getpid()}"  # another run of this test may use GROUP
IS_BLESSING = os.environ.get("MEMSTATE_BLESS") == "yes"


class Block:
    """A console block: its place in the page, and [command, quoted output] pairs."""

    def __init__(self, first_line, notes):
        self.first_line, self.notes = first_line, notes
        self.commands = []

    def note(self, name):
        for note in self.notes:
            if note.startswith(name + ": "):
                return note[len(name) + 2:]
        return ""


def read_blocks(lines):
    """Return the console blocks; a comment applies to the block after it."""
    blocks, notes, block, is_other = [], [], None, False
    for number, line in enumerate(lines):
        if block:
            if line == "```":
                block, notes = None, []
            elif line.startswith("$ "):
                block.commands.append([line[2:], []])
            elif line.startswith("> ") and not block.commands[-1][1]:
                block.commands[-1][0] += "\n" + line[2:]
            else:
                block.commands[-1][1].append(line)
        elif is_other:
            is_other = line != "```"
        elif line == "```console":
            block = Block(number + 1, notes)
            blocks.append(block)
        elif line.startswith("```"):
            is_other = True
        elif line.startswith("<!-- "):
            notes.append(line[5:].removesuffix(" -->"))
    return blocks


def need_library(name):
    result = subprocess.run([MEMSTATE, "--preload", name, "--csv", "--", "true"],
                            capture_output=True, check=False)
    if b"not found" in result.stderr or b"not installed" in result.stderr or result.returncode == 2:
        raise Skip(f"{name} is not installed")


def need_group():
    if not IS_ROOT:
        raise Skip("only root can create cgroups")
    with oom_lib.Group(64 * live.MIB, name=OWN_GROUP):
        pass
    if not oom_lib.can_read_log():
        raise Skip("the kernel log cannot be read")


def need(name):
    if name == "cgroup":
        need_group()
    elif name == "rights":
        scope = "/proc/sys/kernel/yama/ptrace_scope"
        if os.path.exists(scope) and int(read_text(scope)) > (2 if IS_ROOT else 0):
            raise Skip("kernel.yama.ptrace_scope forbids it")
    elif name.isupper():
        need_built_with(name)
    elif shutil.which(name) is None:
        need_library(name)


@functools.lru_cache(maxsize=None)
def why_missing(name):
    """Return why a need is not met, or an empty string."""
    try:
        need(name)
    except Skip as skip:
        return str(skip)
    return ""


def missing(block):
    """Return why a block cannot run here, or an empty string."""
    reasons = [block.note("not run")] + [why_missing(name) for name in block.note("needs").split()]
    return next(filter(None, reasons), "")


class Session:
    """A shell in a scratch folder. Its jobs end with it."""

    def __init__(self, folder):
        self.folder = folder
        os.mkdir(f"{folder}/bin")
        os.symlink(MEMSTATE, f"{folder}/bin/memstate")
        os.mkdir(f"{folder}/programs")
        for name in os.listdir(PROGRAMS):  # a release may be read-only: do not copy its modes
            shutil.copyfile(f"{PROGRAMS}/{name}", f"{folder}/programs/{name}")
        os.chmod(f"{folder}/programs/in-cgroup", 0o755)
        self.ended, statuses = os.pipe()
        environment = dict(os.environ, PATH=f"{folder}/bin:{os.environ['PATH']}", COLUMNS="80",
                           LC_ALL="C.UTF-8", TMPDIR=folder, HOME=folder)
        for name in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKE", "CC", "CPPFLAGS"):
            environment.pop(name, None)
        self.shell = subprocess.Popen(
            ["bash", "--norc", "--noprofile"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, cwd=f"{folder}/programs", env=environment,
            pass_fds=[statuses], start_new_session=True)
        self.statuses = statuses
        self.count = 0

    def run(self, command):
        """Run a command; return its status and the file with its output."""
        self.count += 1
        path = f"{self.folder}/output-{self.count}"
        script = (f"{{ {command}\n}} >{path} 2>&1 </dev/null\n_status=$?\n"
                  f"echo $_status >&{self.statuses}\n(exit $_status)\n")
        self.shell.stdin.write(script.encode())
        self.shell.stdin.flush()
        ready, _, _ = select.select([self.ended], [], [], TIMEOUT)
        check(ready, f"timed out: {command}")
        return int(os.read(self.ended, 16)), path

    def end(self):
        os.killpg(self.shell.pid, signal.SIGKILL)
        self.shell.wait()
        self.shell.stdin.close()
        os.close(self.ended)
        os.close(self.statuses)


def words_of(lines):
    """Return the words that must be in the output: without bars, names of files and
    what is next to a digit."""
    text = " ".join(lines)
    text = re.sub(r"\[[^]\n]*\]", " ", text)
    return [word for word in re.findall(r"(?<![\w.])[A-Za-z_]{3,}(?![\w./])", text)
            if word != "..."]


def lacking(quoted, output, block):
    """Return the words of the quoted lines that are missing in the output."""
    only = block.note("prints").split()
    have = set(words_of([output]))
    return [word for word in words_of(quoted) if word not in have and (not only or word in only)]


def read_text(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read()


def is_background(command):
    return re.search(r"&( \w+=\$!)?$", command) is not None


def run_command(session, command, quoted, block):
    """Run one command; return its status, its output and the words that are missing."""
    rule = block.note("run as")
    if rule:
        _, old, new, _ = rule.split(rule[1])
        command = command.replace(old, new)
    status, path = session.run(command.replace(GROUP, OWN_GROUP))
    if is_background(command) and quoted:
        wait_until(lambda: not lacking(quoted, read_text(path), block), f"{command} prints {quoted}")
    output = read_text(path).replace(OWN_GROUP, GROUP)
    return status, output, lacking(quoted, output, block)


def run_block(session, block, page):
    """Run a block; return its lines with the real output."""
    lines = []
    for i, (command, quoted) in enumerate(block.commands):
        status, output, words = run_command(session, command, quoted, block)
        follower = block.commands[i + 1][0] if i + 1 < len(block.commands) else ""
        print(f"{page}: $ {command}\n{output}", file=sys.stderr)
        check(status == 0 or follower == "echo $?", f"{page}: {command}: status {status}: {output}")
        if command == "echo $?" and not IS_BLESSING:
            check([output.strip()] == quoted, f"{page}: {block.commands[i - 1][0]}: status {output}")
        check(IS_BLESSING or not words, f"{page}: {command}: no {words} in: {output}")
        lines += ["$ " + command.replace("\n", "\n> ")]
        if is_background(command):
            lines += quoted
        elif output:
            lines += [line.rstrip() for line in output.rstrip("\n").split("\n")
                      if not re.match(r"bash: line \d+: ", line)]
    return lines


def run_page(path):
    page = os.path.relpath(path, TOP)
    lines = read_text(path).split("\n")
    blocks = read_blocks(lines)
    check(blocks, f"{page} has no commands")
    skipped, blessed = [], []
    with tempfile.TemporaryDirectory(prefix="memstate-doc-") as folder:
        session = Session(folder)
        try:
            for block in blocks:
                reason = missing(block)
                if reason:
                    skipped.append(reason)
                    print(f"{page}:{block.first_line}: skipped: {reason}", file=sys.stderr)
                else:
                    blessed.append((block, run_block(session, block, page)))
        finally:
            session.end()
            remove_group()
    if IS_BLESSING:
        write_page(path, lines, blessed)
    if len(skipped) == len(blocks):
        raise Skip(skipped[-1])


def remove_group():
    """Remove the cgroup that a tutorial creates, if it failed on its way."""
    for folder in glob.glob(f"/sys/fs/cgroup/{OWN_GROUP}") + glob.glob(f"/sys/fs/cgroup/memory/{OWN_GROUP}"):
        wait_until(lambda folder=folder: not read_text(f"{folder}/cgroup.procs"), "its processes end")
        os.rmdir(folder)


def write_page(path, lines, blessed):
    for block, output in reversed(blessed):
        last = lines.index("```", block.first_line)
        lines[block.first_line:last] = output
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(lines))


def need_tools():
    for tool in ("bash", "make", "cc", "c++"):
        if shutil.which(tool) is None:
            raise Skip(f"no {tool}")


def add_test(path):
    @oom_lib.test
    def page():
        need_tools()
        run_page(path)
    page.__name__ = os.path.relpath(path, TOP)


for _path in [f"{TOP}/README.md", *sorted(glob.glob(f"{TOP}/doc/tutorials/*.md"))]:
    if not sys.argv[1:] or os.path.relpath(_path, TOP) in sys.argv[1:]:
        add_test(_path)
live.run()
