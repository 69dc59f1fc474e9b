#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The program and the preload libraries have stack canaries, read-only relocations and a
# non-executable stack, and CET notes where compiler and linker support them.
set -eu

: "${LINKED:?}" "${LAYERS:?}" "${builddir:?}"

command -v readelf >/dev/null || {
	echo "readelf is not installed" >&2
	exit 77
}
complaints=$(mktemp)
trap 'rm -f "$complaints"' EXIT

complain()
{
	echo "$1: $2" >>"$complaints"
}

# has FILE OPTION PATTERN WHAT: readelf OPTION prints PATTERN
has()
{
	readelf -W "$2" "$1" 2>/dev/null | grep -qE -- "$3" || complain "$1" "no $4"
}

# Check what the build links now, not libraries left from an earlier build. Objects built
# before the last configure are linked, too, and must have the options; run 'make clean'
# if they lack them.
for name in $LINKED; do
	file=$builddir/$name
	test -f "$file" || {
		complain "$file" "not built"
		continue
	}
	has "$file" -l 'GNU_RELRO' 'read-only relocations'
	has "$file" -d 'BIND_NOW|Flags:.* NOW' 'binding at start'
	has "$file" -l 'GNU_STACK.* RW  ' 'non-executable stack'
	has "$file" -h 'Type: *DYN' 'position-independent code'
	# the calls-only library has no arrays, and hence no canary
	case $file in
	*-calls*) ;;
	*) has "$file" --dyn-syms '__stack_chk_fail' 'stack canaries' ;;
	esac
	if grep -q "^ms_cv_cet=yes\$" "$builddir/config.log"; then
		has "$file" -n 'x86 feature: .*IBT' 'IBT'
		has "$file" -n 'x86 feature: .*SHSTK' 'SHSTK'
	fi
done

# automake compiles a library whose own flags are defined only under a condition without
# any of our flags if the condition is false.
for library in $LAYERS; do
	flags=$(echo "$library" | tr '/.' '__')_CFLAGS
	grep -q "^$flags = " "$builddir/Makefile" || ! grep -q "^	.*\$($flags)" "$builddir/Makefile" ||
		complain Makefile "$flags is used but not defined"
done
cat "$complaints"
test ! -s "$complaints"
