# A single program: each behaviour puts a process into a known state (target.h). Built
# without sanitizers, whose memory differs from that of an ordinary program.
check_PROGRAMS += tests/targets/target
tests_targets_target_SOURCES = \
	%D%/anonymous.c %D%/busy.c %D%/family.c %D%/file.c %D%/huge.c %D%/lazyfree.c %D%/many.c \
	%D%/shared.c %D%/target.c %D%/target.h %D%/threads.c
tests_targets_target_CFLAGS = $(WARN_CFLAGS) -pthread
tests_targets_target_LDFLAGS = -pthread
tests_targets_target_LDADD = -lrt

# Maps a file that a test has damaged.
check_PROGRAMS += tests/targets/elf_target
tests_targets_elf_target_SOURCES = %D%/elf_target.c
tests_targets_elf_target_CFLAGS = $(WARN_CFLAGS)
tests_targets_elf_target_LDFLAGS =

# The counted target: the compiler must not remove or replace any of its calls.
check_PROGRAMS += tests/targets/count_target
tests_targets_count_target_SOURCES = %D%/count_target.c
tests_targets_count_target_CFLAGS = $(WARN_CFLAGS) -fno-builtin -pthread
tests_targets_count_target_LDFLAGS = -pthread
tests_targets_count_target_LDADD = -ldl

check_PROGRAMS += tests/targets/count_fixed
tests_targets_count_fixed_SOURCES = %D%/count_fixed.c
tests_targets_count_fixed_CFLAGS = $(WARN_CFLAGS) -fno-builtin -O0 -fno-pie
tests_targets_count_fixed_LDFLAGS = -no-pie

EXTRA_DIST += %D%/count_cxx.cc
if HAVE_CXX
check_PROGRAMS += tests/targets/count_cxx
tests_targets_count_cxx_SOURCES = %D%/count_cxx.cc
tests_targets_count_cxx_CXXFLAGS = -O0 -std=c++17
tests_targets_count_cxx_LDFLAGS =
endif

# Allocates from known call stacks, with line information and inlined functions.
check_PROGRAMS += tests/targets/profile_target
tests_targets_profile_target_SOURCES = %D%/profile_target.c
tests_targets_profile_target_CFLAGS = $(WARN_CFLAGS) -g -O2 -fno-optimize-sibling-calls -pthread
tests_targets_profile_target_LDFLAGS = -pthread
tests_targets_profile_target_LDADD = -ldl
EXTRA_DIST += %D%/profile_plugin.c %D%/profile_cxx.cc
check_DATA += tests/targets/profile_plugin.so
CLEANFILES += tests/targets/profile_plugin.so
tests/targets/profile_plugin.so: %D%/profile_plugin.c
	$(AM_V_CC)$(CC) $(CPPFLAGS) -g -O2 -fno-optimize-sibling-calls -shared -fPIC -o $@ \
		$(srcdir)/tests/targets/profile_plugin.c
if HAVE_CXX
check_PROGRAMS += tests/targets/profile_cxx
tests_targets_profile_cxx_SOURCES = %D%/profile_cxx.cc
tests_targets_profile_cxx_CXXFLAGS = -g -O2 -fno-optimize-sibling-calls -std=c++17
tests_targets_profile_cxx_LDFLAGS =
endif

# The target for stack walks: all kinds of frames and places.
check_PROGRAMS += tests/targets/stack_target
tests_targets_stack_target_SOURCES = %D%/stack_target.c
tests_targets_stack_target_CFLAGS = $(WARN_CFLAGS) -Wno-vla -O2 -fno-builtin -fno-optimize-sibling-calls \
	-fno-stack-protector -pthread
tests_targets_stack_target_LDFLAGS = -pthread
tests_targets_stack_target_LDADD = -ldl -lrt
check_PROGRAMS += tests/targets/stack_odd
tests_targets_stack_odd_SOURCES = %D%/stack_odd.c
tests_targets_stack_odd_CFLAGS = $(tests_targets_stack_target_CFLAGS)
tests_targets_stack_odd_LDFLAGS = -pthread
tests_targets_stack_odd_LDADD = -ldl
EXTRA_DIST += %D%/stack_plugin.c
check_DATA += tests/targets/stack_plugin.so tests/targets/stack_plugin_other.so
CLEANFILES += tests/targets/stack_plugin.so tests/targets/stack_plugin_other.so
tests/targets/stack_plugin.so: %D%/stack_plugin.c
	$(AM_V_CC)$(CC) $(CPPFLAGS) -O2 -fno-optimize-sibling-calls -shared -fPIC -I. -o $@ \
		$(srcdir)/tests/targets/stack_plugin.c
