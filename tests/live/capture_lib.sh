# shellcheck shell=sh
# Sourced by capture_*.sh and doctor_*.sh: a stopped target, and a folder for output.

dir=$(mktemp -d) || exit 99
started=
clean_up()
{
	for pid in $started; do
		kill -KILL "$pid" 2> /dev/null
		wait "$pid" 2> /dev/null
	done
	rm -rf "$dir"
}
trap clean_up EXIT
trap 'exit 99' INT TERM HUP

fail()
{
	echo "FAIL: $*" >&2
	exit 1
}

# wait_until COMMAND...: wait up to 10 seconds until it succeeds
wait_until()
{
	tries=0
	until "$@"; do
		tries=$((tries + 1))
		[ "$tries" -lt 200 ] || return 1
		sleep 0.05
	done
}

is_ready()
{
	grep -q ready "$dir/ready" 2> /dev/null
}

is_stopped()
{
	grep -q '^State:.T' "/proc/$target/status"
}

# start_stopped_target [ARG...]: start a target; on return all threads of
# $target are stopped.
start_stopped_target()
{
	rm -f "$dir/ready"
	"$builddir/tests/live/capture_target" "$dir" "$@" --password=hunter2 /srv/private/key \
		> "$dir/ready" &
	target=$!
	started="$started $target"
	wait_until is_ready || fail "the target does not start"
	kill -STOP "$target"
	wait_until is_stopped || fail "the target does not stop"
}

# expect STATUS COMMAND...: leaves its output in $dir/out and $dir/err
expect()
{
	want=$1
	shift
	"$@" > "$dir/out" 2> "$dir/err"
	got=$?
	[ "$got" = "$want" ] || fail "exit $got, not $want: $*: $(cat "$dir/err")"
}
