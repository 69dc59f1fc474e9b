/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * helper_target - a program that is started with a helper. It prints its malloc's own
 * figures, and does things that a helper inside might disturb. Like heap_target it prints
 * "ready", then obeys letters:
 *
 * i  print the allocator's own figures
 * f  make a waiting child: "child PID"; c ends the child, and prints its status
 * t  like f, in a program of many threads that allocate meanwhile; the child
 *    allocates, too
 * v  vfork and exec: "status N"
 * e  execute itself again
 * s  become another user: "same_uid 1" if all its threads did
 * m  end the main thread, so that only the helper remains: an atexit(3) handler
 *    prints "ended 1"
 * d  become a daemon(3): "child PID"
 */
#include "config.h"

#include <dirent.h>
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "say.h"

#define SECONDS 300
#define BLOCKS 4000
#define THREADS 4
#define OTHER_USER 65534

static void *blocks[BLOCKS];
static pid_t child;

/* Allocate blocks of all sizes, and free half of them. */
static void allocate(void)
{
	for (size_t i = 0; i < BLOCKS; i++)
		blocks[i] = malloc(16 + i * 13 % 5000);
	for (size_t i = 0; i < BLOCKS; i += 2) {
		free(blocks[i]);
		blocks[i] = NULL;
	}
}

static void say_glibc(void)
{
	static const char *const names[] = { "arena",	 "ordblks", "smblks",  "hblks",
					     "hblkhd",	 "usmblks", "fsmblks", "uordblks",
					     "fordblks", "keepcost" };
	struct mallinfo2 info = mallinfo2();
	size_t fields[10];

	memcpy(fields, &info, sizeof(fields));
	for (size_t i = 0; i < 10; i++)
		say(names[i], fields[i]);
}

static void say_jemalloc(int (*mallctl)(const char *, void *, size_t *, void *, size_t))
{
	static const char *const names[] = { "stats.allocated", "stats.active",
					     "stats.metadata", "stats.mapped",
					     "stats.retained" };
	uint64_t epoch = 1;
	size_t length = sizeof(epoch), value;

	mallctl("epoch", &epoch, &length, &epoch, length);
	for (size_t i = 0; i < 5; i++) {
		length = sizeof(value);
		mallctl(names[i], &value, &length, NULL, 0);
		say(names[i], value);
	}
}

static void say_gperftools(int (*get)(const char *, size_t *))
{
	static const char *const names[] = { "generic.current_allocated_bytes",
					     "generic.heap_size",
					     "tcmalloc.pageheap_free_bytes",
					     "tcmalloc.central_cache_free_bytes",
					     "tcmalloc.thread_cache_free_bytes" };
	size_t value;

	for (size_t i = 0; i < 5; i++) {
		get(names[i], &value);
		say(names[i], value);
	}
}

static void say_mimalloc(void (*info)(size_t *, size_t *, size_t *, size_t *, size_t *,
				      size_t *, size_t *, size_t *))
{
	size_t v[8];

	info(&v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6], &v[7]);
	say("current_commit", v[5]);
	say("peak_commit", v[6]);
}

static void say_figures(void)
{
	void *mallctl = dlsym(RTLD_DEFAULT, "mallctl");
	void *get = dlsym(RTLD_DEFAULT, "MallocExtension_GetNumericProperty");
	void *info = dlsym(RTLD_DEFAULT, "mi_process_info");

	if (mallctl)
		say_jemalloc(
			(int (*)(const char *, void *, size_t *, void *, size_t))mallctl);
	else if (get)
		say_gperftools((int (*)(const char *, size_t *))get);
	else if (info)
		say_mimalloc((void (*)(size_t *, size_t *, size_t *, size_t *, size_t *,
				       size_t *, size_t *, size_t *))info);
	else
		say_glibc();
}

static _Noreturn void wait_as_child(void)
{
	alarm(SECONDS);
	for (int i = 0; i < BLOCKS; i++)
		free(malloc((size_t)i));
	say("child", (uint64_t)getpid());
	say_word("done");
	for (;;)
		pause();
}

static void *churn(void *unused)
{
	(void)unused;
	for (size_t i = 0;; i++)
		free(malloc(i % 3000));
	return NULL;
}

static void make_child(int thread_count)
{
	pthread_t thread;

	for (int i = 0; i < thread_count; i++)
		pthread_create(&thread, NULL, churn, NULL);
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		wait_as_child();
	}
}

static void end_child(void)
{
	int status = 0;

	kill(child, SIGTERM);
	waitpid(child, &status, 0);
	say("signal", (uint64_t)WTERMSIG(status));
}

static void run_in_vfork(void)
{
	int status = -1;
	pid_t pid = vfork();

	if (pid == 0) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(99);
	}
	waitpid(pid, &status, 0);
	say("status", (uint64_t)status);
}

/* setuid(2) asks each thread to change its user id, and waits for all of them. */
static void become_another_user(void)
{
	char path[64], line[256];
	DIR *tasks;
	int same = 1;

	if (setuid(OTHER_USER) != 0)
		_exit(99);
	tasks = opendir("/proc/self/task");
	for (struct dirent *task; tasks && (task = readdir(tasks));) {
		FILE *status;
		unsigned int uid;

		snprintf(path, sizeof(path), "/proc/self/task/%.20s/status",
			 task->d_name);
		status = task->d_name[0] == '.' ? NULL : fopen(path, "r");
		while (status && fgets(line, sizeof(line), status))
			if (sscanf(line, "Uid: %u", &uid) == 1 && uid != OTHER_USER)
				same = 0;
		if (status)
			fclose(status);
	}
	closedir(tasks);
	say("same_uid", (uint64_t)same);
}

static void say_ended(void)
{
	say("ended", 1);
}

/* The daemon's parent ends, so the daemon must not end with it. */
static void be_daemon(void)
{
	child = fork();
	if (child == 0) {
		if (daemon(1, 1) == 0)
			wait_as_child();
		_exit(99);
	}
	waitpid(child, NULL, 0);
}

static void obey(char letter, char **argv)
{
	switch (letter) {
	case 'i': say_figures(); break;
	case 'f': make_child(0); break;
	case 't': make_child(THREADS); break;
	case 'c': end_child(); break;
	case 'v': run_in_vfork(); break;
	case 'e': execv("/proc/self/exe", argv); break;
	case 's': become_another_user(); break;
	case 'd': be_daemon(); break;
	case 'm': atexit(say_ended); pthread_exit(NULL);
	default: _exit(99);
	}
}

int main(int argc, char **argv)
{
	char letter;

	(void)argc;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(SECONDS);
	allocate();
	say_word("ready");
	while (read(STDIN_FILENO, &letter, 1) == 1) {
		obey(letter, argv);
		if (!strchr("ftd", letter)) /* for these letters the child prints it */
			say_word("done");
	}
	return 0;
}
