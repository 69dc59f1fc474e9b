# SPDX-License-Identifier: GPL-2.0-or-later
"""The reports about cgroups open with their conclusion and end with a command that works."""

import re
import subprocess

from live import MEMSTATE, MIB, Folder, check, memstate, need_built_with, run, test
from oom_lib import Filled, Group

AMOUNT = r"\d+(\.\d[KMG])?"
STATUSES = (0, 3, 4)  # all verdicts of oom predict, and of the other commands if all is well


def status_of(command):
    """Run a command that begins with "memstate" as a user would, and return its status."""
    script = f"memstate() {{ '{MEMSTATE}' \"$@\"; }}; {command}"
    return subprocess.run(["bash", "-c", script], stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, check=False).returncode


def check_report(args, opening, command, ending=""):
    """Check the first sentences and the suggested command, and run it with the options of
    `ending`. Both are regular expressions."""
    result = memstate(*args)
    check(result.status in STATUSES, result.err)
    lines = result.out.decode().splitlines()
    check("" in lines, f"{args}: {lines}")
    text = " ".join(lines[:lines.index("")])
    check(re.fullmatch(opening, text), f"{args}: opens with {text!r}")
    check(re.fullmatch(f"next: {command}", lines[-1]), f"{args}: ends with {lines[-1]!r}")
    status = status_of(lines[-1][len("next: "):] + ending)
    check(status in STATUSES, f"{lines[-1]}: status {status}")


@test
def the_usage_and_the_growth_of_a_cgroup_are_concluded():
    with Group(128 * MIB) as group, Filled(group, "anon=20"):
        check_report(["oom", "--cgroup", group.path],
                     rf"cgroup {group.path} uses {AMOUNT} of its limit of 128.0M; {AMOUNT} \(\d+%\) "
                     rf"cannot be reclaimed. Need can grow by {AMOUNT} before the kernel kills a process.",
                     f"memstate oom predict --cgroup {group.path}", " -n 1")
        check_report(["oom", "predict", "--cgroup", group.path, "-n", 1],
                     rf"cgroup {group.path} needs {AMOUNT} of its limit of 128.0M; it is too soon to "
                     "tell whether it grows.",
                     f"memstate oom predict --cgroup {group.path} -n 60", " -i 1ms")


@test
def a_recording_leads_to_its_explanation_and_back():
    need_built_with("SQLITE")
    with Folder() as folder, Group(128 * MIB) as group, Filled(group, "anon=20"):
        path = f"{folder}/it's $HOME"
        quoted = re.escape("'" + path.replace("'", r"'\''") + "'")
        memstate("oom", "--cgroup", group.path, "--csv", "-n", 3, "-i", "10ms", "--record",
                 path).must_be(0)
        check_report(["oom", "--replay", path], rf"cgroup {group.path} uses .*",
                     f"memstate oom explain --record {quoted}")
        check_report(["oom", "explain", "--record", path],
                     rf"No process of cgroup {group.path} was killed during the recording; it needed "
                     rf"{AMOUNT} of its limit of 128.0M at the end\..*",
                     f"memstate oom predict --replay {quoted}")
        check_report(["oom", "predict", "--replay", path], rf"cgroup {group.path} needs .*",
                     f"memstate oom explain --record {quoted}")


run()
