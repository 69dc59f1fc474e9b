#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The alerts, recording rules and dashboards in contrib/: made from the mixin, accepted by
# promtool, and with names and labels that `memstate exporter --list-metrics` lists. Each
# alert has a test and a runbook.
set -eu

: "${srcdir:?}" "${MEMSTATE:?}"
cd "$srcdir"
status=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

complain()
{
	echo "$*"
	status=1
}

rules=contrib/prometheus/memstate-rules.yml
alerts=contrib/prometheus/memstate-alerts.yml
tests=contrib/prometheus/memstate-tests.yml
runbooks=doc/RUNBOOKS.md

# Write all expressions, one per line, as in YAML or JSON.
sed -n 's/^[ -]*"\{0,1\}expr"\{0,1\}: "\(.*\)",\{0,1\}$/\1/p' "$rules" "$alerts" contrib/grafana/*.json |
	sed 's/\\"/"/g' >"$scratch/expressions"
for file in "$rules" "$alerts" contrib/grafana/*.json; do
	test "$(grep -c 'expr"\{0,1\}:' "$file")" -gt 0 || complain "$file: no expression"
done
test "$(wc -l <"$scratch/expressions")" = "$(cat "$rules" "$alerts" contrib/grafana/*.json |
	grep -c 'expr"\{0,1\}:')" || complain 'some expressions could not be read'

# Names and labels against the table of the exporter. Other exporters have `up`, too.
"$MEMSTATE" exporter --list-metrics >"$scratch/families"
sed -n 's/.*record: "\(.*\)"$/\1/p' "$rules" >"$scratch/records"
grep -oE '\<(memstate|process)[_:][a-z_:]*(\{[^}]*\})?' "$scratch/expressions" | sort -u |
	awk -v families="$scratch/families" -v records="$scratch/records" '
	BEGIN {
		FS = "\t"
		while ((getline < families) > 0)
			labels[$1] = "," $4 ","
		while ((getline < records) > 0)
			labels[$0] = ",group,"
	}
	{
		name = $0
		sub(/\{.*/, "", name)
		if (!(name in labels)) {
			print name ": the exporter has no such metric"
			next
		}
		if (!index($0, "{"))
			next
		rest = $0
		sub(/[^{]*\{/, "", rest)
		while (match(rest, /[a-z_]+(=|!)/)) {
			label = substr(rest, RSTART, RLENGTH - 1)
			rest = substr(rest, RSTART + RLENGTH)
			sub(/^[=~]*"[^"]*"/, "", rest)
			if (label !~ /^(job|instance|namespace|pod|container)$/ &&
			    !index(labels[name], "," label ","))
				print name ": the metric has no label " label
		}
	}' >"$scratch/wrong"
test ! -s "$scratch/wrong" || complain "$(cat "$scratch/wrong")"
grep -oE '\<(state|part)="[^"]*"' "$scratch/expressions" | sort -u | while read -r label; do
	grep -qF "$label" tests/cli/golden_exporter.exp ||
		grep -qF "{ ${label#part=}," src/render/exporter/cgroup_metrics.c || echo "the exporter has no $label"
done >"$scratch/wrong"
test ! -s "$scratch/wrong" || complain "$(cat "$scratch/wrong")"

# Each alert has a test and a runbook, and each runbook an alert.
sed -n 's/.*alert: "\(.*\)"$/\1/p' "$alerts" | sort >"$scratch/alerts"
test -s "$scratch/alerts" || complain "$alerts: no alerts found"
while read -r alert; do
	grep -A 1 "^    alertname: $alert\$" "$tests" | grep -q 'exp_alerts:$' || complain "$alert: no test"
	grep -q "RUNBOOKS.md#$(echo "$alert" | tr '[:upper:]' '[:lower:]')\"" "$alerts" || complain "$alert: no runbook_url"
done <"$scratch/alerts"
sed -n 's/^### \(Memstate.*\)/\1/p' "$runbooks" | sort | diff "$scratch/alerts" - >"$scratch/wrong" ||
	complain "$runbooks: sections differ from the alerts: $(cat "$scratch/wrong")"

if command -v jsonnet >/dev/null; then
	sh contrib/prometheus/generate.sh "$scratch/made"
	for file in "$scratch"/made/*/*; do
		diff "contrib/${file#"$scratch"/made/}" "$file" >"$scratch/wrong" ||
			complain "contrib/${file#"$scratch"/made/} differs from the mixin; run contrib/prometheus/generate.sh contrib"
	done
	for file in contrib/grafana/*.json; do
		test -e "$scratch/made/${file#contrib/}" || complain "$file: not in the mixin"
	done
else
	echo 'jsonnet is not installed: the generated files are not compared with the mixin' >&2
fi

if ! command -v promtool >/dev/null; then
	echo 'promtool is not installed: the rules and expressions are not run' >&2
	test $status != 0 || exit 77
	exit $status
fi
promtool check rules "$rules" "$alerts" >"$scratch/out" 2>&1 || complain "$(cat "$scratch/out")"
promtool test rules "$tests" >"$scratch/out" 2>&1 || complain "$(cat "$scratch/out")"
# A dashboard's expression as a recording rule, with a value in place of each variable
{
	echo 'groups: [{name: dashboards, rules: ['
	sed "s/\$__range/1h/g; s/\$[a-z]*/x/g; s/'/''/g; s/.*/{record: 'a:b:c', expr: '&'},/" "$scratch/expressions" |
		awk '{ sub(/a:b:c/, "memstate:expression:" NR); print }'
	echo ']}]'
} >"$scratch/dashboards.yml"
promtool check rules "$scratch/dashboards.yml" >"$scratch/out" 2>&1 || complain "$(cat "$scratch/out")"
exit $status
