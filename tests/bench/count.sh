#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# count.sh DIRECTORY - measure the cost of counting allocations for the counted program:
# "make bench-count", with QUICK=1 in about a minute. DIRECTORY holds the built programs
# of this folder.
#
# Each command runs plain, counted in each way, and under heaptrack if it is installed: in
# turn, round after round. The result is the ratio to the plain run of the same round.
# The times are those that the loop measures itself, or the CPU time of the program from
# exec to its end (own_time.c). "all" is the CPU time of the command with everything it
# starts: memstate or heaptrack, and their work at the end. A goal is met if the median
# does not exceed it.

set -eu

bench=${1:?usage: count.sh DIRECTORY}
: "${MEMSTATE:?names the memstate to measure}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

if [ "${QUICK:-}" ]; then
	rounds=3 pairs=1000000 size=1
else
	rounds=${ROUNDS:-11} pairs=2000000 size=3
fi

# missing WHAT: report what was not measured; goals that are not measured are not met.
missing()
{
	echo "($1: not measured)"
}

# has OPTION: whether memstate count has it.
has()
{
	"$MEMSTATE" count --help | grep -q -e "^ .* $1\\>"
}

echo "== machine"
grep -m1 'model name' /proc/cpuinfo || :
echo "$(nproc) CPUs, Linux $(uname -r), load $(cut -d' ' -f1-3 /proc/loadavg), $rounds rounds"

# Ways to count, with their options
cat >"$work/ways" <<END
calls-only --calls-only
counts
END
if has --stacks; then
	cat >>"$work/ways" <<-END
		sampled --sample 512K --record $work/sampled.pb.gz
		all --stacks --live --record $work/all.pb.gz
	END
else
	missing "memstate without --stacks"
fi
if command -v heaptrack >/dev/null; then
	heaptrack --version 2>/dev/null | head -n 1
else
	missing "heaptrack is not installed"
fi

# Goals: program, way, and the largest permitted ratio
cat >"$work/goals" <<END
loop calls-only 1.15
loop counts 1.30
loop sampled 1.40
loop all 5
python3 calls-only 1.02
python3 counts 1.02
python3 sampled 1.10
python3 all 2.5
sqlite3 calls-only 1.02
sqlite3 counts 1.02
sqlite3 sampled 1.10
sqlite3 all 1.25
cc1 calls-only 1.02
cc1 counts 1.02
cc1 sampled 1.10
cc1 all 1.4
END
ahead_goal=4

# show TITLE: print the output of pair beside the goals.
show()
{
	paste -d' ' "$work/names" "$work/figures" | awk -v title="$1" -v goals="$work/goals" -v ahead="$ahead_goal" '
		BEGIN {
			while ((getline line < goals) > 0) {
				split(line, word, " ")
				goal[word[1] " " word[2]] = word[3]
			}
		}
		$2 == "failed" { printf "%-8s %-11s failed\n", title, $1; next }
		{
			value = $6 < 1000 ? sprintf("%.2f ns", $6) : sprintf("%.0f ms", $6 / 1e6)
			printf "%-8s %-11s %10s  %7.3f  %7.3f to %-7.3f %7.3f  %7.3f", title, $1, value, $2, $3, $4, $5, $7
			ratio[$1] = $2
			key = title " " $1
			if (key in goal)
				printf "  %5.2f %s", goal[key], $2 <= goal[key] ? "met" : "MISSED"
			print ""
		}
		END {
			if (!("heaptrack" in ratio) || !("all" in ratio))
				exit
			printf "%-8s heaptrack adds ", title
			if (ratio["all"] <= 1) {
				print "time, and memstate none: met"
				exit
			}
			times = (ratio["heaptrack"] - 1) / (ratio["all"] - 1)
			printf "%.1f times what memstate does, goal %d: %s\n", times, ahead, (times >= ahead ? "met" : "MISSED")
		}'
}

