# SPDX-License-Identifier: GPL-2.0-or-later
"""Text reports on a terminal: every line fits, colours, and the pager."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
import unicodedata

from leak_lib import LeakTarget
from live import MEMSTATE, Skip, check, equal, memstate, run, test

FIXTURES = os.path.join(os.path.abspath(os.environ["srcdir"]), "tests", "fixtures")
ESCAPES = re.compile("\x1b\\[[0-9;]*m")
VERBS = ["", "map", "heap", "leaks", "explain", "count", "diff", "oom", "oom explain",
         "oom predict", "oom watch", "capture", "doctor", "help"]


def on_terminal(args, width, rows=2000, **env):
    """Return the exit status and the lines that memstate writes to a terminal."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, width, 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8",
                   "COLUMNS": "500"}
    for name in ("NO_COLOR", "PAGER", "MEMSTATE_PAGER", "MEMSTATE_PAGERSECURE", "LESS",
                 "LESSSECURE", "SUDO_UID", "PKEXEC_UID"):
        environment.pop(name, None)
    environment.update(env)
    process = subprocess.Popen([MEMSTATE, *[str(a) for a in args]], stdin=subprocess.DEVNULL,
                               stdout=slave, stderr=subprocess.DEVNULL, env=environment)
    os.close(slave)
    output = b""
    while True:
        try:
            data = os.read(master, 65536)
        except OSError:  # the terminal has been closed
            break
        if not data:
            break
        output += data
    os.close(master)
    return process.wait(), output.decode().replace("\r\n", "\n").split("\n")


def width_of(line):
    return sum(0 if unicodedata.combining(c) else
               2 if unicodedata.east_asian_width(c) in "WF" else 1
               for c in ESCAPES.sub("", line))


def check_fits(args, may_fail=False, **env):
    for width in (60, 80, 100, 200):
        status, lines = on_terminal(args, width, **env)
        check(may_fail or status == 0, f"{args}: status {status}: {lines}")
        check(may_fail or len(lines) > 1, f"{args}: no output")
        for line in lines:
            check("\t" not in line, f"{args}: tab in {line!r}")
            # a command that is to be copied is never wrapped
            check(width_of(line) <= width or line.startswith("next: "),
                  f"{args}: wider than {width}: {line!r}")


@test
def captured_processes_fit():
    for tree in ("system", "names", "plain"):
        procfs = ["--procfs", os.path.join(FIXTURES, tree)]
        for options in ([], ["-b"], ["--output-all"]):
            check_fits(["--text", *procfs, *options], may_fail=True)
            check_fits(["map", "-p", "100", *procfs, *options], may_fail=True)
        check_fits(["--text", "-p", "100", *procfs], may_fail=True)
        check_fits(["--text", "-p", "100", *procfs], may_fail=True, LC_ALL="C")
    status, lines = on_terminal(["--text", "--procfs", os.path.join(FIXTURES, "plain")], 80)
    check("largest" in lines[0] and "PID" in lines[2] and len(lines) > 5, f"status {status}, {lines}")


@test
def reports_about_a_process_fit():
    with LeakTarget("mixed", 60) as target:
        pid = ["-p", target.pid]
        for verb in (["--text"], ["heap"], ["heap", "-b"], ["leaks"], ["leaks", "-b"],
                     ["oom", "--text"], ["oom", "predict", "-n", "2", "-i", "10ms"]):
            check_fits([*verb, *pid], may_fail=verb[0] == "oom")
        status, lines = on_terminal(["leaks", *pid], 80)
        equal(status, 0, "status of leaks")
        check(any("leaked" in line for line in lines), f"no leaks in {lines}")


@test
def other_reports_fit():
    check_fits(["doctor"])
    check_fits(["doctor", "-p", os.getpid()])
    check_fits(["count", "--", "/bin/true"], may_fail=True)
    check_fits(["oom", "explain"], may_fail=True)
    profiles = os.path.join(FIXTURES, "profiles")
    before, after = os.path.join(profiles, "before.folded"), os.path.join(profiles, "after.folded")
    check_fits(["diff", before, after])
    check_fits(["count", "--replay", after])


@test
def help_fits():
    for verb in VERBS:
        check_fits([*verb.split(), "--help"])
        check_fits(["help", "-a", *verb.split()])
    check_fits(["--version"])
    check_fits(["--list-columns"])


