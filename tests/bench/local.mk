# tests/bench: "make bench" measures; "make bench QUICK=1" takes a minute. Not part
# of "make check".
bench_programs = \
	%D%/attached \
	%D%/count_loop \
	%D%/day \
	%D%/heap \
	%D%/heap_made \
	%D%/helper \
	%D%/inject \
	%D%/list \
	%D%/pair \
	%D%/rollup \
	%D%/single \
	%D%/spawn \
	%D%/stall \
	%D%/target
EXTRA_PROGRAMS += $(bench_programs)
CLEANFILES += $(bench_programs)
EXTRA_DIST += %D%/churn_programs.py %D%/count.sh %D%/fleet_cost.py %D%/run.sh %D%/stress_count_attach.py %D%/stress_heap.py %D%/stress_inject.py

bench_common = %D%/bench.c %D%/bench.h tests/targets/proc_file.h
%C%_attached_SOURCES = %D%/attached.c $(bench_common)
%C%_count_loop_SOURCES = %D%/count_loop.c $(bench_common)
%C%_count_loop_LDADD = $(PROBE_LIBS) -lpthread
%C%_day_SOURCES = %D%/day.c $(bench_common)
%C%_day_LDADD = $(STORE_LIBS)
%C%_heap_SOURCES = %D%/heap.c $(bench_common)
%C%_heap_LDADD = $(SAMPLE_LIBS) -lpthread
%C%_heap_made_SOURCES = %D%/heap_made.c $(bench_common)
%C%_helper_SOURCES = %D%/helper.c $(bench_common)
%C%_helper_LDADD = $(PROBE_LIBS)
%C%_inject_SOURCES = %D%/inject.c $(bench_common)
%C%_inject_LDADD = $(PROBE_LIBS)
%C%_list_SOURCES = %D%/list.c $(bench_common)
%C%_list_LDADD = $(PROC_LIBS)
%C%_pair_SOURCES = %D%/pair.c $(bench_common)
%C%_rollup_SOURCES = %D%/rollup.c $(bench_common)
%C%_single_SOURCES = %D%/single.c $(bench_common)
%C%_single_LDADD = src/render/librender.a $(SAMPLE_LIBS)
%C%_spawn_SOURCES = %D%/spawn.c $(bench_common)
%C%_stall_SOURCES = %D%/stall.c $(bench_common)
%C%_stall_LDADD = $(PROC_LIBS)
%C%_target_SOURCES = %D%/target.c $(bench_common)

# Built with the options of the library that it measures.
EXTRA_DIST += %D%/unwind.c
if HAVE_AGENT
bench_unwind = %D%/unwind$(EXEEXT)
EXTRA_PROGRAMS += %D%/unwind
CLEANFILES += %D%/unwind
%C%_unwind_SOURCES = %D%/unwind.c $(bench_common) src/agent/unwind/unwind.c src/agent/unwind/cfi.c \
	src/agent/unwind/row.c src/agent/unwind/rules.c
%C%_unwind_CFLAGS = $(count_stack_compile) -fno-optimize-sibling-calls
bench-unwind: %D%/unwind$(EXEEXT)
	%D%/unwind$(EXEEXT)
endif
.PHONY: bench-unwind

# Time to read a long recording
bench-day: memstate$(EXEEXT) %D%/day$(EXEEXT)
	rm -f %D%/day.msr %D%/day.msr-wal %D%/day.msr-shm
	%D%/day$(EXEEXT) %D%/day.msr
	time -p ./memstate$(EXEEXT) --html %D%/day.html --replay %D%/day.msr
	time -p ./memstate$(EXEEXT) --replay %D%/day.msr --csv >/dev/null
	time -p ./memstate$(EXEEXT) --replay %D%/day.msr --text --at -12h >/dev/null
	time -p ./memstate$(EXEEXT) diff %D%/day.msr@-12h %D%/day.msr >/dev/null
	ls -l %D%/day.msr %D%/day.html
	rm -f %D%/day.msr %D%/day.html
.PHONY: bench-day

EXTRA_DIST += %D%/own_time.c
CLEANFILES += %D%/own_time.so
%D%/own_time.so: %D%/own_time.c
	$(AM_V_CC)$(CC) $(CPPFLAGS) -D_GNU_SOURCE $(CFLAGS) -shared -fPIC -o $@ $(srcdir)/%D%/own_time.c

