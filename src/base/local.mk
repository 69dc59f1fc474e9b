noinst_LIBRARIES += %D%/libbase.a
%C%_libbase_a_SOURCES = \
	%D%/cleanup.h \
	%D%/clock.c \
	%D%/clock.h \
	%D%/compat.h \
	%D%/demangle.c \
	%D%/demangle.h \
	%D%/interrupt.c \
	%D%/interrupt.h \
	%D%/io.c \
	%D%/io.h \
	%D%/json_read.c \
	%D%/json_read.h \
	%D%/json_write.c \
	%D%/json_write.h \
	%D%/key_lines.c \
	%D%/key_lines.h \
	%D%/library.c \
	%D%/library.h \
	%D%/mount_line.c \
	%D%/mount_line.h \
	%D%/num.c \
	%D%/num.h \
	%D%/platform.c \
	%D%/platform.h \
	%D%/search.h \
	%D%/similar.c \
	%D%/similar.h \
	%D%/strbuf.c \
	%D%/strbuf.h \
	%D%/text.c \
	%D%/text.h \
	%D%/thread.c \
	%D%/thread.h \
	%D%/units.c \
	%D%/units.h \
	%D%/user.c \
	%D%/user.h \
	%D%/xalloc.c \
	%D%/xalloc.h
BASE_LIBS = %D%/libbase.a $(LIBIBERTY_LIBS)
