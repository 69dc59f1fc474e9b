/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "self.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "unit.h"

static void read_maps(struct mapping_list *list)
{
	FILE *f = fopen("/proc/self/maps", "re");
	char line[8192];

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		struct mapping m = { .name = "" };
		char perms[5];
		int at = 0;

		assert_true(sscanf(line,
				   "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %" SCNx32
				   ":%" SCNx32 " %" SCNu64 " %n",
				   &m.start_addr, &m.end_addr, perms,
				   &m.file_offset_bytes, &m.dev_major, &m.dev_minor,
				   &m.inode, &at) >= 7);
		m.flags = (perms[0] == 'r' ? MAPPING_READ : 0u) |
			  (perms[1] == 'w' ? MAPPING_WRITE : 0u) |
			  (perms[2] == 'x' ? MAPPING_EXEC : 0u) |
			  (perms[3] == 's' ? MAPPING_SHARED : 0u);
		line[strcspn(line, "\n")] = '\0';
		m.name = line + at;
		m.name_length = (uint32_t)strlen(m.name);
		mapping_list_add(list, &m);
	}
	fclose(f);
}

void self_init(struct self *self)
{
	*self = (struct self){ .mappings = MAPPING_LIST_INIT, .memory = MEMORY_INIT };
	self->process_fd = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(self->process_fd >= 0);
	read_maps(&self->mappings);
	self->memory.process_fd = self->process_fd;
	self->memory.mem_fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	self->memory.pagemap_fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	self->memory.mappings = &self->mappings;
	if (self->memory.mem_fd < 0 || self->memory.pagemap_fd < 0)
		skip();
}

void self_release(struct self *self)
{
	memory_release(&self->memory);
	close(self->memory.mem_fd);
	close(self->memory.pagemap_fd);
	close(self->process_fd);
	mapping_list_release(&self->mappings);
}

struct mapping *self_mapping(struct self *self, const void *at)
{
	for (size_t i = 0; i < self->mappings.count; i++) {
		struct mapping *m = &self->mappings.items[i];

		if ((uintptr_t)at >= m->start_addr && (uintptr_t)at < m->end_addr)
			return m;
	}
	fail_msg("no mapping");
	return NULL;
}
