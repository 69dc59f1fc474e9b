#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# count.sh DIRECTORY - what counting allocations costs the program that is counted: "make bench-count", with QUICK=1 in
# less than a minute. Everything in turn, plain and counted, and beside it heaptrack, if it is installed, on the same
# command. What counts is the ratio (x); each is a median of rounds. DIRECTORY holds count_loop and pair, built.

set -eu

bench=${1:?usage: count.sh DIRECTORY}
: "${MEMSTATE:?names the memstate to measure}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

if [ "${QUICK:-}" ]; then rounds=5 pairs=1000000 size=1; else rounds=25 pairs=2000000 size=4; fi
has_heaptrack=$(command -v heaptrack || :)

echo "== machine"
grep -m1 'model name' /proc/cpuinfo || :
echo "$(nproc) CPUs, Linux $(uname -r), load $(cut -d' ' -f1-3 /proc/loadavg)"

# loop NAME COMMAND...: a line "NAME NS"
loop()
{
	name=$1
	shift
	"$@" "$bench/count_loop" "$pairs" 2>&1 | sed -n "s/^\([0-9.]*\) ns\$/$name \1/p"
}

echo "== malloc and free of 64 to 95 bytes, one thread: ns of a pair, as the program itself measures it"
i=0
while [ $i -lt $rounds ]; do
	loop plain env
	loop --calls-only "$MEMSTATE" count --calls-only --text --
	loop count "$MEMSTATE" count --text --
	if [ "$has_heaptrack" ] && [ $((i % 5)) = 0 ]; then
		loop heaptrack heaptrack -o "$work/heaptrack"
	fi
	i=$((i + 1))
done >"$work/loops"
awk '
	function median(list, n,    i, j, t, a) {
		split(list, a, " ")
		for (i = 2; i <= n; i++)
			for (j = i; j > 1 && a[j] < a[j - 1]; j--) { t = a[j]; a[j] = a[j - 1]; a[j - 1] = t }
		return a[int((n + 1) / 2)]
	}
	$1 == "plain" { plain = $2 }
	{
		if (!($1 in n)) order[++kinds] = $1
		ns[$1] = ns[$1] " " ($2 + 0); ratio[$1] = ratio[$1] " " $2 / plain; n[$1]++
		if (!($1 in least) || $2 + 0 < least[$1]) least[$1] = $2 + 0
	}
	END {
		for (k = 1; k <= kinds; k++)
			printf "%8.2f ns %8.2f ns least %8.3f x  %s\n", median(ns[order[k]], n[order[k]]),
				least[order[k]], median(ratio[order[k]], n[order[k]]), order[k]
	}' "$work/loops"

echo "== reading the counts from outside"
"$MEMSTATE" count --text -- "$bench/count_loop" -r 100 1000 2>&1 | grep 'threads read'

cat >"$work/loads.py" <<END
import json
text = json.dumps([{"name": str(i), "values": list(range(20))} for i in range(2000)])
for _ in range(100 * $size):
    json.loads(text)
END
cat >"$work/index.sql" <<END
create table t(a, b);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 200000 * $size)
insert into t select i, hex(i * 7919) from n;
create index one on t(a);
create index two on t(b);
END
awk -v n=$((300 * size)) 'BEGIN {
	for (i = 0; i < n; i++)
		printf "int f%d(int *p, int n) { int s = %d; for (int i = 0; i < n; i++) { if (p[i] > s) s += p[i] * %d; " \
			"else s ^= p[i] << (i %% %d); } return s; }\n", i, i, i + 3, i % 7 + 1
}' >"$work/many.c"

# programs COMMAND: plain, counted, and as heaptrack does it
programs()
{
	set -- "$1" "$MEMSTATE count --calls-only --text -- $1" "$MEMSTATE count --text -- $1" \
		${has_heaptrack:+"heaptrack -o $work/heaptrack $1"}
	"$bench/pair" "$program_rounds" "$@" | sed "s|$work/||g"
}

program_rounds=$((rounds / 3 + 1))
python=$(command -v /usr/bin/python3 || :)
sqlite=$(command -v sqlite3 || :)
cc1=$(${CC:-gcc} -print-prog-name=cc1 2>/dev/null || :)
echo "== whole programs: CPU time, with memstate's own"
export PYTHONMALLOC=malloc
test ! "$python" || programs "$python $work/loads.py"
test ! "$sqlite" || programs "$sqlite -init $work/index.sql :memory: .quit"
test ! -x "$cc1" || programs "$cc1 -O1 -quiet $work/many.c -o /dev/null"
