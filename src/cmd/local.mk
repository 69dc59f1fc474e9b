noinst_LIBRARIES += %D%/libcmd.a
%C%_libcmd_a_SOURCES = \
	%D%/allocators.c \
	%D%/allocators.h \
	%D%/child.c \
	%D%/child.h \
	%D%/cmd.c \
	%D%/cmd.h \
	%D%/cmd_capture.c \
	%D%/cmd_compare.c \
	%D%/cmd_compare.h \
	%D%/cmd_count.c \
	%D%/cmd_diff.c \
	%D%/cmd_doctor.c \
	%D%/cmd_explain.c \
	%D%/cmd_heap.c \
	%D%/cmd_leaks.c \
	%D%/cmd_map.c \
	%D%/cmd_oom.c \
	%D%/cmd_watch.c \
	%D%/count_profile.c \
	%D%/count_profile.h \
	%D%/count_show.c \
	%D%/count_show.h \
	%D%/compare_show.c \
	%D%/compare_show.h \
	%D%/compare_run.c \
	%D%/compare_run.h \
	%D%/count_check.c \
	%D%/count_check.h \
	%D%/count_runs.c \
	%D%/count_runs.h \
	%D%/count_child.c \
	%D%/count_child.h \
	%D%/doctor.c \
	%D%/doctor.h \
	%D%/doctor_around.c \
	%D%/doctor_kernel.c \
	%D%/doctor_process.c \
	%D%/doctor_rights.c \
	%D%/heaps.c \
	%D%/heaps.h \
	%D%/help.c \
	%D%/help.h \
	%D%/job.c \
	%D%/job.h \
	%D%/message.c \
	%D%/message.h \
	%D%/option_rows.c \
	%D%/option_rows.h \
	%D%/options.c \
	%D%/options.h \
	%D%/options_count.c \
	%D%/options_count.h \
	%D%/peak.c \
	%D%/peak.h \
	%D%/program.c \
	%D%/program.h \
	%D%/run_files.c \
	%D%/run_files.h \
	%D%/screen.h \
	%D%/series.c \
	%D%/series.h \
	%D%/session.c \
	%D%/session.h \
	%D%/signals.c \
	%D%/signals.h \
	%D%/stream.c \
	%D%/stream.h \
	%D%/text.c \
	%D%/text.h \
	%D%/variants.c \
	%D%/variants.h
if HAVE_NCURSES
%C%_libcmd_a_SOURCES += %D%/screen.c
endif
EXTRA_DIST += %D%/screen.c
CMD_LIBS = %D%/libcmd.a $(UI_LIBS) src/store/libstore.a src/render/librender.a $(SAMPLE_LIBS) $(PROBE_LIBS)
