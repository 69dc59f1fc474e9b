noinst_LIBRARIES += %D%/libwalk.a
%C%_libwalk_a_SOURCES = \
	%D%/blocks/blocks.c \
	%D%/blocks/blocks.h \
	%D%/blocks/content.c \
	%D%/blocks/content.h \
	%D%/blocks/data_area.c \
	%D%/blocks/data_area.h \
	%D%/blocks/detail.c \
	%D%/blocks/detail.h \
	%D%/blocks/index.c \
	%D%/blocks/index.h \
	%D%/blocks/input.c \
	%D%/blocks/input.h \
	%D%/blocks/page_use.c \
	%D%/blocks/page_use.h \
	%D%/blocks/slot.c \
	%D%/blocks/slot.h \
	%D%/blocks/types.c \
	%D%/blocks/types.h \
	%D%/glibc/account.c \
	%D%/glibc/bin.c \
	%D%/glibc/bin.h \
	%D%/glibc/bins.c \
	%D%/glibc/cache.c \
	%D%/glibc/chunks.c \
	%D%/glibc/find.c \
	%D%/glibc/lists.c \
	%D%/glibc/mapped.c \
	%D%/glibc/regions.c \
	%D%/glibc/segments.c \
	%D%/glibc/walk.c \
	%D%/glibc/walk.h \
	%D%/jemalloc/account.c \
	%D%/jemalloc/cache.c \
	%D%/jemalloc/extents.c \
	%D%/jemalloc/find.c \
	%D%/jemalloc/layout.c \
	%D%/jemalloc/tree.c \
	%D%/jemalloc/walk.c \
	%D%/jemalloc/walk.h \
	%D%/mallocng/account.c \
	%D%/mallocng/find.c \
	%D%/mallocng/groups.c \
	%D%/mallocng/walk.c \
	%D%/mallocng/walk.h \
	%D%/mark/mark.c \
	%D%/mark/mark.h \
	%D%/mark/path.c \
	%D%/mark/path.h \
	%D%/mark/roots.c \
	%D%/mark/roots.h \
	%D%/walk.c \
	%D%/walk.h
%C%_libwalk_a_CFLAGS = $(AM_CFLAGS) $(UNTRACED_CFLAGS)
WALK_LIBS = %D%/libwalk.a $(TRACEE_LIBS)
