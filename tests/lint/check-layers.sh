#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A file includes only headers of its own folder and of lower ranks.
set -eu

: "${srcdir:?}"

rank()
{
	case $1 in
	agent) echo 1 ;; # separate: see below
	base) echo 1 ;;
	model) echo 2 ;;
	proc | target) echo 3 ;;
	walk | probe) echo 4 ;;
	classify | store) echo 5 ;;
	render | sample) echo 6 ;;
	ui) echo 7 ;;
	cmd) echo 8 ;;
	*) echo 0 ;;
	esac
}

# only WHERE PATTERN: only files that match WHERE may contain PATTERN.
only()
{
	grep -nE "$2" src/*/*.c | grep -vE "^src/($1):" | sed 's/$/   (belongs elsewhere)/' || :
}

complaints()
{
	for f in src/*/*.[ch]; do
		from=${f#src/}
		from=${from%%/*}
		test "$(rank "$from")" != 0 || echo "$f: folder '$from' has no rank"
		for to in $(sed -n 's|^#[ ]*include "\([a-z]*\)/.*|\1|p' "$f" | sort -u); do
			test "$to" = "$from" || test "$(rank "$to")" -lt "$(rank "$from")" ||
				echo "$f: '$from' must not include '$to'"
		done
	done
	# Code for other processes is known only to the layers that talk to it, and
	# includes no other layer.
	grep -nE '#[ ]*include "agent/' src/*/*.[ch] | grep -vE '^src/(agent|probe)/' |
		sed 's/$/   (agent belongs to probe)/' || :
	only 'proc/proc_pids.c' '#[ ]*include <libproc2/'
	only 'ui/screen_curses.c' '#[ ]*include <n?curses'
	only 'target/[a-z_]*.c' '\<(ptrace|process_vm_readv|process_vm_writev) *\('
	# symbolize, uprobe_guard and watchdog end a child of memstate
	only '(base/xalloc|proc/proc_kernel_files|target/symbolize|target/watchdog|probe/uprobe_guard|cmd/[a-z_]*|ui/[a-z_]*).c' '\<(exit|_exit|abort) *\('
	only '(cmd/[a-z_]*|ui/[a-z_]*).c' '\<(printf|puts|perror|err|errx|warn|warnx) *\(|\<stderr\>'
}

cd "$srcdir"
found=$(complaints)
test -z "$found" || { echo "$found"; exit 1; }
