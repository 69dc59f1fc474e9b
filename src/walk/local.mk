noinst_LIBRARIES += %D%/libwalk.a
%C%_libwalk_a_SOURCES = \
	%D%/block_index.c \
	%D%/block_index.h \
	%D%/blocks.c \
	%D%/blocks.h \
	%D%/content.c \
	%D%/content.h \
	%D%/detail.c \
	%D%/detail.h \
	%D%/glibc_bin.c \
	%D%/glibc_bin.h \
	%D%/input.c \
	%D%/input.h \
	%D%/mark.c \
	%D%/mark.h \
	%D%/page_use.c \
	%D%/page_use.h \
	%D%/path.c \
	%D%/path.h \
	%D%/roots.c \
	%D%/roots.h \
	%D%/types.c \
	%D%/types.h \
	%D%/walk.c \
	%D%/walk.h \
	%D%/walk_glibc.c \
	%D%/walk_glibc.h \
	%D%/walk_glibc_account.c \
	%D%/walk_glibc_bins.c \
	%D%/walk_glibc_cache.c \
	%D%/walk_glibc_chunks.c \
	%D%/walk_glibc_find.c \
	%D%/walk_glibc_lists.c \
	%D%/walk_glibc_mapped.c \
	%D%/walk_glibc_regions.c \
	%D%/walk_glibc_segments.c \
	%D%/walk_jemalloc.c \
	%D%/walk_jemalloc.h \
	%D%/walk_jemalloc_account.c \
	%D%/walk_jemalloc_cache.c \
	%D%/walk_jemalloc_extents.c \
	%D%/walk_jemalloc_find.c \
	%D%/walk_jemalloc_layout.c \
	%D%/walk_jemalloc_tree.c
if ENABLE_FUZZING
# Reporting every comparison to the fuzzer would dominate the time of searching memory.
%C%_libwalk_a_CFLAGS = $(AM_CFLAGS) -fno-sanitize-coverage=trace-cmp
endif
WALK_LIBS = %D%/libwalk.a $(TARGET_LIBS)
