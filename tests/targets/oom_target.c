/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fills a group in known ways. Each argument is a step, NAME=NUMBER[/NUMBER][:PATH].
 * Sizes are in MiB; regions are numbered from 0 in the order in which they are made.
 *
 *   anon=N thp=N shm=N      make a region of private memory, huge pages, or a memfd
 *   free=R drop=R write=R   MADV_FREE it, unmap it, write each page of it again
 *   poke=R lock=R           write one byte in each 2 MiB of it, mlock() it
 *   file=N:PATH read=1:PATH map=1:PATH   write, read, map and read a file
 *   pipes=N tables=N tcp=N  kernel memory: pipe buffers, page tables, socket queues
 *   inodes=K:DIR            make K thousand files
 *   stacks=K                start K threads, each with 200 KiB of stack
 *   fork=K/N                start K children, each with a region of N
 *   malloc=N holes=1        allocate blocks of 1000 bytes, free all but each 16th
 *   leak=K/MS               leak K KiB each MS milliseconds until it is ended
 *   wait=MS
 *   ready=1                 print "ready", and continue after reading a byte
 *
 * Exits with status 0 after the last step, or 77 if a step is
 * not possible on this system.
 */
#define _GNU_SOURCE
#include <alloca.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define KIB ((size_t)1024)
#define MIB (KIB * KIB)
#define PAGE ((size_t)4096)
#define HUGE (2 * MIB)
#define STACK (200 * KIB)
#define BLOCK 1000
#define REGION_MAX 64

static struct region {
	char *start;
	size_t bytes;
} regions[REGION_MAX];
static size_t region_count;

static char **blocks;
static size_t block_count;

struct step {
	size_t number, second;
	const char *path;
};

static void die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(77);
}

static void wait_ms(size_t ms)
{
	struct timespec left = { (time_t)(ms / 1000), (long)(ms % 1000) * 1000000 };

	while (nanosleep(&left, &left) < 0 && errno == EINTR)
		;
}

static void touch(char *start, size_t bytes, size_t stride)
{
	for (size_t at = 0; at < bytes; at += stride)
		((volatile char *)start)[at] = 1;
}

static char *map(size_t bytes, int flags, int fd)
{
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);

	if (p == MAP_FAILED)
		die("mmap");
	return p;
}

static void keep(char *start, size_t bytes)
{
	if (region_count == REGION_MAX) {
		errno = ENOSPC;
		die("regions");
	}
	regions[region_count++] = (struct region){ start, bytes };
}

static struct region *region_of(const struct step *step)
{
	if (step->number >= region_count) {
		errno = EINVAL;
		die("no such region");
	}
	return &regions[step->number];
}

static void do_anon(const struct step *step)
{
	char *p = map(step->number * MIB, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	madvise(p, step->number * MIB, MADV_NOHUGEPAGE);
	touch(p, step->number * MIB, PAGE);
	keep(p, step->number * MIB);
}

static void do_thp(const struct step *step)
{
	char *p = map(step->number * MIB + HUGE, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	p += HUGE - (size_t)p % HUGE;
	if (madvise(p, step->number * MIB, MADV_HUGEPAGE) < 0)
		die("MADV_HUGEPAGE");
	touch(p, step->number * MIB, PAGE);
	keep(p, step->number * MIB);
}

static void do_shm(const struct step *step)
{
	int fd = memfd_create("oom_target", MFD_CLOEXEC);
	char *p;

	if (fd < 0 || ftruncate(fd, (off_t)(step->number * MIB)) < 0)
		die("memfd_create");
	p = map(step->number * MIB, MAP_SHARED, fd);
	touch(p, step->number * MIB, PAGE);
	keep(p, step->number * MIB);
}

static void do_free(const struct step *step)
{
	if (madvise(region_of(step)->start, region_of(step)->bytes, MADV_FREE) < 0)
		die("MADV_FREE");
}

static void do_drop(const struct step *step)
{
	munmap(region_of(step)->start, region_of(step)->bytes);
}

static void do_write(const struct step *step)
{
	touch(region_of(step)->start, region_of(step)->bytes, PAGE);
}

static void do_poke(const struct step *step)
{
	touch(region_of(step)->start, region_of(step)->bytes, HUGE);
}

static void do_lock(const struct step *step)
{
	if (mlock(region_of(step)->start, region_of(step)->bytes) < 0)
		die("mlock");
}

static void do_file(const struct step *step)
{
	static const char zeros[16 * PAGE];
	int fd = open(step->path, O_CREAT | O_RDWR | O_TRUNC | O_CLOEXEC, 0600);

	for (size_t done = 0; done < step->number * MIB; done += sizeof(zeros))
		if (write(fd, zeros, sizeof(zeros)) != (ssize_t)sizeof(zeros))
			die(step->path);
	close(fd);
}

static void do_read(const struct step *step)
{
	static char bytes[16 * PAGE];
	int fd = open(step->path, O_RDONLY | O_CLOEXEC);

	while (read(fd, bytes, sizeof(bytes)) > 0)
		;
	close(fd);
}

static void do_map(const struct step *step)
{
	int fd = open(step->path, O_RDWR | O_CLOEXEC);
	struct stat st;
	char *p;

	if (fd < 0 || fstat(fd, &st) < 0)
		die(step->path);
	p = map((size_t)st.st_size, MAP_SHARED, fd);
	for (size_t at = 0; at < (size_t)st.st_size; at += PAGE)
		(void)*(volatile char *)(p + at);
	keep(p, (size_t)st.st_size);
}

static void do_pipes(const struct step *step)
{
	static const char zeros[16 * PAGE];

	for (size_t done = 0; done < step->number * MIB; done += sizeof(zeros)) {
		int fds[2];

		if (pipe2(fds, O_NONBLOCK | O_CLOEXEC) < 0 ||
		    write(fds[1], zeros, sizeof(zeros)) != (ssize_t)sizeof(zeros))
			die("pipe");
	}
}

/* A page table of 4 KiB covers 2 MiB, and a page that is only read maps the zero page. */
static void do_tables(const struct step *step)
{
	size_t bytes = step->number * MIB / PAGE * HUGE;
	char *p = map(bytes, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);

	madvise(p, bytes, MADV_NOHUGEPAGE);
	for (size_t at = 0; at < bytes; at += HUGE)
		(void)*(volatile char *)(p + at);
}

/* Send data to a peer that never reads. */
static size_t fill_connection(int listening, const struct sockaddr_in *addr)
{
	static const char zeros[16 * PAGE];
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int size = 4 << 20;
	size_t done = 0;
	ssize_t n;

	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	(void)connect(fd, (const struct sockaddr *)addr, sizeof(*addr));
	if (accept4(listening, NULL, NULL, SOCK_CLOEXEC) < 0)
		die("accept4");
	for (int turns = 0; turns < 20; turns++, wait_ms(1))
		while ((n = write(fd, zeros, sizeof(zeros))) > 0)
			done += (size_t)n;
	return done;
}

static void do_tcp(const struct step *step)
{
	struct sockaddr_in addr = { .sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t length = sizeof(addr);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0 || listen(fd, 128) < 0 ||
	    getsockname(fd, (struct sockaddr *)&addr, &length) < 0)
		die("a socket on the loopback");
	for (size_t done = 0, n = 1; done < step->number * MIB && n > 0; done += n)
		n = fill_connection(fd, &addr);
}

static void do_inodes(const struct step *step)
{
	char path[256];

	for (size_t i = 0; i < step->number * 1000; i++) {
		int fd;

		snprintf(path, sizeof(path), "%s/%zu", step->path, i);
		fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
		if (fd < 0)
			die(path);
		close(fd);
	}
}

static pthread_barrier_t are_deep;

static void *go_deep(void *unused)
{
	char *p = alloca(STACK);

	touch(p, STACK, PAGE);
	pthread_barrier_wait(&are_deep);
	pause();
	return unused;
}

static void do_stacks(const struct step *step)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_barrier_init(&are_deep, NULL, (unsigned int)step->number + 1);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK + 64 * KIB);
	for (size_t i = 0; i < step->number; i++)
		if (pthread_create(&thread, &attributes, go_deep, NULL) != 0)
			die("pthread_create");
	pthread_barrier_wait(&are_deep);
}

