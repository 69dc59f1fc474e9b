/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared memory of every kind. */
#include "config.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/shm.h>
#include <unistd.h>

#include "target.h"

static void use(char *p, size_t size)
{
	target_write(p, size);
	target_say("rss_bytes", size);
	target_say("private_dirty_bytes", size);
}

static void use_file(int fd, size_t size)
{
	if (fd < 0 || ftruncate(fd, (off_t)size) < 0)
		target_fail("shared memory");
	use(target_map(size, PROT_READ | PROT_WRITE, MAP_SHARED, fd), size);
	close(fd);
}

void shared_anonymous_run(char **args)
{
	size_t size = target_number(args[0]);

	use(target_map(size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1),
	    size);
}

void memfd_run(char **args)
{
	use_file(memfd_create("target", MFD_CLOEXEC), target_number(args[0]));
}

void posix_shm_run(char **args)
{
	char name[64];
	int fd;

	snprintf(name, sizeof(name), "/memstate-target-%d", (int)getpid());
	fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
	if (fd < 0)
		target_skip("shm_open: no /dev/shm that one may write to");
	shm_unlink(name);
	use_file(fd, target_number(args[0]));
}

void sysv_shm_run(char **args)
{
	size_t size = target_number(args[0]);
	int id = shmget(IPC_PRIVATE, size, IPC_CREAT | 0600);
	char *p;

	if (id < 0)
		target_skip("shmget: no SysV shared memory here");
	p = shmat(id, NULL, 0);
	shmctl(id, IPC_RMID, NULL);
	if (p == (char *)-1)
		target_fail("shmat");
	target_say("start", (uintptr_t)p);
	target_say("end", (uintptr_t)p + size);
	use(p, size);
}

/*
 * Map a tmpfs file whose path does not reveal that, in a mount namespace
 * that ends with the process.
 */
void tmpfs_run(char **args)
{
	int fd;

	if (unshare(CLONE_NEWNS) < 0 ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("odd", "/var/tmp", "tmpfs", 0, NULL) < 0)
		target_skip("only root may mount a tmpfs");
	fd = open("/var/tmp/an ordinary file", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC,
		  0600);
	use_file(fd, target_number(args[0]));
}
