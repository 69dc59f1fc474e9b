noinst_LIBRARIES += %D%/libtarget.a
%C%_libtarget_a_SOURCES = \
	%D%/allocator_code.c \
	%D%/allocator_code.h \
	%D%/dwarf_frames.c \
	%D%/dwarf_frames.h \
	%D%/elf_exports.c \
	%D%/elf_exports.h \
	%D%/elf_imports.c \
	%D%/elf_imports.h \
	%D%/elf_symbols.c \
	%D%/elf_symbols.h \
	%D%/exit_trace.c \
	%D%/exit_trace.h \
	%D%/expendable.c \
	%D%/expendable.h \
	%D%/give_back.c \
	%D%/give_back.h \
	%D%/hold.c \
	%D%/hold.h \
	%D%/link_order.c \
	%D%/link_order.h \
	%D%/mapped_file.c \
	%D%/mapped_file.h \
	%D%/memory.c \
	%D%/memory.h \
	%D%/open_guard.c \
	%D%/open_guard.h \
	%D%/peek.c \
	%D%/peek.h \
	%D%/registers.c \
	%D%/registers.h \
	%D%/stop.c \
	%D%/stop.h \
	%D%/stopped_work.c \
	%D%/stopped_work.h \
	%D%/symbol_name.c \
	%D%/symbol_name.h \
	%D%/symbol_ranges.c \
	%D%/symbol_ranges.h \
	%D%/symbolize.c \
	%D%/symbolize.h \
	%D%/symbols.c \
	%D%/symbols.h \
	%D%/trace.c \
	%D%/trace.h \
	%D%/watchdog.c \
	%D%/watchdog.h
%C%_libtarget_a_CFLAGS = $(AM_CFLAGS) $(LIBELF_CFLAGS) $(LIBDW_CFLAGS)
TARGET_LIBS = %D%/libtarget.a $(MODEL_LIBS)
