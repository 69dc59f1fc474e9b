#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# --list-columns lists the columns of the CSV and JSON output in the same order, with
# names that programs can use.
set -eu

: "${MEMSTATE:?}"
status=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# same FILE WHAT: FILE lists the same columns as --list-columns
same()
{
	diff "$scratch/columns" "$scratch/$1" >"$scratch/diff" && return
	echo "the columns of $2 (>) differ from --list-columns (<):"
	cat "$scratch/diff"
	status=1
}

# check_columns_of [COMMAND]; $once limits a series to one sample.
check_columns_of()
{
	"$MEMSTATE" "$@" --list-columns | cut -d' ' -f1 >"$scratch/columns"
	test -s "$scratch/columns" || { echo "memstate $*: no columns"; status=1; }
	if grep -vE '^[a-z][a-z0-9]*(_[a-z0-9]+)*$' "$scratch/columns"; then
		echo "memstate $*: names must consist of lower-case letters, digits and _"
		status=1
	fi
	test -z "$(sort "$scratch/columns" | uniq -d)" || { echo "memstate $*: duplicate column"; status=1; }

	"$MEMSTATE" "$@" --csv --output-all $once -p $$ |
		head -n 1 | tr -d '\r' | tr ',' '\n' >"$scratch/csv"
	same csv "memstate $* --csv"
	# Values cannot contain '"name":', since quotes in them are escaped.
	"$MEMSTATE" "$@" --json --output-all $once -p $$ |
		head -n 1 | sed 's/.*\[{\(.*\)/\1/; s/}.*//' | grep -o '"[a-z0-9_]*":' | tr -d '":' >"$scratch/json"
	same json "memstate $* --json"
}

once='-n 1'
check_columns_of
once=
check_columns_of map
exit $status