@test
def output_that_is_not_on_a_terminal_is_not_shortened():
    env = {**os.environ, "LC_ALL": "C.UTF-8"}
    env.pop("COLUMNS", None)
    args = ["--text", "--procfs", os.path.join(FIXTURES, "system")]
    out = memstate(*args, env=env).out
    check(b"--buffers 32M --long" in out or b"--data /var/lib/database --buffers 32M" in out,
          f"shortened: {out}")
    check(b"\x1b" not in out, "colours in a pipe")
    check("…".encode() not in out, f"shortened: {out}")


def has_colour(*args, **env):
    return any("\x1b[" in line for line in on_terminal(args, 80, **env)[1])


@test
def colours_depend_on_terminal_and_options():
    args = ["map", "-p", "100", "--procfs", os.path.join(FIXTURES, "plain")]
    equal(has_colour(*args), True, "on a terminal")
    equal(has_colour(*args, NO_COLOR=""), True, "with an empty NO_COLOR")
    equal(has_colour(*args, NO_COLOR="0"), False, "with NO_COLOR")
    equal(has_colour(*args, TERM="dumb"), False, "with TERM=dumb")
    equal(has_colour(*args, "--color=never"), False, "with never")
    equal(has_colour(*args, "--color", NO_COLOR="1"), True, "with --color")
    equal(has_colour(*args, "--color", "--json"), False, "in JSON")
    equal(has_colour(*args, "--color", "--csv"), False, "in CSV")
    plain, coloured = memstate(*args).must_be(0).out, memstate(*args, "--color").must_be(0).out
    check(plain != coloured, "--color has no effect in a pipe")
    equal(ESCAPES.sub("", coloured.decode()), plain.decode(), "text without its colours")
    memstate(*args, "--color=blue").must_be(2)


def colour_of(lines, word):
    """Return the escape sequences in the lines that contain the word, as a list."""
    return [ESCAPES.findall(line) for line in lines if word in ESCAPES.sub("", line)]


NAMED = """
import sys
open("/proc/self/comm", "w").write(sys.argv[1])
print("ready", flush=True)
sys.stdin.read()
"""


@test
def names_do_not_select_colours():
    for name in ("leaked", "killed", "page cache", "LEAKED LEAKED"):
        process = subprocess.Popen([sys.executable, "-c", NAMED, name], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE)
        try:
            equal(process.stdout.readline(), b"ready\n", "first line of the process")
            args = ["--text", "-p", process.pid, "--color"]
            for options in (["--output", "comm,anonymous_bytes"], ["--output", "comm", "--no-headings"]):
                out = memstate(*args, *options).must_be(0).out.decode()
                equal(colour_of(out.split("\n"), name), [[]],
                      f"colours of the row of {name!r} with {options}")
        finally:
            process.stdin.close()
            process.wait()


@test
def reports_mark_headings_and_problems():
    with LeakTarget("mixed", 60) as target:
        lines = memstate("leaks", "-p", target.pid, "--color").must_be(0).out.decode().split("\n")
        for label in ("leaked", "direct", "indirect"):
            found = [line for line in lines if ESCAPES.sub("", line).split()[:1] == [label]
                     and len(line.split()) > 2]
            equal(len(found), 1, f"lines of {label} in {lines}")
            equal(ESCAPES.findall(found[0]), ["\x1b[31m", "\x1b[0m"], f"colours of {label}")
        equal(colour_of(lines, "USABLE"), [["\x1b[1m", "\x1b[0m"]], "colours of the heading")
        lines = memstate("heap", "-p", target.pid, "--color").must_be(0).out.decode().split("\n")
        for label in ("pool_pages: free, whole", "trimmable: "):
            equal(colour_of(lines, label), [["\x1b[32m", "\x1b[0m"]], f"colours of {label}")


