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
	%D%/diagnose.c \
	%D%/diagnose.h \
	%D%/explain.c \
	%D%/explain.h \
	%D%/fold_name.c \
	%D%/fold_name.h \
	%D%/leaks.c \
	%D%/leaks.h \
	%D%/past_heap.c \
	%D%/past_heap.h \
	%D%/profile_transform.h \
	%D%/transform_rules.h \
	%D%/profile_diff.c \
	%D%/profile_diff.h \
	%D%/verdict.c \
	%D%/verdict.h \
	%D%/verdict_facts.c \
	%D%/verdict_facts.h
CLASSIFY_LIBS = %D%/libclassify.a $(WALK_LIBS)
