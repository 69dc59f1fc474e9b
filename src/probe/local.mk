noinst_LIBRARIES += %D%/libprobe.a
%C%_libprobe_a_SOURCES = \
	%D%/probe.h
PROBE_LIBS = %D%/libprobe.a src/target/libtarget.a $(PROC_LIBS) $(LIBELF_LIBS)
