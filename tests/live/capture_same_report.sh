#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A report from a capture equals the live report, byte for byte; so do reports from a .tar
# and from a capture of a capture.
# Captures do not contain the heap, so the live reports use --heap off.
. "$srcdir/tests/live/capture_lib.sh"

# everything except times
columns=$("$MEMSTATE" --list-columns | cut -d ' ' -f 1 | grep -vxE 'time|[a-z]*_s' | paste -sd ,)

# reports NAME [OPTION...]: write all kinds of reports to $dir/NAME.*
reports()
{
	name=$1
	shift
	"$MEMSTATE" -p "$target" --heap off --text "$@" > "$dir/$name.page" &&
		"$MEMSTATE" -p "$target" --heap off --text -b -o \
			user,pid,comm,rss_bytes,stack_bytes,shmem_bytes,allocator "$@" \
			> "$dir/$name.table" &&
		"$MEMSTATE" -p "$target" --heap off --csv -n 1 --max-share 100 -o "$columns" "$@" \
			> "$dir/$name.csv" &&
		"$MEMSTATE" map -p "$target" "$@" > "$dir/$name.map" &&
		"$MEMSTATE" map -p "$target" -J --output-all "$@" > "$dir/$name.json" &&
		# the command to run next contains --procfs
		sed -i '/^next: /d' "$dir/$name.page" "$dir/$name.map"
}

same()
{
	for kind in page table csv map json; do
		cmp "$dir/$1.$kind" "$dir/$2.$kind" || return 1
	done
}

# Pss changes whenever any process maps or unmaps libc, so several tries may be necessary.
# A difference counts if the live reports before and after are equal. Even then the report
# may have differed for a moment, but not in this many tries.
capture_while_nothing_changes()
{
	differences=0
	for try in $(seq 60); do
		reports live || fail "no report"
		rm -rf "$dir/saved"
		expect 0 "$MEMSTATE" capture -p "$target" "$dir/saved"
		reports saved --procfs "$dir/saved" || fail "no report from the capture"
		same live saved > "$dir/difference" 2>&1 && return 0
		reports after || fail "no report"
		same live after > /dev/null 2>&1 && differences=$((differences + 1))
		[ "$differences" -lt 25 ] || break
	done
	if [ "$differences" -ge 25 ]; then
		diff "$dir/live.page" "$dir/saved.page" >&2
		diff "$dir/live.csv" "$dir/saved.csv" >&2
		fail "$(cat "$dir/difference") ($try tries)"
	fi
	echo "the machine is too busy: the figures of the target keep changing" >&2
	exit 77
}

start_stopped_target
capture_while_nothing_changes
[ -s "$dir/live.page" ] && grep -q shmem "$dir/live.page" || fail "an empty report"

expect 0 "$MEMSTATE" capture --procfs "$dir/saved" -p "$target" "$dir/again"
grep -q '^captured_from_capture_of: 20' "$dir/again/memstate-capture" ||
	fail "a capture of a capture does not say so"
reports again --procfs "$dir/again" || fail "no report"
same saved again || fail "the capture of a capture differs"

expect 0 "$MEMSTATE" capture --procfs "$dir/saved" "$dir/x.y.tar"
tar -C "$dir" -xf "$dir/x.y.tar" || fail "tar cannot read it"
reports tar --procfs "$dir/x.y" || fail "no report"
same saved tar || fail "the .tar differs"
exit 0
