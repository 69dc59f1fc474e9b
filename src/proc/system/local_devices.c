/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/system/local_devices.h"

#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/mount_line.h"
#include "base/strbuf.h"
#include "base/xalloc.h"
#include "proc/system/local_mount.h"

#define MOUNTINFO_SIZE_MAX (16 * 1024 * 1024)

void local_devices_release(struct local_devices *devices)
{
	free(devices->items);
	*devices = (struct local_devices)LOCAL_DEVICES_INIT;
}

static struct local_device *find(const struct local_devices *devices, uint32_t major,
				 uint32_t minor)
{
	for (size_t i = 0; i < devices->count; i++)
		if (devices->items[i].minor == minor && devices->items[i].major == major)
			return &devices->items[i];
	return NULL;
}

static void add(struct local_devices *devices, uint32_t major, uint32_t minor,
		bool is_local)
{
	struct local_device *known = find(devices, major, minor);

	if (known) {
		known->is_local = known->is_local || is_local;
		return;
	}
	devices->items = xgrow(devices->items, &devices->capacity, devices->count + 1,
			       sizeof(*devices->items));
	devices->items[devices->count++] =
		(struct local_device){ major, minor, is_local };
}

void local_devices_parse(struct local_devices *devices, const char *text,
			 bool trusts_overlays)
{
	_cleanup_free_ char *copy = xstrdup(text);
	struct mount_line mount;
	char *rest = copy;

	while (mount_line_next(&rest, &mount))
		if (local_mount_is_type(mount.type, trusts_overlays))
			add(devices, mount.major, mount.minor, true);
}

static void read_mounts(struct local_devices *devices, int process_fd, const char *path,
			bool trusts_overlays)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	if (io_read_file_at(process_fd, path, MOUNTINFO_SIZE_MAX, &text) == 0)
		local_devices_parse(devices, strbuf_text(&text), trusts_overlays);
}

/*
 * Mark the device of fd as local, and close fd. The file of fd is on a file system that
 * is internal to the kernel and not listed in any mountinfo file.
 */
static void add_kernel_file(struct local_devices *devices, int fd)
{
	struct stat st;

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0)
		add(devices, major(st.st_dev), minor(st.st_dev), true);
	close(fd);
}

bool local_devices_find(const struct local_devices *devices, uint32_t major,
			uint32_t minor, bool *ret_is_local)
{
	const struct local_device *known = find(devices, major, minor);

	if (known)
		*ret_is_local = known->is_local;
	return known;
}

bool local_devices_learn(struct local_devices *devices, int process_fd, uint32_t major,
			 uint32_t minor)
{
	read_mounts(devices, process_fd, "mountinfo", false);
	read_mounts(devices, process_fd, "../self/mountinfo", true);
	read_mounts(devices, process_fd, "../1/mountinfo", true);
	/*
	 * add the devices of shared memory, of memfds, and of anonymous inodes such as
	 * those of io_uring
	 */
	add_kernel_file(devices, memfd_create("device", MFD_CLOEXEC));
	add_kernel_file(devices, eventfd(0, EFD_CLOEXEC));
	add(devices, major, minor, false);
	return find(devices, major, minor)->is_local;
}

void local_devices_mark(int process_fd, struct mapping_list *mappings)
{
	struct local_devices devices = LOCAL_DEVICES_INIT;

	for (size_t i = 0; i < mappings->count; i++) {
		struct mapping *m = &mappings->items[i];
		bool is_local;

		if (m->inode == 0 || m->flags & MAPPING_HUGETLB)
			continue;
		if (!local_devices_find(&devices, m->dev_major, m->dev_minor, &is_local))
			is_local = local_devices_learn(&devices, process_fd, m->dev_major,
						       m->dev_minor);
		if (!is_local)
			m->flags |= MAPPING_REMOTE;
	}
	local_devices_release(&devices);
}