static void do_fork(const struct step *step)
{
	const struct step own = { .number = step->second };
	int fds[2];
	char byte;

	if (pipe2(fds, O_CLOEXEC) < 0)
		die("pipe");
	for (size_t i = 0; i < step->number; i++) {
		pid_t pid = fork();

		if (pid < 0)
			die("fork");
		if (pid > 0)
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (own.number > 0)
			do_anon(&own);
		(void)!write(fds[1], "", 1);
		pause();
		_exit(0);
	}
	close(fds[1]);
	for (size_t i = 0; i < step->number && read(fds[0], &byte, 1) == 1; i++)
		;
	close(fds[0]);
}

static void do_malloc(const struct step *step)
{
	block_count = step->number * MIB / BLOCK;
	blocks = (char **)(void *)map(block_count * sizeof(*blocks),
				      MAP_PRIVATE | MAP_ANONYMOUS, -1);
	for (size_t i = 0; i < block_count; i++) {
		blocks[i] = malloc(BLOCK);
		memset(blocks[i], 1, BLOCK);
	}
}

static void do_holes(const struct step *step)
{
	(void)step;
	for (size_t i = 0; i < block_count; i++)
		if (i % 16)
			free(blocks[i]);
}

static void do_leak(const struct step *step)
{
	for (;;) {
		touch(map(step->number * KIB, MAP_PRIVATE | MAP_ANONYMOUS, -1),
		      step->number * KIB, PAGE);
		wait_ms(step->second);
	}
}

static void do_wait(const struct step *step)
{
	wait_ms(step->number);
}

static void do_ready(const struct step *step)
{
	char byte;

	(void)step;
	puts("ready");
	fflush(stdout);
	if (read(STDIN_FILENO, &byte, 1) != 1)
		exit(0);
}

static const struct {
	const char *name;
	void (*run)(const struct step *step);
} steps[] = {
	{ "anon", do_anon },	 { "thp", do_thp },   { "shm", do_shm },
	{ "free", do_free },	 { "drop", do_drop }, { "write", do_write },
	{ "poke", do_poke },	 { "lock", do_lock }, { "file", do_file },
	{ "read", do_read },	 { "map", do_map },   { "pipes", do_pipes },
	{ "tables", do_tables }, { "tcp", do_tcp },   { "inodes", do_inodes },
	{ "stacks", do_stacks }, { "fork", do_fork }, { "malloc", do_malloc },
	{ "holes", do_holes },	 { "leak", do_leak }, { "wait", do_wait },
	{ "ready", do_ready },
};

static void run_step(char *text)
{
	char *equals = strchr(text, '='), *end;
	struct step step = { 0 };

	if (equals) {
		*equals = '\0';
		step.number = strtoul(equals + 1, &end, 10);
		if (*end == '/')
			step.second = strtoul(end + 1, &end, 10);
		if (*end == ':')
			step.path = end + 1;
		for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
			if (strcmp(steps[i].name, text) == 0) {
				steps[i].run(&step);
				return;
			}
	}
	fprintf(stderr, "%s: no such step\n", text);
	exit(99);
}

int main(int argc, char **argv)
{
	struct rlimit limit;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	for (int i = 1; i < argc; i++)
		run_step(argv[i]);
	return 0;
}
