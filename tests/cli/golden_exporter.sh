#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# memstate exporter --once: families, groups, hostile names, wrong usage.
. "${srcdir:?}/tests/cli/golden.sh"

on plain
run exporter --once --group-by comm --owners
run exporter --once --group-by comm --match '^nothing' --max-series 200
run exporter --once --group-by name
run exporter --once --textfile x
run exporter --once --web.config.file x
run exporter --once --match '('
run exporter --max-series 100
run exporter --list-metrics

on names
run exporter --once --group-by comm --top 20

finish
