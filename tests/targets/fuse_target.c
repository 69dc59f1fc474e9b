/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuse_target - a process that maps files of a FUSE file system which stops answering.
 *
 * The first process serves the file system, in its own mount namespace. Its child has a
 * heap, and maps FILE shared and private and a copy of this program as "libhere.so". The
 * target prints the child's pid, the addresses of the mappings ("shared", "private",
 * "program", "bytes" each) and of a function of libc ("libc"), and "ready". Then it obeys
 * its input, a letter at a time:
 *
 *   h  drop all cached pages, and answer no request from now on
 *   r  print the number of "requests" since then
 *   a  answer those requests, and later ones
 *
 * and prints "done" after each. Exit status 77: FUSE is not available.
 *
 * With "covered", the file system is also mounted over /usr, where memstate looks up the
 * program's files; with "root", it is the target's root directory.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "say.h"

#define SECONDS 300
#define FILE_BYTES (UINT64_C(1) << 20)
#define BUFFER_BYTES (FUSE_MIN_READ_BUFFER + (1 << 20))
#define PENDING_MAX 256
#define BLOCKS 2000

enum {
	FILE_NODE = 2,
	PROGRAM_NODE = 3
};

static const char file_name[] = "file", program_name[] = "libhere.so";

static int fuse_fd = -1, program_fd = -1;
static uint64_t program_bytes;
static bool is_silent;
static unsigned long request_count;
static struct pending {
	struct fuse_in_header head;
	struct fuse_read_in read;
	char name[64];
} pending[PENDING_MAX];
static size_t pending_count;

static void reply(uint64_t unique, int error, const void *bytes, size_t length)
{
	static char out[BUFFER_BYTES];
	const struct fuse_out_header head = { (uint32_t)(sizeof(head) + length), error,
					      unique };

	memcpy(out, &head, sizeof(head));
	if (length > 0)
		memcpy(out + sizeof(head), bytes, length);
	(void)!write(fuse_fd, out, head.len);
}

static struct fuse_attr attributes(uint64_t node)
{
	struct fuse_attr attr = { .ino = node, .nlink = 1, .blksize = 4096 };

	attr.mode = node == FUSE_ROOT_ID ? S_IFDIR | 0755 : S_IFREG | 0777;
	attr.size = node == FILE_NODE	   ? FILE_BYTES
		    : node == PROGRAM_NODE ? program_bytes
					   : 0;
	return attr;
}

static void answer_lookup(const struct pending *p)
{
	struct fuse_entry_out entry = { .attr_valid = 1000, .entry_valid = 1000 };

	if (strcmp(p->name, file_name) == 0)
		entry.nodeid = FILE_NODE;
	else if (strcmp(p->name, program_name) == 0)
		entry.nodeid = PROGRAM_NODE;
	entry.attr = attributes(entry.nodeid);
	if (entry.nodeid)
		reply(p->head.unique, 0, &entry, sizeof(entry));
	else
		reply(p->head.unique, -ENOENT, NULL, 0);
}

static void answer_read(const struct pending *p)
{
	static char bytes[1 << 20];
	ssize_t n = 0;

	memset(bytes, 0, sizeof(bytes));
	if (p->head.nodeid == PROGRAM_NODE)
		n = pread(program_fd, bytes, p->read.size, (off_t)p->read.offset);
	else if (p->read.offset < FILE_BYTES)
		n = (ssize_t)(FILE_BYTES - p->read.offset < p->read.size
				      ? FILE_BYTES - p->read.offset
				      : p->read.size);
	reply(p->head.unique, n < 0 ? -EIO : 0, bytes, n < 0 ? 0 : (size_t)n);
}

static void answer(const struct pending *p)
{
	struct fuse_init_out init = { .major = FUSE_KERNEL_VERSION,
				      .minor = FUSE_KERNEL_MINOR_VERSION,
				      .max_readahead = 0,
				      .max_write = 4096 };
	struct fuse_attr_out attr = { .attr_valid = 1000 };
	struct fuse_open_out open = { .open_flags = FOPEN_KEEP_CACHE };
	struct fuse_statfs_out statfs = { .st = { .bsize = 4096 } };

	switch (p->head.opcode) {
	case FUSE_INIT: reply(p->head.unique, 0, &init, sizeof(init)); break;
	case FUSE_LOOKUP: answer_lookup(p); break;
	case FUSE_GETATTR:
		attr.attr = attributes(p->head.nodeid);
		reply(p->head.unique, 0, &attr, sizeof(attr));
		break;
	case FUSE_OPEN: reply(p->head.unique, 0, &open, sizeof(open)); break;
	case FUSE_READ: answer_read(p); break;
	case FUSE_STATFS: reply(p->head.unique, 0, &statfs, sizeof(statfs)); break;
	case FUSE_OPENDIR: reply(p->head.unique, 0, &open, sizeof(open)); break;
	case FUSE_FLUSH:
	case FUSE_RELEASE: reply(p->head.unique, 0, NULL, 0); break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT: break;
	default: reply(p->head.unique, -ENOSYS, NULL, 0);
	}
}

