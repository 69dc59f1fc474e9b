#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The cost of reading a process, mostly a fraction of a millisecond, is shown
# with enough digits.
set -eu

: "${MEMSTATE:?}"
row=$("$MEMSTATE" -p $$ --csv -n 1 --no-headings -o elapsed_s,read_s)
if ! printf '%s\n' "$row" | grep -qE '^0\.000,[0-9]+\.[0-9]{6}$' || test "${row#*,}" = 0.000000; then
	echo "elapsed_s,read_s: $row" >&2
	exit 1
fi
json=$("$MEMSTATE" -p $$ --json -n 1 -o read_s)
if ! printf '%s\n' "$json" | grep -qE '"read_s":[0-9]+\.[0-9]{6}}'; then
	echo "read_s: $json" >&2
	exit 1
fi
