/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "store/settings/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "store/settings/text.h"

#define LINKS_MAX 40 /* maximum number of symlinks to follow, as in the kernel */
#define LOCK_TRIES 100
#define LOCK_PAUSE_NS (10 * NS_PER_MS)

bool settings_file_find(const char *config_home, const char *home, struct strbuf *ret)
{
	if (config_home && config_home[0] == '/')
		strbuf_addf(ret, "%s/memstate/memstaterc", config_home);
	else if (home && home[0] == '/')
		strbuf_addf(ret, "%s/.config/memstate/memstaterc", home);
	else
		return false;
	return true;
}

/*
 * Return true if memstate runs set-user-ID or set-group-ID, with the privileges of a user
 * or group other than the caller's.
 */
static bool has_foreign_ids(void)
{
	return geteuid() != getuid() || getegid() != getgid();
}

/*
 * Return true if memstate may read a settings file with this owner, which must be
 * the user or root. If memstate has more privileges than its caller, it must not
 * disclose root's files.
 */
static bool may_be_read(const struct stat *st)
{
	return st->st_uid == geteuid() || (st->st_uid == 0 && !getauxval(AT_SECURE));
}

/*
 * Open the settings file and check its type and owner. If the path leads to a pipe or a
 * device, the open must not block. Return a descriptor or -errno.
 */
static int open_file(int dir_fd, const char *path, int flags, struct stat *ret_st)
{
	int fd = openat(dir_fd, path,
			O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | flags);
	int r = 0;

	if (fd < 0)
		return -errno;
	if (fstat(fd, ret_st) < 0)
		r = -errno;
	else if (!may_be_read(ret_st))
		r = -EPERM;
	else if (!S_ISREG(ret_st->st_mode))
		r = -EINVAL;
	if (r < 0)
		close(fd);
	return r < 0 ? r : fd;
}

int settings_file_read(const char *path, struct settings *ret, size_t *ret_bad_line)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	_cleanup_close_ int fd = -1;
	struct stat st;
	int r;

	if (has_foreign_ids())
		return -EPERM;
	fd = open_file(AT_FDCWD, path, 0, &st);
	if (fd < 0 && fd != -ENOENT && fd != -ENOTDIR)
		return fd;
	r = fd < 0 ? 0 : io_read_all(fd, SETTINGS_BYTES_MAX, &text);
	return r < 0 ? r : settings_text_parse(&text, ret, ret_bad_line);
}

/*
 * Return true if memstate may create files in a directory with this owner, which must be
 * the user or root. When running as root, memstate must not leave root's files in another
 * user's directory.
 */
static bool may_be_written(const struct stat *st)
{
	return st->st_uid == geteuid() || st->st_uid == 0;
}

/*
 * Create a directory with its missing parent directories, with mode 0700. `path` is
 * modified temporarily. Return 0 or -errno.
 */
static int make_dir(char *path)
{
	char *slash = strrchr(path, '/');
	struct stat st;
	int r = 0;

	if (stat(path, &st) == 0)
		return may_be_written(&st) ? 0 : -EPERM;
	if (errno != ENOENT || !slash)
		return -errno;
	if (slash > path) {
		*slash = '\0';
		r = make_dir(path);
		*slash = '/';
	}
	if (r == 0 && mkdir(path, 0700) < 0 && errno != EEXIST)
		r = -errno;
	return r;
}

static char *dir_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return xstrndup(path, slash == path ? 1 : (size_t)(slash - path));
}

/*
 * Follow a symlink whose target does not exist. Follow only symlinks of the user and of
 * root, because the symlink determines where memstate creates a file. Return the target
 * as an absolute path that the caller frees, or NULL with errno set.
 */
static char *follow_link(const char *path, const struct stat *st)
{
	_cleanup_free_ char *dir = dir_of(path);
	struct strbuf target = STRBUF_INIT;
	char text[PATH_MAX];
	ssize_t length = readlink(path, text, sizeof(text) - 1);

	if (length < 0 || !may_be_written(st)) {
		errno = length < 0 ? errno : EPERM;
		return NULL;
	}
	text[length] = '\0';
	strbuf_addf(&target, "%s%s%s", text[0] == '/' ? "" : dir,
		    text[0] == '/' ? "" : "/", text);
	return strbuf_take(&target);
}

/*
 * Return the path of a file that does not exist, with all symlinks resolved. The caller
 * frees the path. Return NULL with errno set if the directory does not exist.
 */
