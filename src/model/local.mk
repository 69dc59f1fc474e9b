noinst_LIBRARIES += %D%/libmodel.a
%C%_libmodel_a_SOURCES = \
	%D%/allocator_signs.c \
	%D%/allocator_signs.h \
	%D%/allocator_stats.c \
	%D%/allocator_stats.h \
	%D%/cgroup.c \
	%D%/cgroup.h \
	%D%/comparison.c \
	%D%/comparison.h \
	%D%/conclusion.c \
	%D%/conclusion.h \
	%D%/count.c \
	%D%/count.h \
	%D%/count_runs.c \
	%D%/count_runs.h \
	%D%/heap.c \
	%D%/heap.h \
	%D%/heap_detail.c \
	%D%/heap_detail.h \
	%D%/heap_objects.c \
	%D%/heap_objects.h \
	%D%/helper_answer.c \
	%D%/helper_answer.h \
	%D%/image.c \
	%D%/image.h \
	%D%/known_names.c \
	%D%/known_names.h \
	%D%/known_use.c \
	%D%/known_use.h \
	%D%/mapping.c \
	%D%/mapping.h \
	%D%/matrix.c \
	%D%/matrix.h \
	%D%/oom_kill.c \
	%D%/oom_kill.h \
	%D%/process.h \
	%D%/process_name.c \
	%D%/process_name.h \
	%D%/profile.c \
	%D%/profile.h \
	%D%/settings.c \
	%D%/settings.h \
	%D%/stacks.c \
	%D%/stacks.h \
	%D%/usage.c \
	%D%/usage.h
%C%_libmodel_a_CFLAGS = $(AM_CFLAGS) $(UNTRACED_CFLAGS)
MODEL_LIBS = %D%/libmodel.a $(BASE_LIBS)
