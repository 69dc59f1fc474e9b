noinst_LIBRARIES += %D%/libstore.a
%C%_libstore_a_SOURCES = \
	%D%/block_list.c \
	%D%/block_list.h \
	%D%/capture.c \
	%D%/capture.h \
	%D%/capture_dir.c \
	%D%/capture_read.c \
	%D%/capture_read.h \
	%D%/capture_tar.c \
	%D%/capture_writer.h \
	%D%/folded.c \
	%D%/folded.h \
	%D%/profile_file.c \
	%D%/profile_file.h \
	%D%/profile_limits.h \
	%D%/limits_file.c \
	%D%/limits_file.h \
	%D%/redact.c \
	%D%/redact.h
STORE_LIBS = %D%/libstore.a $(PROC_LIBS)
