/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/system/mounts.h"

#include <stdlib.h>
#include <string.h>

#include "base/mount_line.h"
#include "base/xalloc.h"

#define MOUNTINFO_SIZE_MAX (4 * 1024 * 1024)

void tmpfs_devices_release(struct tmpfs_devices *devices)
{
	free(devices->items);
	*devices = (struct tmpfs_devices)TMPFS_DEVICES_INIT;
}

static struct tmpfs_device *find(struct tmpfs_devices *devices, uint32_t major,
				 uint32_t minor)
{
	for (size_t i = 0; i < devices->count; i++)
		if (devices->items[i].major == major && devices->items[i].minor == minor)
			return &devices->items[i];
	return NULL;
}

/* Add a device to the cache, unless the cache contains it already. Return its entry. */
static const struct tmpfs_device *add(struct tmpfs_devices *devices, uint32_t major,
				      uint32_t minor, bool is_tmpfs)
{
	const struct tmpfs_device *known = find(devices, major, minor);

	if (known)
		return known;
	devices->items = xgrow(devices->items, &devices->capacity, devices->count + 1,
			       sizeof(*devices->items));
	devices->items[devices->count++] =
		(struct tmpfs_device){ major, minor, is_tmpfs };
	return &devices->items[devices->count - 1];
}

void proc_mounts_parse(struct tmpfs_devices *devices, const char *text)
{
	char *copy = xstrdup(text);
	char *rest = copy;
	struct mount_line mount;

	while (mount_line_next(&rest, &mount))
		if (strcmp(mount.type, "tmpfs") == 0 ||
		    strcmp(mount.type, "devtmpfs") == 0)
			add(devices, mount.major, mount.minor, true);
	free(copy);
}

bool proc_mounts_is_tmpfs(struct tmpfs_devices *devices, const struct procfs *fs, int pid,
			  uint32_t major, uint32_t minor)
{
	const struct tmpfs_device *known = find(devices, major, minor);

	if (!known) {
		_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

		if (procfs_read_file(fs, pid, "mountinfo", MOUNTINFO_SIZE_MAX, &text) ==
		    0)
			proc_mounts_parse(devices, strbuf_text(&text));
		known = add(devices, major, minor, false);
	}
	return known->is_tmpfs;
}
