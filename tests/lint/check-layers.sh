#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Layers and subjects: a file includes headers of its own layer and of lower layers only.
# The subjects of a layer (its folders, and "." for the files above them) form no circle.
# A subject has at most 22 modules.
set -eu

: "${srcdir:?}"

rank()
{
	case $1 in
	agent) echo 1 ;; # apart: see below
	base) echo 1 ;;
	model) echo 2 ;;
	proc) echo 3 ;;
	tracee) echo 4 ;;
	walk | probe) echo 5 ;;
	classify | store) echo 6 ;;
	render | sample) echo 7 ;;
	ui) echo 8 ;;
	cmd) echo 9 ;;
	*) echo 0 ;;
	esac
}

# only WHERE PATTERN: print each match of PATTERN in a source outside WHERE.
only()
{
	grep -rnE --include='*.c' "$2" src | grep -vE "^src/($1):" | sed 's/$/   (belongs elsewhere)/' || :
}

# All includes, one per line: layer and subject of the file, then of the header.
includes()
{
	grep -roE --include='*.[ch]' '^#[ ]*include "[a-z]+/[a-z_/0-9]+\.h"' src |
		sed -nE 's|^src/([a-z]+/[a-z_/0-9]+)\.[ch]:#[ ]*include "(.*)\.h"|\1 \2|p' |
		awk '
			function cell(path, parts, count) {
				count = split(path, parts, "/")
				return parts[1] " " (count > 2 ? parts[2] : ".")
			}
			{ print cell($1), cell($2) }' | sort -u
}

layers()
{
	find src -name '*.[ch]' | sed -n 's|^src/\([a-z]*\)/.*|\1|p' | sort -u >"$scratch/layers"
	while read -r layer; do
		test "$(rank "$layer")" != 0 || echo "src/$layer: this layer has no rank"
	done <"$scratch/layers"
	while read -r from _ to _; do
		test "$to" = "$from" || test "$(rank "$to")" -lt "$(rank "$from")" ||
			echo "src/$from must not include src/$to"
	done <"$scratch/includes"
}

# Flat layers have no subjects.
circles()
{
	while read -r layer; do
		awk -v layer="$layer" '$1 == layer && $3 == layer { print $2, $4 }' "$scratch/includes" |
			tsort 2>&1 >/dev/null | sed -n "s|^tsort: \([^ ]*\)\$|src/$layer/\1 is in a circle of subjects|p"
	done <"$scratch/layers" | sort -u
}

sizes()
{
	for folder in src/*/*/; do
		count=$(find "$folder" -name '*.[ch]' | sed 's/\.[ch]$//' | sort -u | wc -l)
		test "$count" -le 22 || echo "$folder has $count modules: divide the subject"
	done
}

complaints()
{
	layers
	circles
	sizes
	# Code that runs in other processes knows no other layer. Only probe knows it.
	grep -rnE --include='*.[ch]' '#[ ]*include "agent/' src | grep -vE '^src/(agent|probe)/' |
		sed 's/$/   (agent belongs to probe)/' || :
	grep -rnE --include='*.[ch]' '#[ ]*include "tests/' src | sed 's/$/   (tests are above everything)/' || :
	only 'proc/process/pids.c' '#[ ]*include <libproc2/'
	only 'ui/curses.c' '#[ ]*include <n?curses'
	only 'base/library.c' '\<dlopen *\('
	only '(tracee/elf/reader|agent/[a-z_/]*).c' '\<(Elf(32|64)_Ehdr|ELFMAG)\>'
	only 'tracee/[a-z_/]*.c' '\<(ptrace|process_vm_readv|process_vm_writev) *\('
	# symbolize and guard end a child of memstate
	only '(base/xalloc|proc/system/kernel_files|tracee/symbols/symbolize|tracee/ptrace/watchdog|probe/uprobe/guard|cmd/[a-z_/]*|ui/[a-z_/]*).c' \
		'\<(exit|_exit|abort) *\('
	only '(cmd/[a-z_/]*|ui/[a-z_/]*).c' '\<(printf|puts|perror|err|errx|warn|warnx) *\(|\<stderr\>'
}

cd "$srcdir"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
includes >"$scratch/includes"
test -s "$scratch/includes" || { echo "no includes found"; exit 1; }
found=$(complaints)
test -z "$found" || { echo "$found"; exit 1; }
