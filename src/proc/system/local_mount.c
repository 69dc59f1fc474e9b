/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/system/local_mount.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/compat.h"
#include "base/io.h"
#include "base/key_lines.h"
#include "base/mount_line.h"
#include "base/strbuf.h"
#include "base/units.h"

#define MOUNTINFO_SIZE_MAX (16 * MIB)
#define FDINFO_SIZE_MAX MIB

/*
 * Types of file systems that are internal to the kernel or on a disk of this machine.
 * virtiofs counts as local, because the host of the virtual machine serves it.
 */
static const char *const local_types[] = {
	"bcachefs", "bpf",	 "btrfs",    "cgroup",	 "cgroup2",  "configfs",
	"cramfs",   "debugfs",	 "devpts",   "devtmpfs", "efivarfs", "erofs",
	"exfat",    "ext2",	 "ext3",     "ext4",	 "f2fs",     "hfs",
	"hfsplus",  "hugetlbfs", "iso9660",  "jffs2",	 "jfs",	     "minix",
	"mqueue",   "msdos",	 "nilfs2",   "nsfs",	 "ntfs3",    "proc",
	"pstore",   "ramfs",	 "reiserfs", "rootfs",	 "romfs",    "securityfs",
	"squashfs", "sysfs",	 "tmpfs",    "tracefs",	 "ubifs",    "udf",
	"vfat",	    "virtiofs",	 "xfs",	     "zfs",
};

/*
 * A search for a mount by its id. For an overlay, the search also checks whether a
 * privileged user has mounted it.
 */
struct search {
	uint64_t id;
	/*
	 * Device of an overlay that was found only in the process's own mount namespace,
	 * where an unprivileged user may have mounted it.
	 */
	uint32_t major, minor;
	bool is_own, is_found, is_overlay;
	int result;
};

/*
 * Read a file. The signal handler of open_guard, which intercepts openat(), calls this
 * function. O_NONBLOCK prevents recursion, because open_guard does not intercept calls
 * with this flag.
 */
static int read_file(int dir_fd, const char *path, size_t limit, struct strbuf *out)
{
	_cleanup_close_ int fd =
		openat(dir_fd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	return fd < 0 ? -errno : io_read_all(fd, limit, out);
}

bool local_mount_is_type(const char *type, bool trusts_overlays)
{
	for (size_t i = 0; i < sizeof(local_types) / sizeof(local_types[0]); i++)
		if (strcmp(local_types[i], type) == 0)
			return true;
	return trusts_overlays && strcmp(type, "overlay") == 0;
}

int local_mount_find_id(int fd, uint64_t *ret)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	char path[40];
	int r;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	r = read_file(AT_FDCWD, path, FDINFO_SIZE_MAX, &text);
	if (r < 0)
		return r == -ENOENT ? -ENOSYS : r; /* /proc is not mounted */
	return key_lines_find_u64(strbuf_text(&text), "mnt_id:", ret) ? 0 : -EBADMSG;
}

static bool is_accepted(const struct search *s, const char *type, bool is_trusted)
{
	if (local_mount_is_type(type, is_trusted))
		return true;
	return s->is_own && is_trusted && strncmp(type, "fuse", 4) != 0 &&
	       strcmp(type, "autofs") != 0;
}

/*
 * Compare a mount with the mount being looked for. is_trusted is set for the mount
 * namespaces of memstate and of process 1, where only a privileged user can have mounted
 * an overlay.
 */
static void compare_mount(struct search *s, const struct mount_line *mount,
			  bool is_trusted)
{
	if (s->is_overlay && is_trusted && mount->major == s->major &&
	    mount->minor == s->minor && strcmp(mount->type, "overlay") == 0)
		s->result = 0;
	if (s->is_found || mount->id != s->id)
		return;
	s->is_found = true;
	s->result = is_accepted(s, mount->type, is_trusted) ? 0 : -EREMOTE;
	s->is_overlay = !is_trusted && strcmp(mount->type, "overlay") == 0;
	s->major = mount->major;
	s->minor = mount->minor;
}

static void search_mounts(struct search *s, int dir_fd, const char *path, bool is_trusted)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct mount_line mount;
	char *rest;

	if (read_file(dir_fd, path, MOUNTINFO_SIZE_MAX, &text) < 0)
		return;
	strbuf_text(&text);
	rest = text.text;
	while (mount_line_next(&rest, &mount))
		compare_mount(s, &mount, is_trusted);
}

static void search_trusted(struct search *s)
{
	search_mounts(s, AT_FDCWD, "/proc/self/mountinfo", true);
	if (!s->is_found || s->is_overlay)
		search_mounts(s, AT_FDCWD, "/proc/1/mountinfo", true);
}

/*
 * Return true if the file is a memfd or shared memory, whose mount is not in any
 * namespace.
 */
static bool is_kernel_memory(int fd)
{
	_cleanup_close_ int memory_fd = memfd_create("device", MFD_CLOEXEC);
	struct statx known, found;

	/*
	 * if the mask is 0, the kernel answers statx(2) from the inode without a request
	 * to the file system
	 */
	return memory_fd >= 0 && statx(memory_fd, "", AT_EMPTY_PATH, 0, &known) == 0 &&
	       statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, 0, &found) == 0 &&
	       known.stx_dev_major == found.stx_dev_major &&
	       known.stx_dev_minor == found.stx_dev_minor;
}

int local_mount_check(int process_fd, int fd)
{
	struct search s = { .is_own = process_fd == LOCAL_MOUNT_OWN, .result = -EREMOTE };
	int r = local_mount_find_id(fd, &s.id);

	if (r < 0)
		return r;
	search_trusted(&s);
	if (!s.is_found && process_fd != LOCAL_MOUNT_OWN) {
		search_mounts(&s, process_fd, "mountinfo", false);
		if (s.is_overlay)
			search_trusted(&s);
	}
	return s.is_found || !is_kernel_memory(fd) ? s.result : 0;
}
