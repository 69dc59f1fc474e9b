# One program: each behaviour is a process in one known state (target.h). Built without sanitizers:
# theirs is not the memory of an ordinary program.
check_PROGRAMS += tests/targets/target
tests_targets_target_SOURCES = \
	%D%/anonymous.c %D%/busy.c %D%/family.c %D%/file.c %D%/huge.c %D%/lazyfree.c %D%/many.c \
	%D%/shared.c %D%/target.c %D%/target.h %D%/threads.c
tests_targets_target_CFLAGS = $(WARN_CFLAGS) -pthread
tests_targets_target_LDFLAGS = -pthread
tests_targets_target_LDADD = -lrt

# Heaps in known shapes; the same as a static program, where main_arena is the program's own.
check_PROGRAMS += tests/targets/heap_target
tests_targets_heap_target_SOURCES = %D%/heap_target.c
tests_targets_heap_target_CFLAGS = $(WARN_CFLAGS) -pthread
tests_targets_heap_target_LDFLAGS = -pthread
if HAVE_STATIC
check_PROGRAMS += tests/targets/heap_target_static
tests_targets_heap_target_static_SOURCES = %D%/heap_target.c
tests_targets_heap_target_static_CFLAGS = $(WARN_CFLAGS) -pthread
tests_targets_heap_target_static_LDFLAGS = -pthread -static
endif
