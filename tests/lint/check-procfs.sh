#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Only proc knows where files are in /proc. The other layers name a file of a process by
# enum proc_file (proc/process/file.h, proc/process/dir.h), one of the system by enum
# system_file (proc/system/file.h), or call a function of proc that reads it. Messages may
# name a path: they contain a blank.
#
# agent is exempt: it runs in other processes and includes no other layer.
set -eu

: "${srcdir:?}"

# The last component of each file in proc/process/file.c, as a regular expression.
names()
{
	sed -n 's|^	\[PROC_[A-Z_]*\] = "\(.*/\)\{0,1\}\([a-z_]*\)",$|\2|p' src/proc/process/file.c |
		sort -u | paste -sd '|' -
}

# Each statement of a file on one line, as "FILE:LINE: STATEMENT", without comments.
statements()
{
	awk '
		FNR == 1 { statement = ""; is_comment = 0 }
		{
			line = $0
			if (line ~ /^[ \t]*#[ \t]*include/)
				next
			if (!is_comment)
				gsub(/\/\*([^*]|\*[^\/])*\*\//, "", line)
			if (is_comment && !sub(/^.*\*\//, "", line))
				next
			is_comment = sub(/\/\*.*$/, "", line)
			if (statement == "")
				first = FNR
			sub(/^[ \t]+/, " ", line)
			statement = statement line
			if (line ~ /[;{}]/) {
				print FILENAME ":" first ":" statement
				statement = ""
			}
		}' "$@"
}

complaints()
{
	known=$(names)
	test -n "$known" || { echo "no names found in src/proc/process/file.c"; return; }
	opens='(open|openat|fopen|stat|fstatat|statx|access|faccessat|readlink|readlinkat|opendir|io_[a-z_]*|foreign_file_[a-z_]*|procfs_[a-z_]*)'
	# shellcheck disable=SC2046 # names have no blanks
	statements $(find src -name '*.[ch]' ! -path 'src/proc/*' ! -path 'src/agent/*' | sort) >"$scratch/statements"
	# a path that begins in /proc, or with a directory of a process
	grep -E '"(/proc/|self/|thread-self/|task/|map_files/|ns/|fdinfo/|fd/%|sys/kernel/|sys/vm/)[^ "]*"' \
		"$scratch/statements" || :
	# a format that ends with the name of a file of a process
	grep -E "\"[^ \"]*%[a-z0-9*.]+/($known)\"" "$scratch/statements" || :
	# such a name in a call that opens or examines a file
	grep -E "\<$opens *\([^;]*\"($known)\"" "$scratch/statements" || :
	# a lookup below the root of a procfs
	grep -E '\<(openat|fstatat|faccessat|readlinkat|statx|io_read_file_at|foreign_file_[a-z]*) *\([^;]*\<(fs|procfs)(->|\.)fd\>' \
		"$scratch/statements" || :
	# the functions of procfs that take a name
	grep -E '\<procfs_(open_file|read_file|read_link|read_below|format_path) *\(' "$scratch/statements" || :
}

cd "$srcdir"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
found=$(complaints)
test -z "$found" || { echo "$found" | sed 's/$/   (paths in \/proc belong to proc)/'; exit 1; }
