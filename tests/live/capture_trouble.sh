#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Bad input and failures: a clear message, the right exit status, and nothing left behind.
. "$srcdir/tests/live/capture_lib.sh"

said()
{
	grep -qF -- "$1" "$dir/err" || fail "'$1' is not reported: $(cat "$dir/err")"
}

only()
{
	left=$(cd "$1" && ls -A)
	[ "$left" = "$2" ] || fail "files left behind: $left"
}

start_stopped_target
expect 2 "$MEMSTATE" capture -p "$target"
said 'no destination given'
expect 2 "$MEMSTATE" capture a b
said "unexpected argument 'b'"
for name in a.tar.gz a.tgz a.zip; do
	expect 2 "$MEMSTATE" capture -p "$target" "$dir/$name"
	said 'a directory or an uncompressed .tar'
	[ ! -e "$dir/$name" ] || fail "$name was created"
done

mkdir "$dir/written"
: > "$dir/written/file"
expect 1 "$MEMSTATE" capture -p "$target" "$dir/written"
said 'Directory not empty'
expect 1 "$MEMSTATE" capture -p "$target" "$dir/written/file"
said 'File exists'
expect 1 "$MEMSTATE" capture -p "$target" "$dir/written/none/out"
said 'No such file or directory'
expect 1 "$MEMSTATE" capture -p "$target" /proc/out
expect 1 "$MEMSTATE" capture --procfs "$dir/written/none" "$dir/written/out"
said 'No such file or directory'
expect 1 "$MEMSTATE" capture --procfs /usr "$dir/written/out"
said '/usr: not a mounted proc file system or a capture'
only "$dir/written" file

# a pid that is not in use: the largest possible one
max=$(cat /proc/sys/kernel/pid_max)
expect 1 "$MEMSTATE" capture -p "$((max - 1))" "$dir/written/out"
said 'no such process'
only "$dir/written" file
expect 3 "$MEMSTATE" capture -p "$target,$((max - 1))" "$dir/written/out"
said 'no such process'
[ -s "$dir/written/out/$target/smaps" ] || fail "the other target is not captured"
rm -rf "$dir/written/out"

# a full disk: files are limited to half a MiB, and SIGXFSZ is ignored, since a full disk
# sends no signal
(
	trap '' XFSZ
	ulimit -f 16
	exec "$MEMSTATE" capture -p "$target" "$dir/written/out"
) 2> "$dir/err"
[ $? = 1 ] || fail "a file that cannot be written is not an error"
said 'File too large'
only "$dir/written" file

# after a signal such as ^C nothing remains
"$MEMSTATE" capture "$dir/written/all" > "$dir/out" 2> "$dir/err" &
pid=$!
has_begun()
{
	[ "$(cd "$dir/written" && echo all*)" != 'all*' ]
}
wait_until has_begun || fail "nothing is captured: $(cat "$dir/err")"
kill -TERM "$pid" 2> /dev/null
wait "$pid"
status=$?
if [ "$status" = 0 ] || [ "$status" = 3 ]; then
	rm -r "$dir/written/all" # the capture was complete before the signal
fi
only "$dir/written" file

# a kernel thread has no memory, which is not an error
if [ -d /proc/2 ] && grep -q '^Name:.kthreadd' /proc/2/status; then
	expect 0 "$MEMSTATE" capture -p 2 "$dir/written/kernel"
	"$MEMSTATE" -p 2 --text > "$dir/live"
	"$MEMSTATE" -p 2 --text --procfs "$dir/written/kernel" | cmp - "$dir/live" ||
		fail "the kernel thread's report differs"
fi
exit 0
