/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tracee/elf/link_order.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "proc/process/dir.h"

#define AUXV_MAX_BYTES 4096
#define HEADERS_MAX 64
#define DYNAMIC_MAX 256
/*
 * Maximum number of files, which exceeds that of any real program. The limit ends the
 * loop if the list is circular.
 */
#define FILES_MAX 4096

/* The address and number of the program headers, from the auxiliary vector. */
struct program_headers {
	uint64_t addr, count;
};

static int read_auxv(int process_fd, struct program_headers *ret)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct program_headers found = { 0, 0 };
	Elf64_auxv_t entry;
	int r = proc_dir_read(process_fd, PROC_AUXV, AUXV_MAX_BYTES, &text);

	if (r < 0)
		return r;
	for (size_t i = 0; i + sizeof(entry) <= text.length; i += sizeof(entry)) {
		memcpy(&entry, text.text + i, sizeof(entry));
		if (entry.a_type == AT_PHDR)
			found.addr = entry.a_un.a_val;
		if (entry.a_type == AT_PHNUM)
			found.count = entry.a_un.a_val;
	}
	if (found.addr == 0 || found.count == 0 || found.count > HEADERS_MAX)
		return -EBADMSG;
	*ret = found;
	return 0;
}

/* Find the address of the program's dynamic section. Return 0, -ENODATA or -EBADMSG. */
static int find_dynamic(struct memory *memory, const struct program_headers *headers,
			uint64_t *ret_addr)
{
	uint64_t base_addr = 0, dynamic_vaddr = 0;
	bool has_base = false;

	for (uint64_t i = 0; i < headers->count; i++) {
		Elf64_Phdr header;

		if (!memory_read(memory, headers->addr + i * sizeof(header), &header,
				 sizeof(header)))
			return -EBADMSG;
		if (header.p_type == PT_PHDR) {
			base_addr = headers->addr - header.p_vaddr;
			has_base = true;
		}
		if (header.p_type == PT_DYNAMIC)
			dynamic_vaddr = header.p_vaddr;
	}
	if (!has_base || dynamic_vaddr == 0)
		return -ENODATA;
	*ret_addr = base_addr + dynamic_vaddr;
	return 0;
}

/*
 * Find the head of the dynamic linker's list of files, which the dynamic section points
 * to (DT_DEBUG). Return 0, -ENODATA or -EBADMSG.
 */
static int find_list(struct memory *memory, uint64_t dynamic_addr, uint64_t *ret_addr)
{
	for (size_t i = 0; i < DYNAMIC_MAX; i++) {
		struct r_debug debug;
		Elf64_Dyn entry;

		if (!memory_read(memory, dynamic_addr + i * sizeof(entry), &entry,
				 sizeof(entry)))
			return -EBADMSG;
		if (entry.d_tag == DT_NULL)
			return -ENODATA;
		if (entry.d_tag != DT_DEBUG)
			continue;
		if (entry.d_un.d_ptr == 0)
			return -ENODATA;
		if (!memory_read(memory, entry.d_un.d_ptr, &debug, sizeof(debug)))
			return -EBADMSG;
		*ret_addr = (uint64_t)(uintptr_t)debug.r_map;
		return 0;
	}
	return -EBADMSG;
}

static void add_file(struct memory *memory, uint64_t dynamic_addr,
		     struct link_order *order)
{
	const struct mapping *m = memory_find_mapping(memory, dynamic_addr);

	/* skip the vDSO: the dynamic linker lists it, but it has no file */
	if (!m || m->inode == 0)
		return;
	order->items = xgrow(order->items, &order->capacity, order->count + 1,
			     sizeof(*order->items));
	order->items[order->count++] = m;
}

int link_order_read(struct memory *memory, struct link_order *ret)
{
	struct link_order order = LINK_ORDER_INIT;
	struct program_headers headers;
	uint64_t addr;
	int r;

	r = read_auxv(memory->process_fd, &headers);
	if (r == 0)
		r = find_dynamic(memory, &headers, &addr);
	if (r == 0)
		r = find_list(memory, addr, &addr);
	for (size_t i = 0; r == 0 && addr != 0; i++) {
		struct link_map map;

		if (i == FILES_MAX || !memory_read(memory, addr, &map, sizeof(map))) {
			r = -EBADMSG;
			break;
		}
		add_file(memory, (uint64_t)(uintptr_t)map.l_ld, &order);
		addr = (uint64_t)(uintptr_t)map.l_next;
	}
	if (r == 0 && order.count == 0)
		r = -ENODATA;
	if (r < 0) {
		link_order_release(&order);
		return r;
	}
	*ret = order;
	return 0;
}

void link_order_release(struct link_order *order)
{
	free(order->items);
	*order = (struct link_order)LINK_ORDER_INIT;
}