tests/targets/stack_plugin_other.so: %D%/stack_plugin.c
	$(AM_V_CC)$(CC) $(CPPFLAGS) -O2 -fno-optimize-sibling-calls -shared -fPIC -I. -DSTACK_PLUGIN_OTHER -o $@ \
		$(srcdir)/tests/targets/stack_plugin.c

# Installs a seccomp filter on itself.
check_PROGRAMS += tests/targets/filter_target
tests_targets_filter_target_SOURCES = %D%/filter_target.c
tests_targets_filter_target_CFLAGS = $(WARN_CFLAGS) -Wno-vla -O2 -fno-builtin -fno-optimize-sibling-calls \
	-fno-stack-protector -pthread
tests_targets_filter_target_LDFLAGS = -pthread

# Code in a distant segment, and code generated at run time
check_PROGRAMS += tests/targets/holes_target tests/targets/jit_target
tests_targets_holes_target_SOURCES = %D%/holes_target.c
tests_targets_holes_target_CFLAGS = $(WARN_CFLAGS) -O1 -fno-builtin -fno-pie
tests_targets_holes_target_LDFLAGS = -no-pie -Wl,--section-start=.far_text=0x2000000
tests_targets_jit_target_SOURCES = %D%/jit_target.c
tests_targets_jit_target_CFLAGS = $(WARN_CFLAGS) -O1 -fno-builtin -fno-optimize-sibling-calls
tests_targets_jit_target_LDFLAGS =

# Compares stacks with those of libunwind, if it is available.
EXTRA_DIST += %D%/unwind_agree.c %D%/unwind_modules.h
if HAVE_LIBUNWIND
check_PROGRAMS += tests/targets/unwind_agree.so
tests_targets_unwind_agree_so_SOURCES = %D%/unwind_agree.c src/agent/unwind/unwind.c src/agent/unwind/cfi.c \
	src/agent/unwind/row.c src/agent/unwind/rules.c
tests_targets_unwind_agree_so_CFLAGS = $(WARN_CFLAGS) $(LIBUNWIND_CFLAGS) -std=gnu11 -O2 -fPIC -fno-builtin
tests_targets_unwind_agree_so_LDFLAGS = -shared
tests_targets_unwind_agree_so_LDADD = $(LIBUNWIND_LIBS) -ldl
endif

# Fills a cgroup in known ways.
check_PROGRAMS += tests/targets/oom_target
tests_targets_oom_target_SOURCES = %D%/oom_target.c
tests_targets_oom_target_CFLAGS = $(WARN_CFLAGS) -pthread
tests_targets_oom_target_LDFLAGS = -pthread

# Needs more memory over time, or does not.
check_PROGRAMS += tests/targets/growth_target
tests_targets_growth_target_SOURCES = %D%/growth_target.c
tests_targets_growth_target_CFLAGS = $(WARN_CFLAGS)
tests_targets_growth_target_LDADD = -lm

# Heaps in known shapes; also as a static program, where main_arena is in the program.
check_PROGRAMS += tests/targets/heap_target
tests_targets_heap_target_SOURCES = %D%/heap_target.c %D%/say.h
tests_targets_heap_target_CFLAGS = $(WARN_CFLAGS) -pthread
tests_targets_heap_target_LDFLAGS = -pthread
if HAVE_STATIC
check_PROGRAMS += tests/targets/heap_target_static
tests_targets_heap_target_static_SOURCES = %D%/heap_target.c %D%/say.h
tests_targets_heap_target_static_CFLAGS = $(WARN_CFLAGS) -pthread
tests_targets_heap_target_static_LDFLAGS = -pthread -static
endif

# Blocks from memalign() with their own mappings
check_PROGRAMS += tests/targets/aligned_target
tests_targets_aligned_target_SOURCES = %D%/aligned_target.c %D%/say.h
tests_targets_aligned_target_CFLAGS = $(WARN_CFLAGS) -fno-builtin
tests_targets_aligned_target_LDFLAGS =

# Large blocks with their own mappings
check_PROGRAMS += tests/targets/mapped_target
tests_targets_mapped_target_SOURCES = %D%/mapped_target.c %D%/say.h
tests_targets_mapped_target_CFLAGS = $(WARN_CFLAGS) -fno-builtin
tests_targets_mapped_target_LDFLAGS =

