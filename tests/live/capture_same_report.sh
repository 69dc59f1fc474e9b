#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A report from a capture is the report made live, byte for byte; from a .tar and a capture's capture too.
# The heap is in no capture: so it is as with --heap off.
. "$srcdir/tests/live/capture_lib.sh"

# all but the times
columns=$("$MEMSTATE" --list-columns | cut -d ' ' -f 1 | grep -vxE 'time|[a-z]*_s' | paste -sd ,)

# reports NAME [OPTION...]: all kinds of them, as $dir/NAME.*
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
		"$MEMSTATE" map -p "$target" -J --output-all "$@" > "$dir/$name.json"
}

same()
{
	for kind in page table csv map json; do
		cmp "$dir/$1.$kind" "$dir/$2.$kind" || return 1
	done
}

# Pss changes whenever anybody else on the machine maps or unmaps libc, so it may take some tries. A
# difference counts when the live report was the same before and after, and even then it may have been
# another for a moment: so many times are no accident.
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
	echo "the machine is too busy: figures of the target change all the time" >&2
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
