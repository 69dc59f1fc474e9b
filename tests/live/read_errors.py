# SPDX-License-Identifier: GPL-2.0-or-later
"""A file that cannot be read is reported with the actual error, not as a
lack of permission."""

import os
import resource

from live import Folder, Skip, Target, check, memstate, run, test

RIGHTS = ("rights", "owner and root", "CAP_SYS_PTRACE")


def check_reported(result, words, what):
    text = (result.out + result.err).decode()
    check(words in " ".join(text.split()), f"{what}: '{words}' is not reported: {text}")
    for right in RIGHTS:
        check(right not in text, f"{what}: '{right}' is reported: {text}")


@test
def a_read_error_in_a_capture_is_reported():
    with Folder() as folder, Target("name", "captured") as target:
        tree = os.path.join(folder, "tree")
        memstate("capture", "-p", str(target.pid), tree).must_be(0)
        for name in ("smaps", "smaps_rollup"):
            os.truncate(os.path.join(tree, str(target.pid), name), 1 << 42)
        for args in (["--text"], ["--csv", "-n", "1"]):
            check_reported(memstate("--procfs", tree, "-p", str(target.pid), *args).must_be(1),
                           "File too large", args[0])
        doctor = memstate("doctor", "--procfs", tree, "-p", str(target.pid))
        check_reported(doctor, "smaps: File too large", "doctor")


def limit_descriptors():
    resource.setrlimit(resource.RLIMIT_NOFILE, (5, 5))


@test
def too_many_open_files_are_not_reported_as_a_lack_of_permission():
    with Target("name", "present") as target:
        result = memstate("heap", "-p", str(target.pid), preexec_fn=limit_descriptors)
        if result.status == 0:
            raise Skip("five descriptors are enough")
        check_reported(result, "Too many open files", "heap")


run()
