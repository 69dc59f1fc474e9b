/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The input is a /proc/PID/maps; its lines are like the header lines of smaps. */
#include "config.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "fuzz.h"
#include "proc/smaps/maps.h"

static char folder[64];
static int folder_fd = -1, maps_fd;

static void remove_folder(void)
{
	unlinkat(folder_fd, "maps", 0);
	rmdir(folder);
}

static void make_folder(void)
{
	snprintf(folder, sizeof(folder), "/tmp/memstate-fuzz-XXXXXX");
	CHECK(mkdtemp(folder));
	folder_fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	maps_fd = openat(folder_fd, "maps", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	CHECK(folder_fd >= 0 && maps_fd >= 0 && atexit(remove_folder) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mapping_list mappings = MAPPING_LIST_INIT;

	if (folder_fd < 0)
		make_folder();
	CHECK(ftruncate(maps_fd, 0) == 0 &&
	      pwrite(maps_fd, data, size, 0) == (ssize_t)size);
	if (proc_maps_read(folder_fd, &mappings) == 0)
		for (size_t i = 0; i < mappings.count; i++) {
			CHECK(mappings.items[i].start_addr < mappings.items[i].end_addr);
			CHECK(strlen(mappings.items[i].name) <= size);
		}
	mapping_list_release(&mappings);
	return 0;
}
