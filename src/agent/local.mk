# Code that runs in other processes. The blobs are built with only these options, whatever the rest of memstate is
# built with: they have no libc, so instrumentation and hardening cannot work in them. Stack canaries would be read
# from thread-local storage that the blobs cannot rely on, and processes with a shadow stack are refused.
AGENT_BLOB_CFLAGS = -std=gnu11 -O2 -fPIC -ffreestanding -fno-builtin -fvisibility=hidden \
	-fno-stack-protector -fno-asynchronous-unwind-tables -fcf-protection=none \
	-mno-red-zone -Wall -Wextra -DAGENT_BLOB -I$(top_srcdir)/src

EXTRA_DIST += %D%/count/hooks.c %D%/count/hooks.ld %D%/count/hooks_inside.h %D%/count/hooks_keep.h %D%/count/hooks_stacks.c %D%/helper/helper.c %D%/helper/helper.ld %D%/helper/preload.c
if HAVE_AGENT
%D%/helper.blob.o: $(srcdir)/%D%/helper/helper.c $(srcdir)/%D%/helper/helper.h $(srcdir)/%D%/helper/abi.h $(srcdir)/%D%/system/blob_memory.h $(srcdir)/%D%/system/syscalls.h
	@$(MKDIR_P) %D%
	$(AM_V_CC)$(CC) $(AGENT_BLOB_CFLAGS) -c -o $@ $(srcdir)/%D%/helper/helper.c

# The linker script rejects relocations and writable data.
%D%/helper.elf: %D%/helper.blob.o $(srcdir)/%D%/helper/helper.ld
	$(AM_V_CCLD)$(CC) -nostdlib -nostartfiles -static-pie -Wl,--no-dynamic-linker -Wl,--build-id=none \
		-Wl,-T,$(srcdir)/%D%/helper/helper.ld -o $@ %D%/helper.blob.o

%D%/helper.bin: %D%/helper.elf
	$(AM_V_GEN)$(OBJCOPY) -O binary -j .text %D%/helper.elf $@

# The counting hooks for a running process, built in the same way. Those of hooks.c leave the
# registers for floating-point numbers alone, see hooks_keep.h.
hooks_files = count/hooks count/hooks_stacks count/stack_blocks count/stack_record \
	count/stack_sample count/stack_trie unwind/unwind unwind/cfi unwind/row \
	unwind/rules
hooks_headers = system/ask.h system/blob_memory.h count/abi.h count/extra.h count/hooks.h count/hooks_inside.h \
	count/hooks_keep.h count/stack_abi.h count/stack_blocks.h count/stack_file.h \
	count/stack_record.h count/stack_sample.h count/stack_trie.h system/syscalls.h \
	unwind/unwind.h unwind/bytes.h unwind/cfi.h unwind/row.h
%D%/count_hooks.elf: $(hooks_files:%=$(srcdir)/%D%/%.c) $(hooks_headers:%=$(srcdir)/%D%/%) $(srcdir)/%D%/count/hooks.ld
	@$(MKDIR_P) %D%/hooks/count %D%/hooks/unwind
	$(AM_V_CCLD)for f in $(hooks_files); do \
		$(CC) $(AGENT_BLOB_CFLAGS) $$(test $$f = count/hooks && echo -mgeneral-regs-only) -c -o %D%/hooks/$$f.o $(srcdir)/%D%/$$f.c || exit 1; \
	done; \
	$(CC) -nostdlib -nostartfiles -static-pie -Wl,--no-dynamic-linker -Wl,--build-id=none \
		-Wl,-T,$(srcdir)/%D%/count/hooks.ld -o $@ $(hooks_files:%=%D%/hooks/%.o)

%D%/count_hooks.bin: %D%/count_hooks.elf
	$(AM_V_GEN)$(OBJCOPY) -O binary -j .text %D%/count_hooks.elf $@

%D%/libagent_a-blob.$(OBJEXT): %D%/helper.bin %D%/count_hooks.bin

