# What runs in other processes. The helper as a blob is built with no option but these, whatever the rest is built
# with: it has no libc, so nothing that instruments or hardens code can work in it.
AGENT_BLOB_CFLAGS = -std=gnu11 -O2 -fPIC -ffreestanding -fno-builtin -fvisibility=hidden \
	-fno-stack-protector -fno-asynchronous-unwind-tables -fcf-protection=none \
	-mno-red-zone -Wall -Wextra -DAGENT_BLOB -I$(top_srcdir)/src

EXTRA_DIST += %D%/helper.ld
if HAVE_AGENT
%D%/helper.blob.o: $(srcdir)/%D%/helper.c $(srcdir)/%D%/helper.h $(srcdir)/%D%/abi.h $(srcdir)/%D%/syscalls.h
	@$(MKDIR_P) %D%
	$(AM_V_CC)$(CC) $(AGENT_BLOB_CFLAGS) -c -o $@ $(srcdir)/%D%/helper.c

# The script refuses one with relocations, or with data.
%D%/helper.elf: %D%/helper.blob.o $(srcdir)/%D%/helper.ld
	$(AM_V_CCLD)$(CC) -nostdlib -nostartfiles -static-pie -Wl,--no-dynamic-linker -Wl,--build-id=none \
		-Wl,-T,$(srcdir)/%D%/helper.ld -o $@ %D%/helper.blob.o

%D%/helper.bin: %D%/helper.elf
	$(AM_V_GEN)$(OBJCOPY) -O binary -j .text %D%/helper.elf $@

%D%/libagent_a-blob.$(OBJEXT): %D%/helper.bin
CLEANFILES += %D%/helper.blob.o %D%/helper.elf %D%/helper.bin
endif

noinst_LIBRARIES += %D%/libagent.a
%C%_libagent_a_SOURCES = \
	%D%/abi.h \
	%D%/blob.c \
	%D%/blob.h \
	%D%/helper.h \
	%D%/syscalls.h
%C%_libagent_a_CFLAGS = $(AM_CFLAGS) -Wa,-I,%D%
AGENT_LIBS = %D%/libagent.a
