noinst_LIBRARIES += %D%/libprobe.a
%C%_libprobe_a_SOURCES = \
	%D%/ctlpage.h \
	%D%/inject.h \
	%D%/probe.h
PROBE_LIBS = %D%/libprobe.a $(AGENT_LIBS) src/target/libtarget.a $(PROC_LIBS)
