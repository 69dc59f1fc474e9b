# SPDX-License-Identifier: GPL-2.0-or-later
"""Check JSON reports against doc/schema. live.memstate() checks each report that a test
asks for.

The published schemas permit keys that they do not name, because later versions may add
some. Here an unnamed key is an error, so that no key is left out of the schemas."""

import functools
import glob
import importlib
import json
import os

try:
    # not an import statement, because the qemu guest gets the modules of those
    jsonschema = importlib.import_module("jsonschema")
except ImportError:
    jsonschema = None

FOLDER = os.path.join(os.environ["srcdir"], "doc", "schema")
REPORT = b'{"memstate":{'


def load(name):
    with open(os.path.join(FOLDER, f"{name}.json"), encoding="utf-8") as f:
        return json.load(f)


@functools.lru_cache
def _definitions(name):
    return load(name)["$defs"]


def _resolve(schema):
    """Return the schema with each $ref replaced by what it refers to: the versions of
    jsonschema differ in how they find other files."""
    if isinstance(schema, list):
        return [_resolve(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    resolved = {key: _resolve(value) for key, value in schema.items() if key != "$ref"}
    if "$ref" in schema:
        file, name = schema["$ref"].split(".json#/$defs/")
        resolved = {**_resolve(_definitions(file)[name]), **resolved}
    return resolved


def _close(schema):
    """Return the schema with unnamed keys forbidden. The parts of an allOf stay open: each
    knows only some of the keys."""
    if isinstance(schema, list):
        return [_close(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if "allOf" in schema:
        parts = [{**_close(part), "unevaluatedProperties": True} for part in schema["allOf"]]
        return {**schema, "allOf": parts, "unevaluatedProperties": False}
    closed = {key: _close(value) for key, value in schema.items()}
    if "object" in schema.get("type", ()) and "additionalProperties" not in schema:
        closed["unevaluatedProperties"] = False
    return closed


@functools.lru_cache
def _validator(report):
    return jsonschema.Draft202012Validator(_close(_resolve(load(report))))


def names():
    """Return the names of all reports that have a schema."""
    files = {os.path.basename(path)[:-len(".json")] for path in glob.glob(os.path.join(FOLDER, "*.json"))}
    return files - {"common", "columns"}


def check_report(document):
    """Raise AssertionError if a report does not follow its schema."""
    errors = _validator(document["memstate"]["report"]).iter_errors(document)
    for error in errors:
        where = "/".join(str(step) for step in error.absolute_path)
        raise AssertionError(f"JSON report {document['memstate']['report']}: {where}: {error.message[:500]}")


def check_output(out):
    """Check all reports in the output of memstate; return their number. Other lines, such as
    those of a counted program, are skipped, and the last one if it is cut."""
    lines = [line for line in out.split(b"\n")[:-1] if line.startswith(REPORT)]
    for line in lines if jsonschema else []:
        check_report(json.loads(line))
    return len(lines)
