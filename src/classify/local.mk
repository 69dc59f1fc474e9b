noinst_LIBRARIES += %D%/libclassify.a
%C%_libclassify_a_SOURCES = \
	%D%/block_groups.c \
	%D%/block_groups.h \
	%D%/classify.c \
	%D%/classify.h \
	%D%/classify_heap.c \
	%D%/classify_heap.h \
	%D%/compare.c \
	%D%/compare.h \
	%D%/classify_stats.c \
	%D%/classify_stats.h \
	%D%/container_names.c \
	%D%/container_names.h \
	%D%/count_stats.c \
	%D%/count_stats.h \
	%D%/diagnose.c \
	%D%/diagnose.h \
	%D%/explain.c \
	%D%/explain.h \
	%D%/fold_name.c \
	%D%/fold_name.h \
	%D%/growth.c \
	%D%/growth.h \
	%D%/growth_series.c \
	%D%/growth_series.h \
	%D%/last_rise.c \
	%D%/last_rise.h \
	%D%/leaks.c \
	%D%/leaks.h \
	%D%/moment_diff.c \
	%D%/moment_diff.h \
	%D%/oom_evidence.c \
	%D%/oom_evidence.h \
	%D%/oom_exclusions.c \
	%D%/oom_exclusions.h \
	%D%/oom_node.c \
	%D%/oom_node.h \
	%D%/oom_figures.c \
	%D%/oom_figures.h \
	%D%/oom_pace.c \
	%D%/oom_pace.h \
	%D%/oom_rules.c \
	%D%/oom_rules.h \
	%D%/oom_verdict.c \
	%D%/oom_verdict.h \
	%D%/past_heap.c \
	%D%/past_heap.h \
	%D%/profile_transform.c \
	%D%/profile_transform.h \
	%D%/profile_tree.c \
	%D%/profile_tree.h \
	%D%/trends.c \
	%D%/trends.h \
	%D%/transform_regex.c \
	%D%/transform_regex.h \
	%D%/transform_rules.c \
	%D%/transform_rules.h \
	%D%/profile_diff.c \
	%D%/profile_diff.h \
	%D%/runtime_options.c \
	%D%/runtime_options.h \
	%D%/scale_fit.c \
	%D%/scale_fit.h \
	%D%/timeline.c \
	%D%/timeline.h \
	%D%/timeline_charts.c \
	%D%/timeline_charts.h \
	%D%/verdict.c \
	%D%/verdict.h \
	%D%/verdict_facts.c \
	%D%/verdict_facts.h
# the sets of rules that come with memstate become a part of transform_rules.o
%C%_libclassify_a_CFLAGS = $(AM_CFLAGS) -Wa,-I,$(srcdir)/%D%
%D%/libclassify_a-transform_rules.$(OBJEXT): $(srcdir)/%D%/transforms
EXTRA_DIST += %D%/transforms
CLASSIFY_LIBS = %D%/libclassify.a $(WALK_LIBS)