# measure TITLE COMMAND: the first word of COMMAND is a path.
measure()
{
	title=$1 command=$2
	program=${command%% *}
	echo plain >"$work/names"
	set -- "$command"
	while read -r name options; do
		echo "$name" >>"$work/names"
		set -- "$@" "$MEMSTATE count --text $options -- $command"
	done <"$work/ways"
	if command -v heaptrack >/dev/null; then
		echo heaptrack >>"$work/names"
		set -- "$@" "heaptrack -o $work/heaptrack $command"
	fi
	"$bench/pair" -o "$bench/own_time.so" "${program##*/}" "$rounds" "$@" >"$work/figures"
	show "$title"
}

echo "== a program's own time: malloc and free of 64 to 95 bytes, 20 frames deep; CPU time of programs"
printf '%-8s %-11s %10s  %7s  %18s %7s  %7s  %s\n' '' way median ratio 'middle half' least all goal
measure loop "$bench/count_loop $pairs 20"

cat >"$work/loads.py" <<END
import json
text = json.dumps([{"name": str(i), "values": list(range(20))} for i in range(2000)])
for _ in range(20 * $size):
    json.loads(text)
END
cat >"$work/index.sql" <<END
create table t(a, b);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 100000 * $size)
insert into t select i, hex(i * 7919) from n;
create index one on t(a);
create index two on t(b);
END
awk -v n=$((200 * size)) 'BEGIN {
	for (i = 0; i < n; i++)
		printf "int f%d(int *p, int n) { int s = %d; for (int i = 0; i < n; i++) { if (p[i] > s) s += p[i] * %d; " \
			"else s ^= p[i] << (i %% %d); } return s; }\n", i, i, i + 3, i % 7 + 1
}' >"$work/many.c"

if [ -x /usr/bin/python3 ]; then
	PYTHONMALLOC=malloc measure python3 "/usr/bin/python3 $work/loads.py"
else
	missing "/usr/bin/python3 is not installed"
fi
sqlite=$(command -v sqlite3 || :)
if [ "$sqlite" ]; then
	measure sqlite3 "$sqlite -init $work/index.sql :memory: .quit"
else
	missing "sqlite3 is not installed"
fi
cc1=$(gcc -print-prog-name=cc1 2>/dev/null || :)
if [ -x "$cc1" ]; then
	measure cc1 "$cc1 -O1 -quiet $work/many.c -o /dev/null"
else
	missing "gcc's cc1 is not installed"
fi

echo "== call stacks: ns per stack; goal 35 if it is unchanged, 120 if nothing is cached"
if [ -x "$bench/unwind" ]; then
	"$bench/unwind" $((rounds * 100)) | awk '
		/ same stack / { goal = 35 }
		/ nothing / { goal = 120 }
		goal { $0 = $0 sprintf("; goal %d %s", goal, $4 <= goal ? "met" : "MISSED") }
		{ print; goal = 0 }'
else
	missing "memstate was built without the helper and the probes"
fi

# attached PROBE GOAL: the goal is in ns per call.
attached()
{
	if ! figures=$("$bench/attached" $((rounds + 2)) "$MEMSTATE" --probe "$1" 2>"$work/errors"); then
		missing "--probe $1: $(head -n 1 "$work/errors")"
		return
	fi
	echo "$figures" | awk -v title="$1" -v goal="$2" '{
		printf "%-8s %8.2f ns more than %.2f for a call, %.2f to %.2f", title, $1, $4, $2, $3
		if (goal)
			printf "; goal %d %s", goal, $1 <= goal ? "met" : "MISSED"
		print ""
	}'
}

echo "== a running process with count -p: additional time for a call of malloc or free"
if has --probe; then
	attached inject ''
	attached bpf 750
	attached perf 750
else
	missing "memstate without --probe"
fi

echo "== reading the counts of 100 threads from outside, goal 10 us"
"$MEMSTATE" count --text -- "$bench/count_loop" -r 100 1000 2>&1 | grep 'threads read'
