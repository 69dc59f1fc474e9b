noinst_LIBRARIES += %D%/libprobe.a
%C%_libprobe_a_SOURCES = \
	%D%/agent_library.c \
	%D%/agent_library.h \
	%D%/answer.c \
	%D%/answer.h \
	%D%/blocked.c \
	%D%/blocked.h \
	%D%/borrow.c \
	%D%/borrow.h \
	%D%/borrow_begin.c \
	%D%/borrow_private.h \
	%D%/ctlpage.c \
	%D%/count.c \
	%D%/count.h \
	%D%/count_reader.c \
	%D%/count_reader.h \
	%D%/count_attach.c \
	%D%/count_attach.h \
	%D%/count_bpf.c \
	%D%/count_bpf_program.c \
	%D%/count_bpf_program.h \
	%D%/count_perf.c \
	%D%/count_perf.h \
	%D%/count_points.c \
	%D%/count_points.h \
	%D%/count_slide.c \
	%D%/count_slide.h \
	%D%/count_way.h \
	%D%/ctlpage.h \
	%D%/ctlpage_find.c \
	%D%/gates.c \
	%D%/gates.h \
	%D%/inject.c \
	%D%/inject.h \
	%D%/inject_x86_64.c \
	%D%/landmarks.c \
	%D%/landmarks.h \
	%D%/loaded.c \
	%D%/loaded.h \
	%D%/machine.h \
	%D%/machine_none.c \
	%D%/orphans.c \
	%D%/orphans.h \
	%D%/own_number.c \
	%D%/own_number.h \
	%D%/parcel.c \
	%D%/parcel.h \
	%D%/probe.c \
	%D%/probe.h \
	%D%/safe_point.c \
	%D%/safe_point.h \
	%D%/stub_x86_64.c
%C%_libprobe_a_CPPFLAGS = $(AM_CPPFLAGS) -DPKGLIBDIR='"$(pkglibdir)"'
PROBE_LIBS = %D%/libprobe.a $(AGENT_LIBS) src/target/libtarget.a $(PROC_LIBS)
