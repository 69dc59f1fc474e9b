#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# memstate doctor on this machine and a process agrees with other sources of information.
. "$srcdir/tests/live/capture_lib.sh"

# answers NAME ANSWER: check the line in the output of the last expect
answers()
{
	grep -q "^$1  *$2 " "$dir/out" || fail "$1 is not '$2': $(grep "^$1 " "$dir/out")"
}

expect 0 "$MEMSTATE" doctor
[ ! -s "$dir/err" ] || fail "$(cat "$dir/err")"
grep -qF "(Linux $(uname -r))" "$dir/out" || fail "the kernel differs from uname's"
answers smaps yes
answer=no
test ! -e /proc/self/smaps_rollup || answer=yes
answers smaps_rollup $answer
answer=no
! grep -q ^LazyFree /proc/self/smaps || answer=yes
answers lazyfree $answer
if [ "$(awk '/^SwapTotal/ { print $2 }' /proc/meminfo)" = 0 ]; then
	answers swap no
else
	answers swap yes
fi
case $(readlink /proc/self/ns/pid) in
	'pid:[4026531836]') answers pid_namespace yes ;;
	*) answers pid_namespace partly ;;
esac
answers utf8 no
expect 0 env NO_COLOR=1 TERM=xterm-256color "$MEMSTATE" doctor
answers colour no
expect 0 env TERM=xterm-256color "$MEMSTATE" doctor
answers colour yes
expect 2 "$MEMSTATE" doctor here

# with a libelf that cannot be loaded
echo 'no library' > "$dir/libelf.so.1"
if "$MEMSTATE" doctor | grep -q '^symbols  *yes '; then
	expect 0 env LD_LIBRARY_PATH="$dir" "$MEMSTATE" doctor
else
	expect 0 "$MEMSTATE" doctor
fi
answers symbols no

start_stopped_target
expect 0 "$MEMSTATE" doctor -p "$target"
answers smaps yes
grep -q "^smaps  *yes .*has $("$MEMSTATE" map -p "$target" --no-headings -o size_bytes |
	wc -l) mappings" "$dir/out" || fail "the number of mappings differs from map's"
answers pid_namespace yes
answers dynamic yes
if [ -r "/proc/$target/syscall" ] && cat "/proc/$target/syscall" > /dev/null 2>&1; then
	answers stack_pointers yes
else
	answers stack_pointers no
fi
if ! cat /proc/1/smaps > /dev/null 2>&1; then
	expect 3 "$MEMSTATE" doctor -p 1
	answers smaps no
	grep -q 'smaps: Permission denied' "$dir/out" || fail "no reason is given"
fi

# a process that even its owner cannot inspect; its owner is known nevertheless
first=$target
rm -f "$dir/hidden folder"
start_stopped_target --not-dumpable
if [ "$(id -u)" = 0 ]; then
	expect 0 "$MEMSTATE" doctor -p "$target"
	user=65534
else
	expect 3 "$MEMSTATE" doctor -p "$target"
	grep -q -- '-> run memstate as root' "$dir/out" || fail "no remedy is given"
	user=$(id -u)
fi
answers dumpable no
grep -q "runs as uid $user," "$dir/out" || fail "the user is not $user"
target=$first

expect 0 "$MEMSTATE" capture -p "$target" "$dir/saved"
expect 0 "$MEMSTATE" doctor --procfs "$dir/saved"
answers capture yes
answers smaps yes
grep -q '1 of 1 processes' "$dir/out" || fail "the number of processes is wrong"

python3 -c '' 2> /dev/null || exit 0 # the following checks need it
for arguments in "" "-p $target"; do
	# shellcheck disable=SC2086
	"$MEMSTATE" doctor -J $arguments | python3 -c '
import json, sys
lines = sys.stdin.read().splitlines()
assert len(lines) == 1
checks = json.loads(lines[0])["checks"]
names = [c["name"] for c in checks]
assert len(names) > 5 and len(set(names)) == len(names), names
for c in checks:
    assert c["answer"] in ("yes", "partly", "no", "unknown") and c["fact"] and c["about"], c
' || fail "JSON"
done
exit 0
