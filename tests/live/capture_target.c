/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capture_target FOLDER [--not-dumpable] - a process with odd contents in each of its
 * files in /proc: threads, shared memory of each kind, a deleted file with a blank, a
 * newline and an escape in its name, and such a comm. It prints "ready" and then sleeps.
 */
#include "config.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#define SIZE (1024 * 1024)

static void *sleep_for_ever(void *context)
{
	for (;;)
		pause();
	return context;
}

static void map(int fd, int flags)
{
	char *p = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, flags, fd, 0);

	if (p == MAP_FAILED) {
		perror("mmap");
		exit(99);
	}
	memset(p, 1, SIZE / 2);
}

static void map_file(int fd)
{
	if (fd < 0 || ftruncate(fd, SIZE) < 0) {
		perror("file");
		exit(99);
	}
	map(fd, MAP_SHARED);
	map(fd, MAP_PRIVATE);
}

/* Root gives its rights away, which has the same effect. */
static void become_not_dumpable(void)
{
	const unsigned int nobody = 65534;

	if (geteuid() == 0 && setresuid(nobody, nobody, nobody) == 0)
		return;
	prctl(PR_SET_DUMPABLE, 0);
}

int main(int argc, char **argv)
{
	char path[512];
	pthread_t thread;

	if (argc < 2)
		return 99;
	prctl(PR_SET_NAME, "a)b \",\n\x1b[31m\xff");
	snprintf(path, sizeof(path), "%s/odd (deleted)\n\x1b[31m name", argv[1]);
	map_file(open(path, O_RDWR | O_CREAT | O_EXCL, 0600));
	unlink(path);
	snprintf(path, sizeof(path), "%s/hidden folder", argv[1]);
	map_file(open(path, O_RDWR | O_CREAT | O_EXCL, 0600));
	map_file(memfd_create("secret ring", 0));
	map(-1, MAP_SHARED | MAP_ANONYMOUS);
	map(-1, MAP_PRIVATE | MAP_ANONYMOUS);
	for (int i = 0; i < 3; i++)
		pthread_create(&thread, NULL, sleep_for_ever, NULL);
	if (argc > 2 && strcmp(argv[2], "--not-dumpable") == 0)
		become_not_dumpable();
	puts("ready");
	fflush(stdout);
	sleep_for_ever(NULL);
}