static void take_request(void)
{
	static char in[BUFFER_BYTES] __attribute__((aligned(8)));
	ssize_t n = read(fuse_fd, in, sizeof(in));
	struct pending p = { 0 };
	bool is_asked;

	if (n < (ssize_t)sizeof(p.head))
		return;
	memcpy(&p.head, in, sizeof(p.head));
	if (p.head.opcode == FUSE_READ)
		memcpy(&p.read, in + sizeof(p.head), sizeof(p.read));
	if (p.head.opcode == FUSE_LOOKUP)
		snprintf(p.name, sizeof(p.name), "%.*s", (int)sizeof(p.name) - 1,
			 in + sizeof(p.head));
	is_asked = p.head.opcode != FUSE_FORGET && p.head.opcode != FUSE_BATCH_FORGET &&
		   p.head.opcode != FUSE_INTERRUPT;
	if (!is_silent) {
		answer(&p);
	} else if (is_asked) {
		request_count++;
		if (pending_count < PENDING_MAX)
			pending[pending_count++] = p;
	}
}

static void forget_pages(uint64_t node)
{
	struct {
		struct fuse_out_header head;
		struct fuse_notify_inval_inode_out out;
	} note = { { sizeof(note), FUSE_NOTIFY_INVAL_INODE, 0 }, { node, 0, 0 } };

	(void)!write(fuse_fd, &note, sizeof(note));
}

static void obey(char letter)
{
	switch (letter) {
	case 'h':
		is_silent = true;
		forget_pages(FILE_NODE);
		forget_pages(PROGRAM_NODE);
		break;
	case 'r': say("requests", request_count); break;
	case 'a':
		is_silent = false;
		for (size_t i = 0; i < pending_count; i++)
			answer(&pending[i]);
		pending_count = 0;
		break;
	default: break;
	}
	say_word("done");
}

static void serve(void)
{
	for (;;) {
		struct pollfd polled[] = { { fuse_fd, POLLIN, 0 },
					   { STDIN_FILENO, POLLIN, 0 } };
		char letter;

		if (poll(polled, 2, -1) < 0)
			_exit(98);
		if (polled[0].revents & POLLERR)
			_exit(97);
		if (polled[0].revents)
			take_request();
		if (polled[1].revents) {
			if (read(STDIN_FILENO, &letter, 1) != 1)
				_exit(0);
			obey(letter);
		}
	}
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd >= 0) {
		(void)!write(fd, text, strlen(text));
		close(fd);
	}
}

/* Without the privilege to mount, use a user namespace. */
static void enter_namespaces(void)
{
	char map[64];
	unsigned int uid = getuid(), gid = getgid();

	if (unshare(CLONE_NEWNS) < 0) {
		if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
			exit(77);
		/* the change of credentials has cleared these settings */
		prctl(PR_SET_DUMPABLE, 1);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		snprintf(map, sizeof(map), "%u %u 1", uid, uid);
		write_file("/proc/self/uid_map", map);
		write_file("/proc/self/setgroups", "deny");
		snprintf(map, sizeof(map), "%u %u 1", gid, gid);
		write_file("/proc/self/gid_map", map);
	}
	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		exit(77);
}

static void mount_fuse(const char *folder)
{
	char options[128];

	fuse_fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (fuse_fd < 0)
		exit(77);
	snprintf(options, sizeof(options),
		 "fd=%d,rootmode=40000,user_id=%u,group_id=%u,allow_other", fuse_fd,
		 getuid(), getgid());
	if (mount("fuse_target", folder, "fuse", MS_NOSUID | MS_NODEV, options) < 0)
		exit(77);
}

static uint8_t *map_file(const char *folder, const char *name, int flags, int access)
{
	char path[512];
	struct stat st;
	uint8_t *p;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, access & PROT_WRITE ? O_RDWR : O_RDONLY);
	if (fd < 0 || fstat(fd, &st) < 0)
		_exit(96);
	p = mmap(NULL, (size_t)st.st_size, access, flags, fd, 0);
	close(fd);
	if (p == MAP_FAILED)
		_exit(95);
	for (off_t i = 0; i < st.st_size; i += 4096)
		(void)((volatile uint8_t *)p)[i];
	return p;
}

static void *volatile blocks[BLOCKS];

/* Put the file system where memstate would look up the target's files. */
static void hide_files(const char *folder, const char *mode)
{
	if (strcmp(mode, "covered") == 0 &&
	    mount(folder, "/usr", NULL, MS_BIND, NULL) < 0)
		_exit(94);
	if (strcmp(mode, "root") == 0 && chroot(folder) < 0)
		_exit(93);
}

static void be_target(const char *folder, const char *mode)
{
	uint8_t *private;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(SECONDS);
	close(fuse_fd);
	for (size_t i = 0; i < BLOCKS; i++)
		blocks[i] = malloc(1000);
	say("shared",
	    (uintptr_t)map_file(folder, file_name, MAP_SHARED, PROT_READ | PROT_WRITE));
	private = map_file(folder, file_name, MAP_PRIVATE, PROT_READ | PROT_WRITE);
	private[0] = 1;
	say("private", (uintptr_t) private);
	say("program", (uintptr_t)map_file(folder, program_name, MAP_PRIVATE,
					   PROT_READ | PROT_EXEC));
	say("libc", (uintptr_t)&fopen);
	hide_files(folder, mode);
	say("bytes", FILE_BYTES);
	say("pid", (uint64_t)getpid());
	say_word("ready");
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	const char *folder = "/mnt"; /* in the target's own mount namespace */
	struct stat st;
	pid_t child;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(SECONDS);
	program_fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	if (program_fd < 0 || fstat(program_fd, &st) < 0)
		return 99;
	program_bytes = (uint64_t)st.st_size;
	enter_namespaces();
	mount_fuse(folder);
	child = fork();
	if (child == 0)
		be_target(folder, argc > 1 ? argv[1] : "");
	if (child < 0)
		return 99;
	serve();
	return 0;
}
