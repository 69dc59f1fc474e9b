/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/system/foreign_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/xalloc.h"
#include "proc/system/local_mount.h"
#include "proc/system/procfs.h"

#ifndef CONFIGFS_MAGIC
#	define CONFIGFS_MAGIC 0x62656570
#endif

#define FIND_FLAGS (O_PATH | O_CLOEXEC)
#define READ_FLAGS (O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)

/*
 * Maximum number of attempts: openat2() fails with EAGAIN if directories are renamed
 * during the lookup.
 */
#define LOOKUP_TRIES 16

/* The limits on symlinks and length that the kernel applies to a path. */
#define SYMLINKS_MAX 40
#define PATH_BYTES_MAX 4096

/*
 * Pseudo file systems of the kernel, such as proc. Their files are regular files, but
 * opening or reading such a file, for example /proc/kmsg, can have side effects.
 */
static const unsigned int kernel_file_systems[] = {
	PROC_SUPER_MAGIC, SYSFS_MAGIC,	      DEBUGFS_MAGIC,	   TRACEFS_MAGIC,
	SECURITYFS_MAGIC, CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC, BPF_FS_MAGIC,
	PSTOREFS_MAGIC,	  EFIVARFS_MAGIC,     SELINUX_MAGIC,	   SMACK_MAGIC,
	NSFS_MAGIC,	  BINFMTFS_MAGIC,     CONFIGFS_MAGIC,	   RDTGROUP_SUPER_MAGIC,
};

/*
 * The state of a lookup that resolves a path component by component. memstate uses this
 * method if the path crosses into another mount, if it reads on behalf of another user,
 * and if openat2() is not available: before Linux 5.6, and in some sandboxes.
 */
struct lookup {
	int root_fd;	/* owned by the caller */
	int process_fd; /* the process's /proc directory, for local_mount_check() */
	/*
	 * user on whose behalf memstate reads the file, or NULL if only memstate's own
	 * access rights matter
	 */
	const struct foreign_reader *reader;
	uint64_t mount_id; /* id of the mount that was most recently found to be local */
	/* open directories of the lookup, from the root's child downwards */
	int *dirs;
	size_t depth, capacity;
	char *rest; /* remaining path, not yet looked up */
	unsigned int symlinks;
};

static int lookup_dir(const struct lookup *l)
{
	return l->depth > 0 ? l->dirs[l->depth - 1] : l->root_fd;
}

static void lookup_enter(struct lookup *l, int fd)
{
	l->dirs = xgrow(l->dirs, &l->capacity, l->depth + 1, sizeof(*l->dirs));
	l->dirs[l->depth++] = fd;
}

static void lookup_leave(struct lookup *l)
{
	if (l->depth > 0)
		close(l->dirs[--l->depth]);
}

static void lookup_release(struct lookup *l)
{
	while (l->depth > 0)
		lookup_leave(l);
	free(l->dirs);
	free(l->rest);
}

/*
 * Return the descriptor in *fd, and set *fd to -1, so that the variable's cleanup
 * attribute does not close the descriptor.
 */