# Maps files of a FUSE file system that stops answering.
check_PROGRAMS += tests/targets/fuse_target
tests_targets_fuse_target_SOURCES = %D%/fuse_target.c %D%/say.h
tests_targets_fuse_target_CFLAGS = $(WARN_CFLAGS)
tests_targets_fuse_target_LDFLAGS =

# A free chunk in each of malloc's lists
check_PROGRAMS += tests/targets/bins_target
tests_targets_bins_target_SOURCES = %D%/bins_target.c %D%/say.h
tests_targets_bins_target_CFLAGS = $(WARN_CFLAGS)
tests_targets_bins_target_LDFLAGS =

# Pages with one or two small blocks remaining
check_PROGRAMS += tests/targets/pins_target
tests_targets_pins_target_SOURCES = %D%/pins_target.c
tests_targets_pins_target_CFLAGS = $(WARN_CFLAGS)
tests_targets_pins_target_LDFLAGS =

# Objects of C++ classes: built as usual, at a fixed address, and without
# run-time type information.
EXTRA_DIST += %D%/types_target.cc
if HAVE_CXX
check_PROGRAMS += tests/targets/types_target tests/targets/types_target_fixed \
	tests/targets/types_target_bare
tests_targets_types_target_SOURCES = %D%/types_target.cc
tests_targets_types_target_CXXFLAGS = -O1 -fPIE
tests_targets_types_target_LDFLAGS = -pie
tests_targets_types_target_fixed_SOURCES = %D%/types_target.cc
tests_targets_types_target_fixed_CXXFLAGS = -O1 -fno-pie
tests_targets_types_target_fixed_LDFLAGS = -no-pie
tests_targets_types_target_bare_SOURCES = %D%/types_target.cc
tests_targets_types_target_bare_CXXFLAGS = -O1 -fPIE -fno-rtti
tests_targets_types_target_bare_LDFLAGS = -pie
endif

# Heaps for jemalloc, preloaded or linked into the program
check_PROGRAMS += tests/targets/jemalloc_target
tests_targets_jemalloc_target_SOURCES = %D%/jemalloc_target.c
tests_targets_jemalloc_target_CFLAGS = $(WARN_CFLAGS) -pthread
tests_targets_jemalloc_target_LDFLAGS = -pthread
if HAVE_STATIC_JEMALLOC
check_PROGRAMS += tests/targets/jemalloc_target_static
tests_targets_jemalloc_target_static_SOURCES = %D%/jemalloc_target.c
tests_targets_jemalloc_target_static_CFLAGS = $(WARN_CFLAGS) -pthread
tests_targets_jemalloc_target_static_LDFLAGS = -pthread -static
tests_targets_jemalloc_target_static_LDADD = -ljemalloc -lm
endif

# Known leaks. Optimized, so that addresses are only where the source puts them.
check_PROGRAMS += tests/targets/leak_target
tests_targets_leak_target_SOURCES = %D%/leak_register.h %D%/leak_take.h \
	%D%/leak_target.c %D%/say.h
tests_targets_leak_target_CFLAGS = $(WARN_CFLAGS) -O1 -pthread
tests_targets_leak_target_LDFLAGS = -pthread

# Observes what a stop does to the process: signals and system calls.
check_PROGRAMS += tests/targets/held_target
tests_targets_held_target_SOURCES = %D%/held_target.c
tests_targets_held_target_CFLAGS = $(WARN_CFLAGS) -pthread
tests_targets_held_target_LDFLAGS = -pthread

# Workloads to compare under several allocators
check_PROGRAMS += tests/targets/compare_target
tests_targets_compare_target_SOURCES = %D%/compare_target.c %D%/proc_file.h %D%/say.h
tests_targets_compare_target_CFLAGS = $(WARN_CFLAGS)
tests_targets_compare_target_LDFLAGS =

# Processes that injecting and removing the helper must not harm; they load the library.
check_PROGRAMS += tests/targets/inject_target
tests_targets_inject_target_SOURCES = \
	%D%/inject_calls.c %D%/inject_churn.c %D%/inject_idle.c %D%/inject_places.c %D%/inject_plugin.h \
	%D%/inject_registers.c %D%/inject_rights.c %D%/inject_storms.c \
	%D%/inject_target.c %D%/inject_target.h %D%/say.h
