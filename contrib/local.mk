dist_bashcompletion_DATA = %D%/bash-completion/memstate
dist_zshcompletion_DATA = %D%/zsh/_memstate
dist_fishcompletion_DATA = %D%/fish/memstate.fish

# Examples for the exporter, which administrators copy and adapt
examplesdir = $(docdir)/examples
prometheusdir = $(examplesdir)/prometheus
dist_prometheus_DATA = \
	%D%/prometheus/memstate-alerts.yml \
	%D%/prometheus/memstate-rules.yml \
	%D%/prometheus/memstate-tests.yml
mixindir = $(examplesdir)/prometheus/mixin
dist_mixin_DATA = \
	%D%/prometheus/mixin/alerts.libsonnet \
	%D%/prometheus/mixin/config.libsonnet \
	%D%/prometheus/mixin/dashboards.libsonnet \
	%D%/prometheus/mixin/mixin.libsonnet \
	%D%/prometheus/mixin/rules.libsonnet
grafanadir = $(examplesdir)/grafana
dist_grafana_DATA = \
	%D%/grafana/memstate-container.json \
	%D%/grafana/memstate-fleet.json \
	%D%/grafana/memstate-group.json \
	%D%/grafana/memstate-kills.json
systemdexamplesdir = $(examplesdir)/systemd
dist_systemdexamples_DATA = \
	%D%/systemd/memstate-exporter.service \
	%D%/systemd/memstate-exporter.socket \
	%D%/systemd/memstate-oom-watch@.service
kubernetesdir = $(examplesdir)/kubernetes
k8sbasedir = $(kubernetesdir)/base
dist_k8sbase_DATA = %D%/kubernetes/base/daemonset.yaml %D%/kubernetes/base/kustomization.yaml %D%/kubernetes/base/podmonitor.yaml
k8sperfmondir = $(kubernetesdir)/perfmon
dist_k8sperfmon_DATA = %D%/kubernetes/perfmon/capabilities.yaml %D%/kubernetes/perfmon/kustomization.yaml
k8sptracedir = $(kubernetesdir)/ptrace
dist_k8sptrace_DATA = %D%/kubernetes/ptrace/capabilities.yaml %D%/kubernetes/ptrace/kustomization.yaml
k8sheapdir = $(kubernetesdir)/heap
dist_k8sheap_DATA = %D%/kubernetes/heap/capabilities.yaml %D%/kubernetes/heap/kustomization.yaml
EXTRA_DIST += \
	%D%/grafana/check-schema.sh \
	%D%/kubernetes/check-schema.sh \
	%D%/prometheus/generate.sh

# Make the rules and dashboards again after a change of the mixin.
mixin:
	$(SHELL) $(srcdir)/contrib/prometheus/generate.sh $(srcdir)/contrib

# Check the dashboards and manifests against the schemas of npm packages, which npm downloads.
check-npm:
	$(SHELL) $(srcdir)/contrib/grafana/check-schema.sh
	$(SHELL) $(srcdir)/contrib/kubernetes/check-schema.sh
.PHONY: mixin check-npm