static int detach_fd(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

static bool is_on_kernel_file_system(int fd)
{
	struct statfs fs;

	if (fstatfs(fd, &fs) < 0)
		return true;
	for (size_t i = 0;
	     i < sizeof(kernel_file_systems) / sizeof(kernel_file_systems[0]); i++)
		if ((unsigned int)fs.f_type == kernel_file_systems[i])
			return true;
	return false;
}

void foreign_reader_release(struct foreign_reader *reader)
{
	free(reader->groups);
	*reader = (struct foreign_reader)FOREIGN_READER_INIT;
}

/*
 * Return true if the file has an ACL, or if memstate cannot determine whether it has one.
 */
static bool has_acl(int fd)
{
	char path[64];

	/* fgetxattr() does not accept O_PATH descriptors */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return getxattr(path, "system.posix_acl_access", NULL, 0) >= 0 ||
	       (errno != ENODATA && errno != EOPNOTSUPP);
}

static bool is_in_group(const struct foreign_reader *reader, uint32_t gid)
{
	for (size_t i = 0; i < reader->group_count; i++)
		if (reader->groups[i] == gid)
			return true;
	return reader->gid == gid;
}

/*
 * Check that the mode bits grant the reader the requested rights (S_IROTH, S_IXOTH).
 * Return 0, -EACCES or another -errno.
 */
static int check_reader(const struct foreign_reader *reader, int fd, mode_t wanted)
{
	mode_t granted;
	struct stat st;

	if (!reader)
		return 0;
	if (fstat(fd, &st) < 0)
		return -errno;
	granted = st.st_mode;
	if (reader->has_ids && st.st_uid == reader->uid)
		granted >>= 6;
	else if (has_acl(fd))
		granted = 0;
	else if (reader->has_ids && is_in_group(reader, st.st_gid))
		granted >>= 3;
	return (granted & wanted) == wanted ? 0 : -EACCES;
}

/*
 * Replace the remaining path with the symlink's target, followed by `rest`, the path
 * after the symlink. A symlink in /proc may be a magic link, so the lookup never follows
 * symlinks in /proc.
 */
static int lookup_follow(struct lookup *l, int link_fd, const char *rest)
{
	char target[PATH_BYTES_MAX];
	ssize_t length = readlinkat(link_fd, "", target, sizeof(target) - 1);
	char *joined;

	if (length < 0)
		return -errno;
	if (++l->symlinks > SYMLINKS_MAX || is_on_kernel_file_system(link_fd))
		return -ELOOP;
	target[length] = '\0';
	if (strlen(target) + strlen(rest) + 1 > PATH_BYTES_MAX)
		return -ENAMETOOLONG;
	while (target[0] == '/' && l->depth > 0)
		lookup_leave(l);
	if (asprintf(&joined, "%s%s", target, rest) < 0)
		return -ENOMEM;
	free(l->rest);
	l->rest = joined;
	return 0;
}

/*
 * Check that the file is on a local file system before sending a request to the file
 * system.
 */
static int lookup_check(struct lookup *l, int fd)
{
	uint64_t mount_id;
	int r = local_mount_find_id(fd, &mount_id);

	if (r < 0 || mount_id == l->mount_id)
		return r;
	r = local_mount_check(l->process_fd, fd);
	if (r == 0)
		l->mount_id = mount_id;
	return r;
}

/*
 * Look up one component of the path. At the last component, set *ret_fd to a descriptor
 * of the file. Return 0 or -errno.
 */
static int lookup_step(struct lookup *l, bool is_link, int *ret_fd)
{
	char *name = l->rest + strspn(l->rest, "/");
	size_t length = strcspn(name, "/");
	const char *rest = name + length;
	bool is_last = rest[strspn(rest, "/")] == '\0', must_be_dir = *rest == '/';
	char component[NAME_MAX + 1] = ".";
	_cleanup_close_ int fd = -1;
	bool is_dots;
	struct stat st;
	int r;

	if (length > NAME_MAX)
		return -ENAMETOOLONG;
	r = check_reader(l->reader, lookup_dir(l), S_IXOTH);
	if (r < 0)
		return r;
	if (length > 0)
		snprintf(component, sizeof(component), "%.*s", (int)length, name);
	is_dots = strcmp(component, ".") == 0;
	if (strcmp(component, "..") == 0) {
		is_dots = true;
		lookup_leave(l);
	}
	fd = openat(lookup_dir(l), is_dots ? "." : component, FIND_FLAGS | O_NOFOLLOW);
	if (fd < 0)
		return -errno;
	r = lookup_check(l, fd);
	if (r < 0)
		return r;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (S_ISLNK(st.st_mode) && !(is_last && is_link && !must_be_dir))
		return lookup_follow(l, fd, rest);
	if (!S_ISDIR(st.st_mode) && (!is_last || must_be_dir))
		return -ENOTDIR;
	if (is_last) {
		*ret_fd = detach_fd(&fd);
		return 0;
	}
	memmove(l->rest, rest, strlen(rest) + 1);
	if (!is_dots)
		lookup_enter(l, detach_fd(&fd));
	return 0;
}

static int look_up_manually(struct lookup l, const char *path, bool is_link)
{
	int r = strlen(path) < PATH_BYTES_MAX ? 0 : -ENAMETOOLONG;
	int fd = -1;

	l.rest = xstrdup(path);
	while (r == 0 && fd < 0)
		r = lookup_step(&l, is_link, &fd);
	lookup_release(&l);
	return r < 0 ? r : fd;
}

/*
 * Look up a path. The kernel looks up paths that stay on the mount of the root directory.
 * memstate looks up other paths component by component.
 */
static int look_up(const struct lookup *l, const char *path, bool is_link)
{
	struct open_how how = {
		.flags = FIND_FLAGS | (is_link ? O_NOFOLLOW : 0),
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV,
	};
	long fd = -1;

	/*
	 * the kernel's lookup would check memstate's access rights instead of the
	 * reader's
	 */
	if (l->reader)
		return look_up_manually(*l, path, is_link);
	errno = EAGAIN;
	for (int i = 0; i < LOOKUP_TRIES && fd < 0 && errno == EAGAIN; i++)
		fd = syscall(SYS_openat2, l->root_fd, path, &how, sizeof(how));
	/* sandboxes refuse unknown system calls with EPERM */
	if (fd < 0 && (errno == EXDEV || errno == ENOSYS || errno == EPERM))
		return look_up_manually(*l, path, is_link);
	return fd < 0 ? -errno : (int)fd;
}

/*
 * Open the root directory that a special value of root_fd stands for, such as
 * FOREIGN_OWN_ROOT.
 */
static int open_root(int root_fd)
{
	int fd;

	if (root_fd == FOREIGN_OWN_ROOT)
		fd = open("/", FIND_FLAGS | O_DIRECTORY);
	else
		fd = openat(FOREIGN_ROOT_OF(root_fd), "root", FIND_FLAGS);
	return fd < 0 ? -errno : fd;
}

static int find_for(const struct foreign_reader *reader, int root_fd, const char *path,
		    bool is_link)
{
	struct lookup l = { .root_fd = root_fd,
			    .process_fd = LOCAL_MOUNT_OWN,
			    .reader = reader };
	_cleanup_close_ int opened_fd = -1;
	int r;

	if (root_fd < 0) {
		opened_fd = open_root(root_fd);
		if (opened_fd < 0)
			return opened_fd;
		l.root_fd = opened_fd;
	}
	if (root_fd < 0 && root_fd != FOREIGN_OWN_ROOT) {
		l.process_fd = FOREIGN_ROOT_OF(root_fd);
		r = local_mount_check(l.process_fd, l.root_fd);
		if (r < 0)
			return r;
	}
	r = local_mount_find_id(l.root_fd, &l.mount_id);
	if (r < 0)
		return r;
	path += strspn(path, "/");
	return look_up(&l, *path ? path : ".", is_link);
}

int foreign_file_find(int root_fd, const char *path, bool is_link)
{
	return find_for(NULL, root_fd, path, is_link);
}

/* Open the file of an O_PATH descriptor for reading, without another path lookup. */
static int reopen(int fd, int flags)
{
	int r = procfs_reopen(fd, READ_FLAGS | flags);

	/* /proc is not mounted */
	return r == -ENOENT ? -ENOSYS : r;
}

static int check_regular(int fd, uint64_t bytes_max)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || is_on_kernel_file_system(fd))
		return -EBADMSG;
	return (uint64_t)st.st_size > bytes_max ? -EFBIG : 0;
}

