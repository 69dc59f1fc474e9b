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
	%D%/gzip.c \
	%D%/gzip.h \
	%D%/pprof.h \
	%D%/pprof_library.c \
	%D%/pprof_library.h \
	%D%/pprof_pack.c \
	%D%/pprof_types.h \
	%D%/pprof_unpack.c \
	%D%/profile_file.c \
	%D%/profile_file.h \
	%D%/profile_limits.h \
	%D%/limits_file.c \
	%D%/limits_file.h \
	%D%/recording.h \
	%D%/recording_facts.h \
	%D%/recording_file.h \
	%D%/recording_known.h \
	%D%/recording_read.h \
	%D%/recording_reader.h \
	%D%/recording_schema.h \
	%D%/recording_sql.h \
	%D%/recording_latest.h \
	%D%/recording_mappings.h \
	%D%/recording_trim.h \
	%D%/recording_write.h \
	%D%/redact.c \
	%D%/redact.h
%C%_libstore_a_CPPFLAGS = $(AM_CPPFLAGS) -Isrc
%C%_libstore_a_CFLAGS = $(AM_CFLAGS) $(PPROF_CFLAGS) $(SQLITE_CFLAGS)
EXTRA_DIST += %D%/pprof.proto
if HAVE_PPROF
nodist_%C%_libstore_a_SOURCES = %D%/pprof.pb-c.c
BUILT_SOURCES += %D%/pprof.pb-c.h
CLEANFILES += %D%/pprof.pb-c.c %D%/pprof.pb-c.h
%D%/pprof.pb-c.c: $(srcdir)/%D%/pprof.proto
	$(AM_V_GEN)$(MKDIR_P) %D% && $(PROTOC_C) --proto_path=$(srcdir)/src --c_out=src $(srcdir)/%D%/pprof.proto
%D%/pprof.pb-c.h: %D%/pprof.pb-c.c
endif
recording_files = %D%/recording.c %D%/recording_facts.c %D%/recording_file.c %D%/recording_group.c %D%/recording_known.c \
	%D%/recording_latest.c %D%/recording_mappings.c %D%/recording_read.c %D%/recording_read_each.c %D%/recording_read_group.c \
	%D%/recording_schema.c %D%/recording_sql.c \
	%D%/recording_trim.c
if HAVE_SQLITE
%C%_libstore_a_SOURCES += $(recording_files)
else
%C%_libstore_a_SOURCES += %D%/recording_none.c
endif
EXTRA_DIST += $(recording_files) %D%/recording_none.c
STORE_LIBS = %D%/libstore.a $(PROC_LIBS)
