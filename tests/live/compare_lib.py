# SPDX-License-Identifier: GPL-2.0-or-later
"""Helpers shared by the comparison tests."""

import json
import os

from live import memstate

TARGET = os.path.join(os.environ["builddir"], "tests", "targets", "compare_target")
TWO = "glibc,glibc:arena_max=1"  # these two are always available


def has(allocator):
    return memstate("--preload", allocator, "--csv", "--", "true").status == 0


def compare(preload, *args, status=0, **popen):
    """Return the rows of the single runs, in order, and the result."""
    result = memstate("--preload", preload, "--json", *args, **popen).must_be(status)
    page = json.loads(result.out)
    return [row for row in page["rows"] if row["statistic"] == "run"], result


def good(rows, variant):
    return [row for row in rows if row["variant"] == variant and not row["problem"]]


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as f:
        return f.read()


def said(folder, name):
    """Return the figures that compare_target printed about itself."""
    return {key: int(value) for key, value in (line.split() for line in
                                               read(folder, name, "stdout").splitlines())}


def is_there(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as f:
            return f.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False