static int open_found(int found_fd, uint64_t bytes_max)
{
	int r = check_regular(found_fd, bytes_max);

	return r < 0 ? r : reopen(found_fd, 0);
}

int foreign_file_open(int root_fd, const char *path, uint64_t bytes_max)
{
	_cleanup_close_ int found_fd = foreign_file_find(root_fd, path, false);

	return found_fd < 0 ? found_fd : open_found(found_fd, bytes_max);
}

int foreign_file_open_entry(int dir_fd, const char *name, uint64_t bytes_max)
{
	_cleanup_close_ int found_fd = foreign_file_find(dir_fd, name, true);
	struct stat st;

	if (found_fd < 0)
		return found_fd;
	if (fstat(found_fd, &st) < 0)
		return -errno;
	return S_ISLNK(st.st_mode) ? -ELOOP : open_found(found_fd, bytes_max);
}

int foreign_file_open_link(int process_fd, const char *link, uint64_t bytes_max)
{
	_cleanup_close_ int found_fd = openat(process_fd, link, FIND_FLAGS);
	int r;

	if (found_fd < 0)
		return -errno;
	r = local_mount_check(process_fd, found_fd);
	return r < 0 ? r : open_found(found_fd, bytes_max);
}

int foreign_file_open_dir(int root_fd, const char *path)
{
	_cleanup_close_ int found_fd = foreign_file_find(root_fd, path, false);
	struct stat st;

	if (found_fd < 0)
		return found_fd;
	if (fstat(found_fd, &st) < 0)
		return -errno;
	return S_ISDIR(st.st_mode) ? reopen(found_fd, O_DIRECTORY) : -ENOTDIR;
}

int foreign_file_read(int root_fd, const char *path, size_t bytes_max, struct strbuf *out)
{
	_cleanup_close_ int fd = foreign_file_open(root_fd, path, bytes_max);

	return fd < 0 ? fd : io_read_all(fd, bytes_max, out);
}

int foreign_file_read_for(const struct foreign_reader *reader, int root_fd,
			  const char *path, size_t bytes_max, struct strbuf *out)
{
	_cleanup_close_ int found_fd = find_for(reader, root_fd, path, false);
	_cleanup_close_ int fd = -1;
	int r;

	if (found_fd < 0)
		return found_fd;
	r = check_reader(reader, found_fd, S_IROTH);
	if (r < 0)
		return r;
	fd = open_found(found_fd, bytes_max);
	return fd < 0 ? fd : io_read_all(fd, bytes_max, out);
}
