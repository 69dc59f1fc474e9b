noinst_LIBRARIES += %D%/libprobe.a
%C%_libprobe_a_SOURCES = \
	%D%/agent_library.c \
	%D%/agent_library.h \
	%D%/answer.c \
	%D%/answer.h \
	%D%/ctlpage.c \
	%D%/ctlpage.h \
	%D%/ctlpage_find.c \
	%D%/inject.h \
	%D%/probe.c \
	%D%/probe.h
%C%_libprobe_a_CPPFLAGS = $(AM_CPPFLAGS) -DPKGLIBDIR='"$(pkglibdir)"'
PROBE_LIBS = %D%/libprobe.a $(AGENT_LIBS) src/target/libtarget.a $(PROC_LIBS)
