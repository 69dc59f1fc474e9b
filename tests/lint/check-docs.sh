#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Links in the documents, and files named in `backquotes`, must exist. File names may be
# relative to src/ ("cmd/core/options.c"); a bare name must match some file. A function that
# a document places in a file, as "`stop_run()` in `tracee/ptrace/stop.c`", must be there.
set -eu

: "${srcdir:?}"
cd "$srcdir"
status=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

missing()
{
	echo "$1: $2 does not exist" >&2
	status=1
}

is_there()
{
	test -e "$1" || test -e "src/$1" ||
		case $1 in
		*/*) false ;;
		*) test -n "$(find src tests doc contrib -name "$1" -print -quit)" ;;
		esac
}

for page in *.md doc/*.md doc/tutorials/*.md; do
	folder=$(dirname "$page")
	grep -o '](\([^)#:]*\))' "$page" | sed 's/^](//; s/)$//' >"$scratch/names" || :
	while read -r link; do
		test -e "$folder/$link" || missing "$page" "$link"
	done <"$scratch/names"
	# shellcheck disable=SC2016 # grep looks for literal backquotes
	# names with capitals are placeholders; fs/ belongs to the kernel
	grep -o '`[a-z][a-z0-9_./-]*\.\([ch]\|sh\|py\|am\|mk\|ac\|1\|md\)`' "$page" | tr -d '`' |
		grep -v '^fs/' | sort -u >"$scratch/names" || :
	while read -r name; do
		is_there "$name" || missing "$page" "$name"
	done <"$scratch/names"
	# shellcheck disable=SC2016
	# lists as "`a()`, `b()` in `file`": each function belongs to the next file
	sed 's/`[^`]*`/\n&\n/g' "$page" | awk '
		/^`[a-z][a-z0-9_]*\(\)`$/ {
			names[++count] = substr($0, 2, length($0) - 4)
			next
		}
		/^`[a-z][a-z0-9_\/]*\.[ch]`$/ && is_in {
			for (i = 1; i <= count; i++)
				print names[i], substr($0, 2, length($0) - 2)
		}
		{ is_in = /^( in | \()$/ }
		!is_in && !/^(, | and )$/ { count = 0 }' >"$scratch/names"
	while read -r function file; do
		# the names of files are relative to src/, or to the folder named before
		find src -path "*/$file" -exec cat {} + | grep -qw "$function" ||
			missing "$page" "$function() in $file"
	done <"$scratch/names"
done
exit $status
