/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The dynamic linker's module list in a process's memory. The input is AUXV_BYTES of the
 * auxiliary vector, then the memory from MEMORY_ADDR on.
 */
#include "config.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "fuzz.h"
#include "tracee/elf/link_order.h"

#define AUXV_BYTES 64
#define PAGE 4096
#define MEMORY_ADDR UINT64_C(0x10000)
#define MEMORY_BYTES (8 * PAGE)
#define FIRST_PAGE (MEMORY_ADDR / PAGE)

static char folder[64];
static int folder_fd = -1, auxv_fd, mem_fd, pagemap_fd;

static void remove_folder(void)
{
	unlinkat(folder_fd, "auxv", 0);
	rmdir(folder);
}

/* Make a stand-in for /proc/PID of a process whose memory is all resident. */
static void make_process(void)
{
	uint64_t entries[FIRST_PAGE + MEMORY_BYTES / PAGE] = { 0 };

	for (size_t i = FIRST_PAGE; i < sizeof(entries) / sizeof(entries[0]); i++)
		entries[i] = UINT64_C(1) << 63;
	snprintf(folder, sizeof(folder), "/tmp/memstate-fuzz-XXXXXX");
	CHECK(mkdtemp(folder));
	folder_fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	auxv_fd = openat(folder_fd, "auxv", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	mem_fd = memfd_create("mem", MFD_CLOEXEC);
	pagemap_fd = memfd_create("pagemap", MFD_CLOEXEC);
	CHECK(folder_fd >= 0 && auxv_fd >= 0 && mem_fd >= 0 && pagemap_fd >= 0);
	CHECK(io_write_all(pagemap_fd, entries, sizeof(entries)) == 0);
	CHECK(atexit(remove_folder) == 0);
}

static void add_mapping(struct mapping_list *mappings, uint64_t inode, uint64_t start,
			uint64_t end)
{
	struct mapping m = { .start_addr = start,
			     .end_addr = end,
			     .inode = inode,
			     .flags = MAPPING_READ,
			     .name = "" };

	mapping_list_add(mappings, &m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mapping_list mappings = MAPPING_LIST_INIT;
	struct memory memory = MEMORY_INIT;
	struct link_order order = LINK_ORDER_INIT;
	size_t in_auxv = size < AUXV_BYTES ? size : AUXV_BYTES;
	size_t in_memory = size - in_auxv < MEMORY_BYTES ? size - in_auxv : MEMORY_BYTES;

	if (folder_fd < 0)
		make_process();
	CHECK(ftruncate(auxv_fd, 0) == 0 && ftruncate(mem_fd, 0) == 0 &&
	      ftruncate(mem_fd, MEMORY_ADDR + MEMORY_BYTES) == 0);
	CHECK(pwrite(auxv_fd, data, in_auxv, 0) == (ssize_t)in_auxv);
	CHECK(pwrite(mem_fd, data + in_auxv, in_memory, MEMORY_ADDR) ==
	      (ssize_t)in_memory);
	add_mapping(&mappings, 7, MEMORY_ADDR, MEMORY_ADDR + 4 * PAGE);
	add_mapping(&mappings, 0, MEMORY_ADDR + 4 * PAGE, MEMORY_ADDR + MEMORY_BYTES);
	memory.process_fd = folder_fd;
	memory.mem_fd = mem_fd;
	memory.pagemap_fd = pagemap_fd;
	memory.mappings = &mappings;
	if (link_order_read(&memory, &order) == 0) {
		CHECK(order.count > 0);
		for (size_t i = 0; i < order.count; i++)
			CHECK(order.items[i] == &mappings.items[0]);
	}
	link_order_release(&order);
	memory_release(&memory);
	mapping_list_release(&mappings);
	return 0;
}
