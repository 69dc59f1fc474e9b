/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/process/names.h"

#include <unistd.h>

#include "proc/process/dir.h"
#include "proc/process/file.h"

static void end(struct names *names)
{
	types_free(names->types);
	symbols_free(names->symbols);
	names->types = NULL;
	names->symbols = NULL;
	memory_release(&names->memory);
}

static void close_if_open(int fd)
{
	if (fd >= 0)
		close(fd);
}

void names_release(struct names *names)
{
	end(names);
	close_if_open(names->memory.process_fd);
	close_if_open(names->memory.mem_fd);
	close_if_open(names->memory.pagemap_fd);
	*names = (struct names)NAMES_INIT;
}

void names_open(struct names *names, const struct procfs *fs, int pid)
{
	names_release(names);
	if (fs->is_foreign)
		return;
	names->memory.process_fd = proc_dir_open(fs, pid);
	names->memory.mem_fd = proc_file_open(fs, pid, PROC_MEM);
	names->memory.pagemap_fd = proc_file_open(fs, pid, PROC_PAGEMAP);
}

void names_set_mappings(struct names *names, const struct mapping_list *mappings)
{
	end(names);
	names->memory.mappings = mappings;
	names->memory.found = 0;
}

void names_begin(struct names *names, const struct mapping_list *mappings)
{
	names_set_mappings(names, mappings);
	names->symbols = symbols_new(names->memory.process_fd, mappings);
	names->types = types_new(names->symbols, &names->memory);
}