static char *resolve_missing(const char *path)
{
	_cleanup_free_ char *dir = dir_of(path);
	_cleanup_free_ char *real_dir = realpath(dir, NULL);
	const char *name = strrchr(path, '/') + 1;
	struct strbuf real = STRBUF_INIT;

	if (!real_dir)
		return NULL;
	if (name[0] == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
		errno = ENOENT;
		return NULL;
	}
	strbuf_addf(&real, "%s/%s", strcmp(real_dir, "/") == 0 ? "" : real_dir, name);
	return strbuf_take(&real);
}

/*
 * Find the file to which the path leads, and create its directory if necessary. If the
 * path is a dangling symlink, the directory of its target must exist. Return the path of
 * the file, which the caller frees, or NULL with errno set.
 */
static char *resolve(const char *path)
{
	_cleanup_free_ char *at = xstrdup(path), *dir = dir_of(path);
	char *real = realpath(path, NULL);
	struct stat st;
	int r;

	if (real || errno != ENOENT)
		return real;
	r = lstat(path, &st) < 0 ? make_dir(dir) : 0;
	if (r < 0) {
		errno = -r;
		return NULL;
	}
	for (int links = 0; lstat(at, &st) == 0; links++) {
		char *next;

		errno = links == LINKS_MAX ? ELOOP : ENOENT;
		next = links < LINKS_MAX && S_ISLNK(st.st_mode) ? follow_link(at, &st)
								: NULL;
		if (!next)
			return NULL;
		free(at);
		at = next;
	}
	return errno == ENOENT ? resolve_missing(at) : NULL;
}

/*
 * Lock the directory. Return 0 or -EBUSY. On file systems without locks, one of two
 * simultaneous changes may be lost, but the file is never damaged.
 */
static int lock(int dir_fd)
{
	const struct timespec pause = { 0, LOCK_PAUSE_NS };

	for (int tries = 0; tries < LOCK_TRIES; tries++) {
		if (flock(dir_fd, LOCK_EX | LOCK_NB) == 0)
			return 0;
		if (errno != EWOULDBLOCK && errno != EINTR)
			return 0;
		nanosleep(&pause, NULL);
	}
	return -EBUSY;
}

/* Read the settings file if it exists, and choose the permissions of its replacement. */
static int read_old(int dir_fd, const char *name, struct strbuf *ret, mode_t *ret_mode)
{
	_cleanup_close_ int fd = -1;
	struct stat st = { 0 };

	*ret_mode = 0600;
	fd = open_file(dir_fd, name, O_NOFOLLOW, &st);
	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	if (st.st_uid != geteuid())
		return -EPERM;
	/*
	 * check for write permission, because rename() would succeed even if the owner
	 * has made the file read-only
	 */
	if (!(st.st_mode & S_IWUSR))
		return -EACCES;
	*ret_mode = st.st_mode & 0777;
	return io_read_all(fd, SETTINGS_BYTES_MAX, ret);
}

static int change_in(int dir_fd, const char *name, const struct settings *changes,
		     const bool is_rejected[SETTING_COUNT_])
{
	_cleanup_strbuf_ struct strbuf before = STRBUF_INIT;
	_cleanup_strbuf_ struct strbuf after = STRBUF_INIT;
	struct settings old;
	size_t bad_line;
	mode_t mode;
	int r;

	r = read_old(dir_fd, name, &before, &mode);
	if (r == 0)
		r = settings_text_parse(&before, &old, &bad_line);
	if (r < 0)
		return r;
	settings_release(&old);
	settings_text_change(&before, changes, is_rejected, &after);
	return io_replace_file_at(dir_fd, name, &after, mode);
}

int settings_file_change(const char *path, const struct settings *changes,
			 const bool is_rejected[SETTING_COUNT_])
{
	_cleanup_free_ char *real = NULL;
	_cleanup_close_ int dir_fd = -1;
	struct stat st;
	char *slash;
	int r;

	if (has_foreign_ids())
		return -EPERM;
	real = resolve(path);
	if (!real)
		return -errno;
	slash = strrchr(real, '/');
	*slash = '\0';
	dir_fd = open(real[0] ? real : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir_fd < 0 || fstat(dir_fd, &st) < 0)
		return -errno;
	if (!may_be_written(&st))
		return -EPERM;
	r = lock(dir_fd);
	return r < 0 ? r : change_in(dir_fd, slash + 1, changes, is_rejected);
}