# The preload library with the helper. It is never sanitized: the program may not be.
agentdir = $(pkglibdir)
agent_PROGRAMS = %D%/libmemstate-agent.so
%C%_libmemstate_agent_so_SOURCES = %D%/helper/helper.c %D%/helper/preload.c
%C%_libmemstate_agent_so_CFLAGS = $(WARN_CFLAGS) $(AGENT_HARDEN_CFLAGS) -fPIC -fvisibility=hidden
%C%_libmemstate_agent_so_LDFLAGS = -shared -Wl,-soname,libmemstate-agent.so $(AGENT_HARDEN_LDFLAGS)
%C%_libmemstate_agent_so_LDADD = -lpthread -ldl
CLEANFILES += %D%/helper.blob.o %D%/helper.elf %D%/helper.bin \
	%D%/count_hooks.elf %D%/count_hooks.bin $(hooks_files:%=%D%/hooks/%.o)
endif

noinst_LIBRARIES += %D%/libagent.a
%C%_libagent_a_SOURCES = \
	%D%/blob.c \
	%D%/blob.h \
	%D%/count/extra.h \
	%D%/count/hooks.h \
	%D%/helper/abi.h \
	%D%/helper/helper.h \
	%D%/system/blob_memory.h \
	%D%/system/syscalls.h \
	%D%/unwind/bytes.h \
	%D%/unwind/cfi.c \
	%D%/unwind/cfi.h \
	%D%/unwind/rules.c
%C%_libagent_a_CFLAGS = $(AM_CFLAGS) -Wa,-I,%D%
AGENT_LIBS = %D%/libagent.a

# The counting libraries: full counts or calls only; with or without an allocator's own new and delete. The user's
# CFLAGS control optimization and debug information; memstate's instrumentation must not get into other programs.
# ld.so sets the stack canary before it relocates the first library, hence before any code here is called.
# -fno-builtin: the compiler must not assume anything about malloc().
count_files = %D%/system/ask.h %D%/count/count.c %D%/count/abi.h %D%/count/entry.c %D%/count/entry.h %D%/count/extra.h %D%/count/inside.h %D%/count/next.c %D%/count/seal.c %D%/count/slots.c %D%/count/stacks.h \
	%D%/system/new_file.c %D%/system/new_file.h %D%/system/syscalls.h
stack_files = %D%/count/stack_abi.h %D%/count/stack_blocks.c %D%/count/stack_blocks.h %D%/count/stack_file.c %D%/count/stack_file.h \
	%D%/count/stack_record.c %D%/count/stack_record.h %D%/count/stack_sample.c %D%/count/stack_sample.h %D%/count/stack_trie.c \
	%D%/count/stack_trie.h %D%/unwind/unwind.c %D%/unwind/unwind.h %D%/unwind/bytes.h %D%/unwind/cfi.c \
	%D%/unwind/cfi.h %D%/unwind/row.c %D%/unwind/row.h %D%/unwind/rules.c
count_stack_files = $(count_files) $(stack_files) %D%/count/modules.c %D%/count/stacks.c
count_compile = $(WARN_CFLAGS) -std=gnu11 -fPIC -fvisibility=hidden -fno-builtin -ftls-model=initial-exec \
	$(AGENT_HARDEN_CFLAGS) -fexceptions -U_FORTIFY_SOURCE
# Data stored word by word is read back soon: a wider load would have to wait for the stores.
count_stack_compile = $(count_compile) -DCOUNT_WITH_STACKS -fno-tree-vectorize -fno-tree-slp-vectorize
count_link = -shared $(AGENT_HARDEN_LDFLAGS) -Wl,-z,defs
EXTRA_DIST += $(count_stack_files) %D%/count/family.c %D%/count/new.c
if HAVE_AGENT
agent_PROGRAMS += %D%/libmemstate-count.so %D%/libmemstate-count-calls.so \
	%D%/libmemstate-count-new.so %D%/libmemstate-count-calls-new.so \
	%D%/libmemstate-count-stacks.so %D%/libmemstate-count-stacks-new.so