@test
def long_text_is_shown_in_the_pager():
    args = ["map", "-p", "100", "--procfs", os.path.join(FIXTURES, "plain")]
    marked = {"MEMSTATE_PAGER": "sed s/^/paged:/", "PAGER": "false"}

    def is_paged(*options, rows=5, **env):
        status, lines = on_terminal([*args, *options], 80, rows=rows, **{**marked, **env})
        equal(status, 0, f"status with {options} and {env}")
        check(any("[stack]" in line for line in lines), f"missing text: {lines}")
        return any(line.startswith("paged:") for line in lines)

    equal(is_paged(), True, "long text")
    equal(is_paged(rows=100), False, "text that fits on the screen")
    equal(is_paged("--no-pager"), False, "with --no-pager")
    equal(is_paged("--csv"), False, "with --csv")
    equal(is_paged(MEMSTATE_PAGER=""), False, "with an empty MEMSTATE_PAGER")
    equal(is_paged(MEMSTATE_PAGER="cat"), False, "with cat")
    equal(is_paged(TERM="dumb"), False, "with TERM=dumb")
    equal(is_paged(MEMSTATE_PAGER="/nonexistent"), False, "with a pager that is missing")
    equal(is_paged(MEMSTATE_PAGER="/nonexistent -x"), False, "with a command that is missing")
    equal(is_paged(MEMSTATE_PAGER="echo paged:$LESS; cat"), True, "with a shell command")


@test
def a_report_on_a_cgroup_is_shown_in_the_pager():
    if memstate("oom", "-p", os.getpid(), "--csv").status != 0:
        raise Skip("no cgroup is visible")
    args = ["oom", "-p", os.getpid()]
    pager = {"MEMSTATE_PAGER": "sed s/^/paged:/"}
    status, lines = on_terminal(args, 80, rows=5, **pager)
    check(status in (0, 3), f"status {status}")
    check(lines[0].startswith("paged:"), lines)
    status, lines = on_terminal([*args, "--json", "-n", 2, "-i", "10ms"], 80, rows=1, **pager)
    check(status in (0, 3), f"status {status}")
    check(len(lines) > 1 and not lines[0].startswith("paged:"), lines)


@test
def the_pager_is_secure_with_the_rights_of_another_user():
    args = ["map", "-p", "100", "--procfs", os.path.join(FIXTURES, "plain")]
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "less"), "w") as f:
            f.write("#!/bin/sh\nexec sed \"s/^/less-$LESSSECURE:/\"\n")
        os.chmod(f.name, 0o755)
        mine = {"PATH": f"{folder}:{os.environ['PATH']}", "MEMSTATE_PAGER": "sed s/^/mine-$LESSSECURE:/"}

        def pager(**env):
            status, lines = on_terminal(args, 80, rows=5, **{**mine, **env})
            equal(status, 0, f"status with {env}")
            check(any("[stack]" in line for line in lines), f"missing text: {lines}")
            found = re.match("((mine|less)-.?):", lines[0])
            return found and found[1]

        equal(pager(), "mine-", "the user's own pager")
        for elevated in ({"SUDO_UID": "1000"}, {"PKEXEC_UID": "1000"}):
            equal(pager(**elevated), "less-1", f"with {elevated}")
            equal(pager(**elevated, MEMSTATE_PAGERSECURE="1"), "mine-1", f"a permitted one with {elevated}")
            equal(pager(**elevated, MEMSTATE_PAGERSECURE="0"), "mine-", f"not secure with {elevated}")
            for off in ("", "cat"):
                equal(pager(**elevated, MEMSTATE_PAGER=off), None, f"with {off!r} and {elevated}")
        equal(pager(SUDO_UID="1000", LESSSECURE="0"), "less-1", "with LESSSECURE=0")
        equal(pager(MEMSTATE_PAGERSECURE="yes"), "mine-1", "secure mode on request")
        equal(pager(MEMSTATE_PAGERSECURE="no"), "mine-", "secure mode refused")


@test
def quitting_the_pager_is_not_an_error():
    args = ["count", "--replay", os.path.join(FIXTURES, "profiles", "after.folded"), "--top",
            "100000"]
    for pager in ("true", "head -n 1", "exit 5"):
        equal(on_terminal(args, 80, rows=3, MEMSTATE_PAGER=pager)[0], 0, f"status with {pager}")
    missing = [*args[:2], "/nonexistent"]
    equal(on_terminal(missing, 80, rows=3, MEMSTATE_PAGER="true")[0], memstate(*missing).status,
          "status of a failure")


@test
def sigint_of_the_pager_ends_memstate():
    args = ["map", "-p", "100", "--procfs", os.path.join(FIXTURES, "plain")]
    status, _ = on_terminal(args, 80, rows=5, MEMSTATE_PAGER="kill -INT $$")
    equal(status, -2, "status when the pager was killed by SIGINT")
    status, _ = on_terminal(args, 80, rows=5, MEMSTATE_PAGER="kill -INT $PPID; cat")
    equal(status, 0, "status when only memstate got SIGINT")


run()