.PHONY: bench
bench: memstate$(EXEEXT) $(bench_programs)
	QUICK='$(QUICK)' MEMSTATE='$(abs_builddir)/memstate$(EXEEXT)' \
		$(SHELL) $(srcdir)/%D%/run.sh $(abs_builddir)/%D%

# Cost of counting for the counted program
.PHONY: bench-count
bench-count: memstate$(EXEEXT) $(bench_programs) $(bench_unwind) %D%/own_time.so
	QUICK='$(QUICK)' MEMSTATE='$(abs_builddir)/memstate$(EXEEXT)' CC='$(CC)' \
		$(SHELL) $(srcdir)/%D%/count.sh $(abs_builddir)/%D%

# Cost of the flight recorder of a cgroup
EXTRA_DIST += %D%/oom_watch.py %D%/stress_oom_watch.py
.PHONY: bench-oom
bench-oom: memstate$(EXEEXT) $(check_PROGRAMS)
	QUICK='$(QUICK)' srcdir='$(abs_srcdir)' builddir='$(abs_builddir)' MEMSTATE='$(abs_builddir)/memstate$(EXEEXT)' \
		$(SHELL) $(srcdir)/tests/live/python $(srcdir)/%D%/oom_watch.py

# Cost of the exporter, next to prometheus-process-exporter
EXTRA_DIST += %D%/exporter.py
.PHONY: bench-exporter
bench-exporter: memstate$(EXEEXT)
	MEMSTATE='$(abs_builddir)/memstate$(EXEEXT)' $(SHELL) $(srcdir)/tests/live/python $(srcdir)/%D%/exporter.py $(COUNT)

# The exporter with 10 000 processes in 500 groups, which a generated /proc contains:
# "make bench-exporter-many COUNT=1000" takes 1000 looks, and needs 10 minutes.
.PHONY: bench-exporter-many
bench-exporter-many: memstate$(EXEEXT)
	srcdir='$(abs_srcdir)' builddir='$(abs_builddir)' MEMSTATE='$(abs_builddir)/memstate$(EXEEXT)' \
		$(SHELL) $(srcdir)/tests/live/python $(srcdir)/tests/live/exporter_many.py 10000 500 $(COUNT)

# Success rate of injecting the helper into ordinary programs:
# "make bench-helper-programs COUNT=100".
EXTRA_DIST += %D%/helper_programs.py
.PHONY: bench-helper-programs
bench-helper-programs: memstate$(EXEEXT) $(check_PROGRAMS)
	srcdir='$(abs_srcdir)' builddir='$(abs_builddir)' MEMSTATE='$(abs_builddir)/memstate$(EXEEXT)' \
		$(SHELL) $(srcdir)/tests/live/python $(srcdir)/%D%/helper_programs.py $(COUNT) $(ONLY)

# Pause of a copy in rounds, by size and write rate: "make bench-pre-copy SIZES='1024 4096'".
SIZES = 256 1024 2048
EXTRA_DIST += %D%/pre_copy.py
.PHONY: bench-pre-copy
bench-pre-copy: memstate$(EXEEXT) $(check_PROGRAMS)
	srcdir='$(abs_srcdir)' builddir='$(abs_builddir)' MEMSTATE='$(abs_builddir)/memstate$(EXEEXT)' \
		$(SHELL) $(srcdir)/tests/live/python $(srcdir)/%D%/pre_copy.py $(SIZES)

# Pause and CPU time of the walks of a series: "make bench-pre-copy-series SIZES=4096".
EXTRA_DIST += %D%/pre_copy_series.py
.PHONY: bench-pre-copy-series
bench-pre-copy-series: memstate$(EXEEXT) $(check_PROGRAMS)
	srcdir='$(abs_srcdir)' builddir='$(abs_builddir)' MEMSTATE='$(abs_builddir)/memstate$(EXEEXT)' \
		$(SHELL) $(srcdir)/tests/live/python $(srcdir)/%D%/pre_copy_series.py $(SIZES)

# Latency of servers beside a series with heap reads
EXTRA_DIST += %D%/latency.py %D%/LatencyServer.java %D%/latency_server.go
.PHONY: bench-latency
bench-latency: memstate$(EXEEXT)
	$(SHELL) $(srcdir)/tests/live/python $(srcdir)/%D%/latency.py '$(abs_builddir)/memstate$(EXEEXT)' $(COUNT)

