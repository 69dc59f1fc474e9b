#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Check the dashboards against the types of Grafana's npm package @grafana/schema. This
# downloads the package and TypeScript (33 MB); it is not part of make check.
set -eu

dir=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
echo '{"private": true, "type": "module"}' >package.json
npm install --no-audit --no-fund --silent @grafana/schema@13 typescript
for file in "$dir"/*.json; do
	{
		echo "import type { Dashboard } from '@grafana/schema';"
		printf 'export const dashboard: Dashboard = '
		cat "$file"
	} >"$(basename "$file" .json).ts"
done
npx tsc --noEmit --strict --skipLibCheck --target esnext --module esnext \
	--moduleResolution bundler ./*.ts
echo "$(ls ./*.ts | wc -l) dashboards conform to @grafana/schema"
