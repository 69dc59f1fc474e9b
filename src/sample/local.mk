noinst_LIBRARIES += %D%/libsample.a
%C%_libsample_a_SOURCES = \
	%D%/cgroup_sampler.c \
	%D%/cgroup_sampler.h \
	%D%/container_files.c \
	%D%/container_files.h \
	%D%/group_processes.c \
	%D%/group_processes.h \
	%D%/heap_ask.c \
	%D%/heap_ask.h \
	%D%/heap_keeper.c \
	%D%/heap_keeper.h \
	%D%/heap_reader.c \
	%D%/heap_reader.h \
	%D%/helpers.c \
	%D%/helpers.h \
	%D%/names.c \
	%D%/names.h \
	%D%/leak_scan.c \
	%D%/leak_scan.h \
	%D%/oom_ends.c \
	%D%/oom_ends.h \
	%D%/oom_grower.c \
	%D%/oom_past.c \
	%D%/oom_past.h \
	%D%/oom_witness.c \
	%D%/oom_witness.h \
	%D%/profile_reader.c \
	%D%/profile_reader.h \
	%D%/recorder.c \
	%D%/recorder.h \
	%D%/replay.c \
	%D%/replay.h \
	%D%/replay_moment.c \
	%D%/replay_moment.h \
	%D%/run_sampler.c \
	%D%/run_sampler.h \
	%D%/sampler.c \
	%D%/sampler.h \
	%D%/swift.c \
	%D%/swift.h \
	%D%/targets.c \
	%D%/targets.h \
	%D%/watch.c \
	%D%/watch.h
SAMPLE_LIBS = %D%/libsample.a src/store/libstore.a $(PPROF_LIBS) src/classify/libclassify.a src/walk/libwalk.a $(PROBE_LIBS)