# How often the time at which a limit is reached lies in the interval that oom predict
# reports: "make bench-predict COUNT=2000".
.PHONY: bench-predict
bench-predict: $(check_PROGRAMS)
	COUNT=$(COUNT) $(top_builddir)/tests/unit/classify/growth/test_coverage

# Stress tests, for minutes or hours: "make stress-heap COUNT=1000"; "make stress" runs
# all of them.
COUNT = 200
.PHONY: stress stress-heap stress-pre-copy stress-inject stress-count stress-count-attach stress-stacks stress-oom-watch stress-oom-containers stress-elf stress-uprobe-kill
stress: stress-heap stress-pre-copy stress-inject stress-count stress-count-attach stress-stacks stress-oom-watch stress-oom-containers stress-elf stress-uprobe-kill
stress-uprobe-kill: memstate$(EXEEXT) $(check_PROGRAMS)
	srcdir='$(abs_srcdir)' builddir='$(abs_builddir)' MEMSTATE='$(abs_builddir)/memstate$(EXEEXT)' \
		$(SHELL) $(srcdir)/tests/live/python $(srcdir)/tests/live/count_uprobe_kill.py $(COUNT)
stress-elf: memstate$(EXEEXT) $(check_PROGRAMS)
	srcdir='$(abs_srcdir)' builddir='$(abs_builddir)' MEMSTATE='$(abs_builddir)/memstate$(EXEEXT)' \
		$(SHELL) $(srcdir)/tests/live/python $(srcdir)/tests/live/hostile_elf.py $(COUNT)
stress-pre-copy: memstate$(EXEEXT) $(check_PROGRAMS)
	srcdir='$(abs_srcdir)' builddir='$(abs_builddir)' MEMSTATE='$(abs_builddir)/memstate$(EXEEXT)' \
		$(SHELL) $(srcdir)/tests/live/python $(srcdir)/tests/live/pre_copy.py $(COUNT)
stress-heap: memstate$(EXEEXT) $(check_PROGRAMS)
	srcdir='$(abs_srcdir)' builddir='$(abs_builddir)' MEMSTATE='$(abs_builddir)/memstate$(EXEEXT)' \
		$(SHELL) $(srcdir)/tests/live/python $(srcdir)/%D%/stress_heap.py $(COUNT)
stress-stacks: memstate$(EXEEXT) $(check_PROGRAMS) $(check_DATA)
	srcdir='$(abs_srcdir)' builddir='$(abs_builddir)' MEMSTATE='$(abs_builddir)/memstate$(EXEEXT)' COUNT=$(COUNT) \
		$(SHELL) $(srcdir)/tests/live/python $(srcdir)/tests/live/stacks_inside.py
stress-count-attach: $(check_PROGRAMS) $(check_DATA)
	srcdir='$(abs_srcdir)' builddir='$(abs_builddir)' MEMSTATE='$(abs_builddir)/memstate$(EXEEXT)' \
		$(SHELL) $(srcdir)/tests/live/python $(srcdir)/%D%/stress_count_attach.py $(COUNT)
stress-count: $(check_PROGRAMS) $(check_DATA)
	srcdir='$(abs_srcdir)' builddir='$(abs_builddir)' MEMSTATE='$(abs_builddir)/memstate$(EXEEXT)' \
		$(SHELL) $(srcdir)/tests/live/python $(srcdir)/tests/live/count_trouble.py $(COUNT)
stress-inject: $(check_PROGRAMS) $(check_DATA)
	srcdir='$(abs_srcdir)' builddir='$(abs_builddir)' MEMSTATE='$(abs_builddir)/memstate$(EXEEXT)' \
		$(SHELL) $(srcdir)/tests/live/python $(srcdir)/%D%/stress_inject.py $(COUNT)
stress-oom-watch: memstate$(EXEEXT) $(check_PROGRAMS)
	srcdir='$(abs_srcdir)' builddir='$(abs_builddir)' MEMSTATE='$(abs_builddir)/memstate$(EXEEXT)' \
		$(SHELL) $(srcdir)/tests/live/python $(srcdir)/%D%/stress_oom_watch.py $(COUNT)
stress-oom-containers: memstate$(EXEEXT)
	srcdir='$(abs_srcdir)' builddir='$(abs_builddir)' MEMSTATE='$(abs_builddir)/memstate$(EXEEXT)' \
		$(SHELL) $(srcdir)/tests/live/python $(srcdir)/tests/live/oom_containers.py $(COUNT)
