/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "target.h"

#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

const struct behaviour behaviours[] = {
	{ "lazyfree", "TOTAL FREED REDIRTIED [CHILD_WRITES]", lazyfree_run },
	{ "unbacked", "TOTAL TOUCHED", unbacked_run },
	{ "dontneed", "TOTAL DROPPED", dontneed_run },
	{ "reserved", "SIZE", reserved_run },
	{ "locked", "SIZE", locked_run },
	{ "swapped", "TOTAL OUT", swapped_run },
	{ "shared-anonymous", "SIZE", shared_anonymous_run },
	{ "memfd", "SIZE", memfd_run },
	{ "posix-shm", "SIZE", posix_shm_run },
	{ "sysv-shm", "SIZE", sysv_shm_run },
	{ "tmpfs", "SIZE", tmpfs_run },
	{ "file", "PATH SIZE WRITTEN [keep]", file_run },
	{ "cow", "TOTAL CHILD_WRITES", cow_run },
	{ "threads", "KIND COUNT TOUCHED", threads_run },
	{ "huge", "SIZE", huge_run },
	{ "hugetlb", "SIZE", hugetlb_run },
	{ "mappings", "COUNT", mappings_run },
	{ "name", "COMM [PATH]", name_run },
	{ "zombie", "", zombie_run },
	{ "leaderless", "SIZE", leaderless_run },
	{ "family", "CHILDREN GRANDCHILDREN", family_run },
	{ "exec-loop", "[again]", exec_loop_run },
	{ "exit-loop", "", exit_loop_run },
	{ "churn", "THREADS", churn_run },
	{ NULL, NULL, NULL },
};

size_t target_page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

size_t target_number(const char *text)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (end == text || *end)
		target_fail(text);
	return value;
}

void target_say(const char *key, uint64_t value)
{
	printf("%s %" PRIu64 "\n", key, value);
}

_Noreturn void target_skip(const char *why)
{
	fprintf(stderr, "%s\n", why);
	_exit(77);
}

_Noreturn void target_fail(const char *what)
{
	perror(what);
	_exit(99);
}

void target_bind_to_parent(int parent)
{
	unsigned int left = alarm(TARGET_SECONDS);

	if (left) /* set before an exec: keep that timeout */
		alarm(left);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(99);
}

void target_ready(void)
{
	printf("ready\n");
	fflush(stdout);
}

_Noreturn void target_wait(void)
{
	for (;;)
		pause();
}

/* Reserves the address space first, so that both neighbouring pages are ours, too. */
char *target_map(size_t size, int protection, int flags, int fd)
{
	size_t page = target_page_size();
	size_t whole = (size + page - 1) / page * page;
	char *p = mmap(NULL, whole + 2 * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		       0);

	if (p == MAP_FAILED)
		target_fail("mmap");
	p = mmap(p + page, size, protection, flags | MAP_FIXED, fd, 0);
	if (p == MAP_FAILED)
		target_fail("mmap");
	target_say("start", (uintptr_t)p);
	target_say("end", (uintptr_t)p + whole);
	return p;
}

char *target_map_anonymous(size_t size)
{
	return target_map(size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

void target_write(char *from, size_t size)
{
	for (size_t i = 0; i < size; i += target_page_size())
		((volatile char *)from)[i] = (char)(i + 1);
}

void target_read(const char *from, size_t size)
{
	for (size_t i = 0; i < size; i += target_page_size())
		(void)((const volatile char *)from)[i];
}

/* The kernel handles MADV_FREE in batches per CPU, so all work is done on one CPU. */
static void stay_on_this_cpu(void)
{
	cpu_set_t set;
	int cpu = sched_getcpu();

	if (cpu < 0)
		return;
	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	(void)sched_setaffinity(0, sizeof(set), &set);
}

static const struct behaviour *find_behaviour(const char *name)
{
	for (size_t i = 0; behaviours[i].name; i++)
		if (strcmp(behaviours[i].name, name) == 0)
			return &behaviours[i];
	return NULL;
}

static int count_words(const char *args)
{
	int count = 0;

	for (; *args && *args != '['; args++)
		count += *args >= 'A' && *args <= 'Z' &&
			 (args[1] == ' ' || args[1] == '\0');
	return count;
}

int main(int argc, char **argv)
{
	const struct behaviour *b = argc > 1 ? find_behaviour(argv[1]) : NULL;

	if (!b || argc - 2 < count_words(b->args)) {
		for (size_t i = 0; behaviours[i].name; i++)
			fprintf(stderr, "target %s %s\n", behaviours[i].name,
				behaviours[i].args);
		return 99;
	}
	target_bind_to_parent(getppid());
	/* touching a page must not make a huge page, whatever the machine's setting */
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	stay_on_this_cpu();
	b->run(argv + 2);
	target_ready();
	target_wait();
}
