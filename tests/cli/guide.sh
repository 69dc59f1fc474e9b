#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# doc/GUIDE.md shows what memstate really prints. README.md is checked for options only:
# tests/live/doc_commands.py runs its commands.
# In a console block, the lines after "$ command" are its output, byte for byte, except
# that digits may differ for live commands ("--"). A text block after "<!-- FILE.screen:
# NAME -->" is that part of the file. Commands in sh blocks may only use existing options.
# "guide.sh --bless", or MEMSTATE_BLESS=yes, writes the current output into doc/GUIDE.md.
set -eu

: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${builddir:=$srcdir/build}"
: "${MEMSTATE:=$builddir/memstate}"
if ! test -x "$MEMSTATE"; then
	echo "$MEMSTATE: not found; build it first" >&2
	exit 99
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/bin"
ln -s "$MEMSTATE" "$scratch/bin/memstate"
PATH=$scratch/bin:$PATH
LC_ALL=C TZ=UTC0 COLUMNS=80
export PATH LC_ALL TZ COLUMNS
unset NO_COLOR || :
status=0

# screen FILE NAME: print the part of FILE below "==== NAME".
screen()
{
	awk -v name="$2" '/^==== / { is_it = $2 == name; next } is_it' "$1"
}

# Run the examples: write doc/GUIDE.md with the current output.
cd "$srcdir"
in_block=no
screen_of=
while IFS= read -r line; do
	case $in_block:$line in
	no:'```console')
		in_block=console
		printf '%s\n' "$line"
		;;
	no:'```sh')
		in_block='sh'
		printf '%s\n' "$line"
		;;
	no:'<!-- '*.screen:*' -->')
		screen_of=${line#<!-- }
		screen_of=${screen_of% -->}
		printf '%s\n' "$line"
		;;
	no:'```text')
		printf '%s\n' "$line"
		test -n "$screen_of" || continue
		in_block=text
		screen "${screen_of%%: *}" "${screen_of#*: }"
		screen_of=
		;;
	*:'```')
		in_block=no
		printf '%s\n' "$line"
		;;
	console:'$ '*)
		printf '%s\n' "$line"
		sh -c "${line#$ }" 2>&1 </dev/null || printf '[exit %s]\n' $?
		;;
	console:* | text:*) ;;
	*) printf '%s\n' "$line" ;;
	esac
done <doc/GUIDE.md >"$scratch/guide.md"

if test "${1:-}" = --bless || test "${MEMSTATE_BLESS:-no}" = yes; then
	cat "$scratch/guide.md" >doc/GUIDE.md
	exit
fi

# Mask what differs between live runs: digits, and messages about late samples on
# a busy machine.
mask()
{
	awk '
	/^\$ / { is_live = / -- / }
	/^```/ { is_live = 0 }
	is_live && /^memstate: interval stretched/ { next }
	is_live && /^memstate: [0-9]+ samples? (was|were) missed/ { next }
	is_live && !/^\$ / { gsub(/[0-9]+/, "N") }
	{ print }' "$1"
}
mask doc/GUIDE.md >"$scratch/expected"
mask "$scratch/guide.md" >"$scratch/actual"
if ! diff -u "$scratch/expected" "$scratch/actual"; then
	echo "doc/GUIDE.md differs from the output of memstate; run tests/cli/guide.sh --bless" >&2
	status=1
fi
if ! grep -q '^\$ memstate' doc/GUIDE.md; then
	echo "doc/GUIDE.md has no examples" >&2
	status=1
fi

# Check the options of the commands that are not run: with --help, memstate
# only parses them.
# shellcheck disable=SC2016
sed -n '/^```sh$/,/^```$/s/^\(memstate [^#>|]*\).*/\1/p' doc/GUIDE.md README.md >"$scratch/commands"
while IFS= read -r line; do
	case $line in
	*' -- '*) line="${line%% -- *} --help -- ${line#* -- }" ;;
	*) line="$line --help" ;;
	esac
	line=$(printf '%s\n' "$line" | sed 's/PID/1/g')
	if ! sh -c "$line" >/dev/null 2>"$scratch/error" </dev/null; then
		echo "$line: $(cat "$scratch/error")" >&2
		status=1
	fi
done <"$scratch/commands"
exit $status
