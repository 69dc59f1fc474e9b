#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Check the manifests of all overlays: types and required keys with the npm packages
# kubernetes-models and @kubernetes-models/prometheus-operator, unknown keys of the
# DaemonSet with kubernetes-types and TypeScript. This requires kubectl, and downloads
# 60 MB; it is not part of make check.
set -eu

dir=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
echo '{"private": true, "type": "module"}' >package.json
npm install --no-audit --no-fund --silent kubernetes-models@5 \
	@kubernetes-models/prometheus-operator@6 kubernetes-types@1 js-yaml@4 typescript
cat >check.mjs <<'END'
import fs from 'fs';
import yaml from 'js-yaml';
import { DaemonSet } from 'kubernetes-models/apps/v1';
import { PodMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1';

const kinds = { DaemonSet, PodMonitor };
for (const file of process.argv.slice(2))
	for (const object of yaml.loadAll(fs.readFileSync(file, 'utf8'))) {
		new kinds[object.kind](object).validate();
		console.log(`${file}: ${object.kind} is valid`);
		if (object.kind === 'DaemonSet')
			fs.writeFileSync(`${file}.ts`, "import type { DaemonSet } from 'kubernetes-types/apps/v1';\n" +
				`export const object: DaemonSet = ${JSON.stringify(object, null, 1)};\n`);
	}
END
for overlay in perfmon ptrace heap; do
	kubectl kustomize "$dir/$overlay" >$overlay.yaml
done
node check.mjs ./*.yaml
# kubernetes-types is older than appArmorProfile
sed -i '/"appArmorProfile": {/,/}/d' ./*.yaml.ts
npx tsc --noEmit --strict --skipLibCheck --target esnext --module esnext \
	--moduleResolution bundler ./*.yaml.ts
echo 'no unknown keys'
