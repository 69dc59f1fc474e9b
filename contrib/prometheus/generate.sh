#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Write the rules and dashboards of the mixin as YAML and JSON. DIR is the folder contrib
# of the sources, or another folder.
# Usage: generate.sh DIR
set -eu

dir=${1:?usage: generate.sh DIR}
mixin=$(dirname "$0")/mixin/mixin.libsonnet
mkdir -p "$dir/prometheus" "$dir/grafana"
for part in rules:Rules alerts:Alerts; do
	{
		echo "# SPDX-License-Identifier: GPL-2.0-or-later"
		echo "# Made by generate.sh from the mixin; do not edit."
		jsonnet -S -e "std.manifestYamlDoc((import '$mixin').prometheus${part#*:}, quote_keys=false)"
	} >"$dir/prometheus/memstate-${part%:*}.yml"
done
jsonnet -m "$dir/grafana" -e "(import '$mixin').grafanaDashboards" >/dev/null