%C%_libmemstate_count_so_SOURCES = $(count_files)
%C%_libmemstate_count_so_CFLAGS = $(count_compile)
%C%_libmemstate_count_so_LDFLAGS = $(count_link)
%C%_libmemstate_count_calls_so_SOURCES = $(count_files)
%C%_libmemstate_count_calls_so_CFLAGS = $(count_compile) -DCOUNT_WITHOUT_LIVE
%C%_libmemstate_count_calls_so_LDFLAGS = $(count_link)
%C%_libmemstate_count_new_so_SOURCES = $(count_files) %D%/count/new.c
%C%_libmemstate_count_new_so_CFLAGS = $(count_compile) -DCOUNT_WITH_NEW
%C%_libmemstate_count_new_so_LDFLAGS = $(count_link)
%C%_libmemstate_count_calls_new_so_SOURCES = $(count_files) %D%/count/new.c
%C%_libmemstate_count_calls_new_so_CFLAGS = $(count_compile) -DCOUNT_WITHOUT_LIVE -DCOUNT_WITH_NEW
%C%_libmemstate_count_calls_new_so_LDFLAGS = $(count_link)
%C%_libmemstate_count_stacks_so_SOURCES = $(count_stack_files)
%C%_libmemstate_count_stacks_so_CFLAGS = $(count_stack_compile)
%C%_libmemstate_count_stacks_so_LDFLAGS = $(count_link)
%C%_libmemstate_count_stacks_new_so_SOURCES = $(count_stack_files) %D%/count/new.c
%C%_libmemstate_count_stacks_new_so_CFLAGS = $(count_stack_compile) -DCOUNT_WITH_NEW
%C%_libmemstate_count_stacks_new_so_LDFLAGS = $(count_link)
# One library per allocator for its additional entry points, see entry.h. They call functions of the
# counting libraries above.
family_files = %D%/count/abi.h %D%/count/entry.h %D%/count/extra.h %D%/count/family.c
family_compile = $(count_compile) -fno-omit-frame-pointer
agent_PROGRAMS += %D%/libmemstate-count-jemalloc.so %D%/libmemstate-count-je.so \
	%D%/libmemstate-count-rjem.so %D%/libmemstate-count-mimalloc.so %D%/libmemstate-count-tcmalloc.so
%C%_libmemstate_count_jemalloc_so_SOURCES = $(family_files)
%C%_libmemstate_count_jemalloc_so_CFLAGS = $(family_compile) -DCOUNT_FAMILY=COUNT_EXTRA_JEMALLOC -DCOUNT_FAMILY_USABLE='"sallocx"'
%C%_libmemstate_count_jemalloc_so_LDFLAGS = -shared $(AGENT_HARDEN_LDFLAGS)
%C%_libmemstate_count_je_so_SOURCES = $(family_files)
%C%_libmemstate_count_je_so_CFLAGS = $(family_compile) -DCOUNT_FAMILY=COUNT_EXTRA_JE -DCOUNT_FAMILY_USABLE='"je_malloc_usable_size"'
%C%_libmemstate_count_je_so_LDFLAGS = -shared $(AGENT_HARDEN_LDFLAGS)
%C%_libmemstate_count_rjem_so_SOURCES = $(family_files)
%C%_libmemstate_count_rjem_so_CFLAGS = $(family_compile) -DCOUNT_FAMILY=COUNT_EXTRA_RJEM -DCOUNT_FAMILY_USABLE='"_rjem_malloc_usable_size"'
%C%_libmemstate_count_rjem_so_LDFLAGS = -shared $(AGENT_HARDEN_LDFLAGS)
%C%_libmemstate_count_mimalloc_so_SOURCES = $(family_files)
%C%_libmemstate_count_mimalloc_so_CFLAGS = $(family_compile) -DCOUNT_FAMILY=COUNT_EXTRA_MI -DCOUNT_FAMILY_USABLE='"mi_usable_size"'
%C%_libmemstate_count_mimalloc_so_LDFLAGS = -shared $(AGENT_HARDEN_LDFLAGS)
%C%_libmemstate_count_tcmalloc_so_SOURCES = $(family_files)
%C%_libmemstate_count_tcmalloc_so_CFLAGS = $(family_compile) -DCOUNT_FAMILY=COUNT_EXTRA_TC -DCOUNT_FAMILY_USABLE='"tc_malloc_size"'
%C%_libmemstate_count_tcmalloc_so_LDFLAGS = -shared $(AGENT_HARDEN_LDFLAGS)
endif
