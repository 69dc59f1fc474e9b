/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spawn N - start N idle processes of varied size, like those of a typical machine: half
 * of them have less than 1.5 MiB of private memory, the largest has 12 MiB; they have 40
 * to 900 mappings. Prints "ready" when all are running. They end together with spawn,
 * which ends with its parent.
 */
#include "config.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "bench.h"

#define PAGE_SIZE 4096

/*
 * Load libraries that most machines have. A missing library
 * only makes the process smaller.
 */
static void load_libraries(size_t count)
{
	static const char *const names[] = {
		"libm.so.6",	    "libz.so.1",       "libcrypto.so.3",  "libssl.so.3",
		"libncursesw.so.6", "libsqlite3.so.0", "libpcre2-8.so.0", "libzstd.so.1",
		"liblzma.so.5",	    "libstdc++.so.6",
	};

	for (size_t i = 0; i < count && i < sizeof(names) / sizeof(names[0]); i++)
		(void)dlopen(names[i], RTLD_NOW);
}

/* Make areas of one size, with a guard after each. */
static void make_areas(size_t count, size_t bytes)
{
	size_t each = bytes / count / PAGE_SIZE * PAGE_SIZE + PAGE_SIZE;

	for (size_t i = 0; i < count; i++) {
		char *at = mmap(NULL, each * 2, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (at == MAP_FAILED || mprotect(at + each, each, PROT_NONE) < 0)
			bench_die("mmap");
		for (size_t offset = 0; offset < each; offset += PAGE_SIZE)
			at[offset] = 1;
	}
}

static void be_one(size_t index)
{
	static const size_t sizes_kib[] = { 100,  200,	400,  400,  800,
					    1500, 1500, 3000, 6000, 12000 };

	load_libraries(2 + index % 9);
	make_areas(index % 20 == 7 ? 400 : index % 7 * 6 + 2,
		   sizes_kib[index % 10] * 1024);
	if (write(STDOUT_FILENO, "", 1) != 1)
		bench_die("write");
	for (;;)
		pause();
}

/* Start a process. It uses exec, so that it shares no anonymous pages with spawn. */
static void start_one(size_t index, const int pipe_fds[2])
{
	char number[24], byte;
	pid_t pid = fork();

	if (pid < 0)
		bench_die("fork");
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		snprintf(number, sizeof(number), "%zu", index);
		dup2(pipe_fds[1], STDOUT_FILENO);
		execl("/proc/self/exe", "spawned", "one", number, (char *)NULL);
		bench_die("exec");
	}
	if (read(pipe_fds[0], &byte, 1) != 1)
		bench_die("child");
}

int main(int argc, char **argv)
{
	int pipe_fds[2];
	size_t count;

	if (argc == 3 && strcmp(argv[1], "one") == 0)
		be_one(bench_number(argv[2]));
	if (argc != 2) {
		fputs("usage: spawn N\n", stderr);
		return 2;
	}
	count = bench_number(argv[1]);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (pipe(pipe_fds) < 0)
		bench_die("pipe");
	for (size_t i = 1; i <= count; i++)
		start_one(i, pipe_fds);
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}