tests_targets_inject_target_CFLAGS = $(WARN_CFLAGS) -O1 -pthread
tests_targets_inject_target_LDFLAGS = -pthread -rdynamic
tests_targets_inject_target_LDADD = -ldl
EXTRA_DIST += %D%/inject_plugin.c
check_DATA += tests/targets/inject_plugin.so
CLEANFILES += tests/targets/inject_plugin.so
tests/targets/inject_plugin.so: %D%/inject_plugin.c %D%/inject_plugin.h
	$(AM_V_CC)$(CC) $(CPPFLAGS) $(CFLAGS) -shared -fPIC -o $@ $(srcdir)/tests/targets/inject_plugin.c

# Queries a helper as memstate does, and prints the answer.
check_PROGRAMS += tests/targets/ask_helper
tests_targets_ask_helper_SOURCES = %D%/ask_helper.c
tests_targets_ask_helper_LDADD = $(PROBE_LIBS)

# A program with its own malloc; a sanitizer would need to replace that malloc.
check_PROGRAMS += tests/targets/own_malloc_target
tests_targets_own_malloc_target_SOURCES = %D%/own_malloc_target.c
tests_targets_own_malloc_target_CFLAGS = $(WARN_CFLAGS) -fno-builtin
tests_targets_own_malloc_target_LDFLAGS =

# Contain the messages of allocators that are linked into a program, with or without
# their own malloc.
check_PROGRAMS += tests/targets/code_target_tcmalloc \
	tests/targets/code_target_wrapper tests/targets/code_target_message
tests_targets_code_target_tcmalloc_SOURCES = %D%/code_target.c
tests_targets_code_target_tcmalloc_CPPFLAGS = -DOWN_MALLOC -DSIGN='"TCMALLOC_SAMPLE_PARAMETER"'
tests_targets_code_target_tcmalloc_CFLAGS = $(WARN_CFLAGS) -fno-builtin
tests_targets_code_target_tcmalloc_LDFLAGS =
tests_targets_code_target_wrapper_SOURCES = %D%/code_target.c
tests_targets_code_target_wrapper_CPPFLAGS = -DOWN_MALLOC
tests_targets_code_target_wrapper_CFLAGS = $(WARN_CFLAGS) -fno-builtin
tests_targets_code_target_wrapper_LDFLAGS =
tests_targets_code_target_message_SOURCES = %D%/code_target.c
tests_targets_code_target_message_CPPFLAGS = -DSIGN='"mimalloc: error: "'
tests_targets_code_target_message_CFLAGS = $(WARN_CFLAGS)
tests_targets_code_target_message_LDFLAGS =

check_PROGRAMS += tests/targets/helper_target
tests_targets_helper_target_SOURCES = %D%/helper_target.c %D%/say.h
tests_targets_helper_target_CFLAGS = $(WARN_CFLAGS) -pthread
tests_targets_helper_target_LDFLAGS = -pthread
tests_targets_helper_target_LDADD = -ldl

# Injects and removes the helper; fails at a requested step.
check_PROGRAMS += tests/targets/inject_tool
tests_targets_inject_tool_SOURCES = %D%/inject_tool.c
tests_targets_inject_tool_LDADD = $(PROBE_LIBS)

# Copies the memory of a running process, and compares it with the stopped process.
check_PROGRAMS += tests/targets/pre_copy_tool
tests_targets_pre_copy_tool_SOURCES = %D%/pre_copy_tool.c
tests_targets_pre_copy_tool_LDADD = $(PROBE_LIBS)

# Changes its memory all the time.
check_PROGRAMS += tests/targets/storm_target
tests_targets_storm_target_SOURCES = %D%/storm_target.c %D%/storm_target.h %D%/storm_pages.c
tests_targets_storm_target_CFLAGS = $(WARN_CFLAGS) -O1 -pthread
tests_targets_storm_target_LDFLAGS = -pthread

# Two builds of a program that differ in one call
check_PROGRAMS += tests/targets/diff_target_before tests/targets/diff_target_after
tests_targets_diff_target_before_SOURCES = %D%/diff_target.c %D%/say.h
tests_targets_diff_target_before_CFLAGS = $(WARN_CFLAGS) -O1 -g -fno-optimize-sibling-calls
tests_targets_diff_target_before_LDFLAGS =
tests_targets_diff_target_after_SOURCES = %D%/diff_target.c %D%/say.h
tests_targets_diff_target_after_CFLAGS = $(WARN_CFLAGS) -O1 -g -fno-optimize-sibling-calls -DIS_AFTER
tests_targets_diff_target_after_LDFLAGS =

