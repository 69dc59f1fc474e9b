#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The columns of --list-columns are those of the CSV and of the JSON output, in the same order,
# and have names that a program can use.
set -eu

: "${MEMSTATE:?}"
status=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# same FILE WHAT
same()
{
	diff "$scratch/columns" "$scratch/$1" >"$scratch/diff" && return
	echo "$2 (>) has other columns than --list-columns (<):"
	cat "$scratch/diff"
	status=1
}

# check_columns_of [COMMAND]; $once makes a series one sample.
check_columns_of()
{
	"$MEMSTATE" "$@" --list-columns | cut -d' ' -f1 >"$scratch/columns"
	test -s "$scratch/columns" || { echo "memstate $*: no columns"; status=1; }
	if grep -vE '^[a-z][a-z0-9]*(_[a-z0-9]+)*$' "$scratch/columns"; then
		echo "memstate $*: names that are not of lower case letters, digits and _"
		status=1
	fi
	test -z "$(sort "$scratch/columns" | uniq -d)" || { echo "memstate $*: a column twice"; status=1; }

	"$MEMSTATE" "$@" --csv --output-all $once -p $$ |
		head -n 1 | tr -d '\r' | tr ',' '\n' >"$scratch/csv"
	same csv "memstate $* --csv"
	# Values hold no '"name":', or they would be quoted.
	"$MEMSTATE" "$@" --json --output-all $once -p $$ |
		head -n 1 | sed 's/.*\[{\(.*\)/\1/; s/}.*//' | grep -o '"[a-z0-9_]*":' | tr -d '":' >"$scratch/json"
	same json "memstate $* --json"
}

once='-n 1'
check_columns_of
once=
check_columns_of map
exit $status
