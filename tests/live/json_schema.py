# SPDX-License-Identifier: GPL-2.0-or-later
"""The JSON schemas in doc/schema. All other tests check the JSON that they ask for against
them; these tests show that the schemas are valid and that a wrong report is found."""

import copy
import json

import schema_lib as schema
from heap_lib import HeapTarget
from live import check, equal, memstate, run, test

if not schema.jsonschema:
    print("python3-jsonschema is not installed")
    raise SystemExit(77)


@test
def every_schema_is_valid():
    check(len(schema.names()) > 10, schema.names())
    for name in [*schema.names(), "common", "columns"]:
        document = schema.load(name)
        schema.jsonschema.Draft202012Validator.check_schema(document)
        equal(document["$id"], f"{name}.json", "$id")


@test
def reports_follow_their_schemas():
    with HeapTarget("fragmented", 4) as target:
        for report, *args in (["series", "-n", 1, "--output-all"], ["map", "map", "--output-all"],
                              ["heap", "heap"], ["leaks", "leaks"],
                              ["doctor", "doctor"]):
            out = memstate(*args, "--json", "-p", target.pid).out
            equal(schema.check_output(out), 1, f"{report}: {out[:200]}")
            equal(json.loads(out)["memstate"]["report"], report, "report")


def is_accepted(document):
    try:
        schema.check_report(document)
    except AssertionError:
        return False
    return True


@test
def wrong_reports_are_found():
    with HeapTarget("fragmented", 4) as target:
        out = memstate("--json", "-n", 1, "-p", target.pid).must_be(0).out
    right = json.loads(out)
    check(is_accepted(right), "the report itself")
    for name, value in (("rss_bytes", -1), ("rss_bytes", "4096"), ("heap_pause_s", "0.1"),
                        ("comm", 7), ("rss_kib", 4)):
        wrong = copy.deepcopy(right)
        wrong["processes"][0][name] = value
        check(not is_accepted(wrong), f"{name}: {value!r}")
    for name in ("time", "elapsed_s", "processes"):
        wrong = copy.deepcopy(right)
        del wrong[name]
        check(not is_accepted(wrong), f"without {name}")


run()