# A process with known calls, the library that it loads, and the tool that injects
# the counting probe
check_PROGRAMS += tests/targets/count_copies_target
tests_targets_count_copies_target_SOURCES = %D%/count_copies_target.c %D%/say.h
tests_targets_count_copies_target_CFLAGS = $(WARN_CFLAGS) -O1 -g -fno-builtin
tests_targets_count_copies_target_LDFLAGS =
check_PROGRAMS += tests/targets/count_attach_target tests/targets/count_inject_tool
tests_targets_count_attach_target_SOURCES = %D%/count_attach_target.c %D%/say.h
tests_targets_count_attach_target_CFLAGS = $(WARN_CFLAGS) -O1 -g -fno-builtin -fno-inline -fno-optimize-sibling-calls -pthread
tests_targets_count_attach_target_LDFLAGS = -pthread
tests_targets_count_attach_target_LDADD = -ldl
tests_targets_count_inject_tool_SOURCES = %D%/count_inject_tool.c
tests_targets_count_inject_tool_LDADD = $(PROBE_LIBS)
EXTRA_DIST += %D%/count_plugin.c
check_DATA += tests/targets/count_plugin.so
CLEANFILES += tests/targets/count_plugin.so
tests/targets/count_plugin.so: %D%/count_plugin.c
	$(AM_V_CC)$(CC) $(CPPFLAGS) $(CFLAGS) -fno-builtin -shared -fPIC -o $@ $(srcdir)/tests/targets/count_plugin.c

# A process with known calls, for breakpoints; also static and without symbols
check_PROGRAMS += tests/targets/go_like_target tests/targets/go_like_target_static
tests_targets_go_like_target_SOURCES = %D%/go_like_target.c
tests_targets_go_like_target_CFLAGS = $(WARN_CFLAGS)
tests_targets_go_like_target_LDFLAGS =
tests_targets_go_like_target_static_SOURCES = %D%/go_like_target.c
tests_targets_go_like_target_static_CFLAGS = $(WARN_CFLAGS)
tests_targets_go_like_target_static_LDFLAGS = -static

check_PROGRAMS += tests/targets/entry_target tests/targets/entry_target_rjem
tests_targets_entry_target_SOURCES = %D%/entry_target.c %D%/say.h
tests_targets_entry_target_CFLAGS = $(WARN_CFLAGS) -fno-builtin
tests_targets_entry_target_LDFLAGS =
tests_targets_entry_target_rjem_SOURCES = %D%/entry_target.c %D%/say.h
tests_targets_entry_target_rjem_CFLAGS = $(WARN_CFLAGS) -fno-builtin -DOWN_RJEM
tests_targets_entry_target_rjem_LDFLAGS =

check_PROGRAMS += tests/targets/uprobe_target
tests_targets_uprobe_target_SOURCES = %D%/uprobe_target.c %D%/say.h
tests_targets_uprobe_target_CFLAGS = $(WARN_CFLAGS) -fno-builtin -pthread
tests_targets_uprobe_target_LDFLAGS = -pthread
if HAVE_STATIC
check_PROGRAMS += tests/targets/uprobe_target_static tests/targets/uprobe_target_stripped
tests_targets_uprobe_target_static_SOURCES = %D%/uprobe_target.c %D%/say.h
tests_targets_uprobe_target_static_CFLAGS = $(WARN_CFLAGS) -fno-builtin -pthread
tests_targets_uprobe_target_static_LDFLAGS = -pthread -static
tests_targets_uprobe_target_stripped_SOURCES = %D%/uprobe_target.c %D%/say.h
tests_targets_uprobe_target_stripped_CFLAGS = $(WARN_CFLAGS) -fno-builtin -pthread
tests_targets_uprobe_target_stripped_LDFLAGS = -pthread -static -s
endif

# Measures how long it was stopped.
check_PROGRAMS += tests/targets/gap_target
tests_targets_gap_target_SOURCES = %D%/gap_target.c %D%/say.h
tests_targets_gap_target_CFLAGS = $(WARN_CFLAGS) -fno-builtin -pthread
tests_targets_gap_target_LDFLAGS = -pthread

check_PROGRAMS += tests/targets/blocks_target
tests_targets_blocks_target_SOURCES = %D%/blocks_target.c
tests_targets_blocks_target_CFLAGS = $(WARN_CFLAGS) -fno-builtin -pthread
tests_targets_blocks_target_LDFLAGS = -pthread

EXTRA_DIST += %D%/go_target.go %D%/node_target.js
