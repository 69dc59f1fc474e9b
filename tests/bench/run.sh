#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# run.sh DIRECTORY - measure the cost of memstate in comparison with yardsticks. "make
# bench" builds and runs it, in less than six minutes, or less than one with QUICK=1.
# DIRECTORY holds the built programs of this folder; the variable MEMSTATE names the
# memstate to measure.
#
# Everything is measured in the same run, alternating with its yardstick. The result
# is the ratio (x), which holds on other machines, unlike milliseconds. Each figure
# is a median.
# Run it as root, since it otherwise measures only the processes that it may read, on an
# idle machine. doc/PERFORMANCE.md has the goals, and the results of one machine.
# Programs: pair (alternates commands), rollup (yardstick for all processes), single (one
# process, in one program), list (lists all processes), inject (injects and removes the
# helper), spawn and target (measured processes), stall (what a target notices).

set -eu

bench=${1:?usage: run.sh DIRECTORY}
: "${MEMSTATE:?names the memstate to measure}"
export MEMSTATE
quick=${QUICK:-}
work=$(mktemp -d)
socket=memstate-bench-$$
started=

finish() {
	for pid in $started; do
		kill "$pid" 2>/dev/null || :
	done
	if command -v tmux >/dev/null; then
		tmux -L "$socket" kill-server 2>/dev/null || :
	fi
	rm -rf "$work"
}
trap finish EXIT
trap 'exit 1' HUP INT TERM

# pick QUICK FULL
pick() {
	if [ "$quick" ]; then echo "$1"; else echo "$2"; fi
}

# Start a program and wait until it prints ready; sets $ready to its pid.
start() {
	: >"$work/ready"
	"$@" >"$work/ready" &
	ready=$!
	started="$started $ready"
	tries=600
	until grep -q ready "$work/ready"; do
		tries=$((tries - 1))
		if [ $tries -eq 0 ] || ! kill -0 "$ready" 2>/dev/null; then
			echo "$1 does not start" >&2
			exit 1
		fi
		sleep 0.1
	done
}

stop() {
	kill "$ready"
	wait "$ready" 2>/dev/null || :
}

# Print the commands that are installed; report the others.
present() {
	for command in "$@"; do
		if command -v "${command%% *}" >/dev/null; then
			echo "$command"
		else
			echo "(${command%% *} is not installed: not measured)" >&2
		fi
	done
}

# screen SECONDS COMMAND: print the share of a CPU that the command takes on
# a 200x60 screen.
screen() {
	seconds=$1
	tmux -L "$socket" -f /dev/null new-session -d -x 200 -y 60 "exec $2"
	pid=$(tmux -L "$socket" list-panes -F '#{pane_pid}')
	sleep 4
	before=$(cut -d' ' -f1 "/proc/$pid/schedstat")
	sleep "$seconds"
	after=$(cut -d' ' -f1 "/proc/$pid/schedstat")
	tmux -L "$socket" kill-server
	awk -v ns=$((after - before)) -v s="$seconds" -v what="$2" \
		'BEGIN { printf "%9.2f %% of one CPU  %s\n", ns / s / 1e7, what }'
}

echo "== machine"
grep -m1 'model name' /proc/cpuinfo || :
echo "$(nproc) CPUs, Linux $(uname -r), load $(cut -d' ' -f1-3 /proc/loadavg)"

rounds=$(pick 5 25)
for size in "100 10" "1000 1024" "10000 100" "$(pick "" "60000 10")"; do
	[ "$size" ] || continue
	echo "== one process: ${size% *} mappings, ${size#* } MiB"
	# shellcheck disable=SC2086 # two words
	start "$bench/target" $size
	"$bench/single" "$ready" "$rounds"
	stop
done

echo "== the target: mmap and munmap while 1000 mappings, 1 GiB are read"
"$bench/stall" "$(pick 1 5)" "$(pick 1 3)" 1000 1024 none bare:20 unpaced:20 paced:20 rollup:20 series

for shape in "blocks $(pick "128 1250000" "1024 10000000")" "list $(pick "128 1250000" "1024 10000000")"; do
	echo "== a heap: $shape"
	# shellcheck disable=SC2086 # three words
	start "$bench/heap_made" $shape
	"$bench/heap" "$ready" "$(pick 3 7)"
	stop
done

agent=$bench/../../src/agent/libmemstate-agent.so
if [ -e "$agent" ]; then
	echo "== a preloaded helper"
	MEMSTATE_AGENT=$agent "$bench/helper" "$(pick 5 21)"
fi

start "$bench/target" 100 10
echo "== the helper is injected into a waiting process, and removed"
"$bench/inject" "$ready" "$(pick 100 1000)"
stop

start "$bench/spawn" 500
echo "== the list of all processes"
"$bench/list" "$(pick 5 41)"
set -- /proc/[0-9]*
echo "== all processes: $#"
"$bench/pair" "$(pick 5 15)" "$bench/rollup" \
	"$MEMSTATE --csv -n 1 -o pid,pss_bytes" \
	"$MEMSTATE --csv -n 1 -o pid,comm,rss_bytes,pss_bytes,uss_bytes" \
	"$MEMSTATE --csv -n 1"
present smem smemstat >"$work/peers"
set -- "$MEMSTATE --csv -n 1 -o pid,comm,rss_bytes,pss_bytes,uss_bytes"
while read -r peer; do
	set -- "$@" "$peer"
done <"$work/peers"
"$bench/pair" "$(pick 1 5)" "$@"

echo "== screen, once a second"
if command -v tmux >/dev/null; then
	screen "$(pick 5 15)" "$MEMSTATE"
	cat >"$work/htoprc" <<-'END'
		htop_version=3.2.2
		config_reader_min_version=3
		fields=0 48 39 119 2 46 1
		delay=10
		screen:Main=PID USER M_RESIDENT M_PSS STATE PERCENT_CPU Command
		.sort_key=M_RESIDENT
	END
	present "htop" | while read -r peer; do
		screen "$(pick 5 15)" "env HTOPRC=$work/htoprc $peer -d 10"
	done
else
	echo "(tmux is not installed: not measured)" >&2
fi
stop
