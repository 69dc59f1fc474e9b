#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The program and the preload libraries have stack canaries, read-only relocations, no executable stack, and notes
# for CET where the compiler and the linker can make them.
set -eu

: "${MEMSTATE:?}" "${builddir:?}"

command -v readelf >/dev/null || {
	echo "no readelf" >&2
	exit 77
}
file_count=0
complaints=$(mktemp)
trap 'rm -f "$complaints"' EXIT

complain()
{
	echo "$1: $2" >>"$complaints"
}

# has FILE OPTION PATTERN WHAT
has()
{
	readelf -W "$2" "$1" 2>/dev/null | grep -qE -- "$3" || complain "$1" "no $4"
}

for file in "$MEMSTATE" "$builddir"/src/agent/libmemstate-*.so; do
	# objects from before the last configure may be without the options
	test -f "$file" || continue
	test "$file" -nt "$builddir/config.status" || continue
	file_count=$((file_count + 1))
	has "$file" -l 'GNU_RELRO' 'read-only relocations'
	has "$file" -d 'BIND_NOW|Flags:.* NOW' 'binding at start'
	has "$file" -l 'GNU_STACK.* RW  ' 'note of a stack that is not executable'
	has "$file" -h 'Type: *DYN' 'position-independent code'
	# calls alone have no arrays, and no canary
	case $file in
	*-calls*) ;;
	*) has "$file" --dyn-syms '__stack_chk_fail' 'stack canaries' ;;
	esac
	if grep -q "^ms_cv_cet=yes\$" "$builddir/config.log"; then
		has "$file" -n 'x86 feature: .*IBT' 'IBT'
		has "$file" -n 'x86 feature: .*SHSTK' 'SHSTK'
	fi
done
test "$file_count" -gt 0 || {
	echo "all was built before the last configure" >&2
	exit 77
}
cat "$complaints"
test ! -s "$complaints"
