noinst_LIBRARIES += %D%/libtracee.a
%C%_libtracee_a_SOURCES = \
	%D%/elf/allocator_code.c \
	%D%/elf/allocator_code.h \
	%D%/elf/build_id.c \
	%D%/elf/build_id.h \
	%D%/elf/exports.c \
	%D%/elf/exports.h \
	%D%/elf/imports.c \
	%D%/elf/imports.h \
	%D%/elf/link_order.c \
	%D%/elf/link_order.h \
	%D%/elf/reader.c \
	%D%/elf/reader.h \
	%D%/elf/symbols.c \
	%D%/elf/symbols.h \
	%D%/elf/window.c \
	%D%/elf/window.h \
	%D%/memory/expendable.c \
	%D%/memory/expendable.h \
	%D%/memory/find_words.c \
	%D%/memory/find_words.h \
	%D%/memory/mapped_file.c \
	%D%/memory/mapped_file.h \
	%D%/memory/memory.c \
	%D%/memory/memory.h \
	%D%/memory/open_guard.c \
	%D%/memory/open_guard.h \
	%D%/memory/peek.c \
	%D%/memory/peek.h \
	%D%/ptrace/exit_trace.c \
	%D%/ptrace/exit_trace.h \
	%D%/ptrace/hold.c \
	%D%/ptrace/hold.h \
	%D%/ptrace/registers.c \
	%D%/ptrace/registers.h \
	%D%/ptrace/release_calls.c \
	%D%/ptrace/release_calls.h \
	%D%/ptrace/stop.c \
	%D%/ptrace/stop.h \
	%D%/ptrace/stopped_work.c \
	%D%/ptrace/stopped_work.h \
	%D%/ptrace/trace.c \
	%D%/ptrace/trace.h \
	%D%/ptrace/watchdog.c \
	%D%/ptrace/watchdog.h \
	%D%/symbols/dwarf_frames.c \
	%D%/symbols/dwarf_frames.h \
	%D%/symbols/name.c \
	%D%/symbols/name.h \
	%D%/symbols/ranges.c \
	%D%/symbols/ranges.h \
	%D%/symbols/symbolize.c \
	%D%/symbols/symbolize.h \
	%D%/symbols/symbols.c \
	%D%/symbols/symbols.h
%C%_libtracee_a_CFLAGS = $(AM_CFLAGS) $(LIBELF_CFLAGS) $(LIBDW_CFLAGS)
TRACEE_LIBS = %D%/libtracee.a $(PROC_LIBS)
