noinst_LIBRARIES += %D%/libstore.a
%C%_libstore_a_SOURCES = \
	%D%/capture/block_list.c \
	%D%/capture/block_list.h \
	%D%/capture/capture.c \
	%D%/capture/capture.h \
	%D%/capture/dir.c \
	%D%/capture/read.c \
	%D%/capture/read.h \
	%D%/capture/redact.c \
	%D%/capture/redact.h \
	%D%/capture/tar.c \
	%D%/capture/writer.h \
	%D%/exporter/web_file.c \
	%D%/exporter/web_file.h \
	%D%/exporter/yaml_pairs.c \
	%D%/exporter/yaml_pairs.h \
	%D%/profile/file.c \
	%D%/profile/file.h \
	%D%/profile/folded.c \
	%D%/profile/folded.h \
	%D%/profile/gzip.c \
	%D%/profile/gzip.h \
	%D%/profile/limits.h \
	%D%/profile/limits_file.c \
	%D%/profile/limits_file.h \
	%D%/profile/pprof.h \
	%D%/profile/pprof_library.c \
	%D%/profile/pprof_library.h \
	%D%/profile/pprof_pack.c \
	%D%/profile/pprof_types.h \
	%D%/profile/pprof_unpack.c \
	%D%/recording/facts.h \
	%D%/recording/file.h \
	%D%/recording/known.h \
	%D%/recording/latest.h \
	%D%/recording/mappings.h \
	%D%/recording/read.h \
	%D%/recording/reader.h \
	%D%/recording/recording.h \
	%D%/recording/schema.h \
	%D%/recording/sql.h \
	%D%/recording/trim.h \
	%D%/recording/write.h \
	%D%/settings/file.c \
	%D%/settings/file.h \
	%D%/settings/text.c \
	%D%/settings/text.h
%C%_libstore_a_CPPFLAGS = $(AM_CPPFLAGS) -Isrc
%C%_libstore_a_CFLAGS = $(AM_CFLAGS) $(PPROF_CFLAGS) $(SQLITE_CFLAGS) $(YAML_CFLAGS)
EXTRA_DIST += %D%/profile/pprof.proto
if HAVE_PPROF
nodist_%C%_libstore_a_SOURCES = %D%/profile/pprof.pb-c.c
BUILT_SOURCES += %D%/profile/pprof.pb-c.h
CLEANFILES += %D%/profile/pprof.pb-c.c %D%/profile/pprof.pb-c.h
%D%/profile/pprof.pb-c.c: $(srcdir)/%D%/profile/pprof.proto
	$(AM_V_GEN)$(MKDIR_P) %D%/profile && $(PROTOC_C) --proto_path=$(srcdir)/src --c_out=src $(srcdir)/%D%/profile/pprof.proto
%D%/profile/pprof.pb-c.h: %D%/profile/pprof.pb-c.c
endif
recording_files = %D%/recording/recording.c %D%/recording/facts.c %D%/recording/file.c %D%/recording/group.c %D%/recording/known.c \
	%D%/recording/latest.c %D%/recording/mappings.c %D%/recording/read.c %D%/recording/read_each.c %D%/recording/read_group.c %D%/recording/read_open.c \
	%D%/recording/schema.c %D%/recording/sql.c \
	%D%/recording/trim.c %D%/recording/write_open.c
if HAVE_SQLITE
%C%_libstore_a_SOURCES += $(recording_files)
else
%C%_libstore_a_SOURCES += %D%/recording/none.c
endif
EXTRA_DIST += $(recording_files) %D%/recording/none.c
STORE_LIBS = %D%/libstore.a $(PROC_LIBS)
