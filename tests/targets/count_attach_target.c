/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count_attach_target - a process whose numbers of calls of the malloc
 * functions are known at any time.
 *
 * "count_attach_target THREADS [PLUGIN]" prints "pid" and "ready". It then obeys the
 * letters on its standard input. For each letter it prints its calls as "FUNCTION
 * NUMBER", or as "TID.FUNCTION NUMBER" for a thread, and "done":
 *
 *   w   call all functions, a different number of times in each thread
 *   t   run 200 threads, one after the other, with 5 pairs each
 *   s   call functions of libc that allocate
 *   d   load the plugin, and make it allocate
 *   D   unload it
 *   f   make a child that calls, and a child of that child
 *   k   store the addresses of the functions
 *   c   call through these addresses
 *   v   call through variables that are initialized with the addresses, and print
 *       the variables
 *   V   assign another function to one of these variables
 *   x   execute itself again, and print "pid" and "ready" again
 *
 * Nothing else in the program allocates. With COUNT_NO_PVALLOC in its environment, it
 * calls valloc instead of pvalloc.
 */
#include "config.h"

#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "say.h"

enum {
	THREADS_MAX = 64,
	SHORT_THREADS = 200
};

static struct worker {
	sem_t begin, end;
	int number, tid;
} workers[THREADS_MAX];

/* Some allocators lack pvalloc, and could not free a block of libc's. */
static int has_pvalloc = 1;

static void pairs(int count, size_t bytes)
{
	for (int i = 0; i < count; i++) {
		void *volatile p = malloc(bytes);

		free(p);
	}
}

/*
 * Call each function n times, and free everything. Bytes: 100 n + 3 * 7 n + 50 n + 2 * 9
 * n + 64 n + 64 n + 33 n + 1 n + 2 n.
 */
static void call_all(int n)
{
	for (int i = 0; i < n; i++) {
		void *volatile kept;
		void *p = NULL;

		pairs(1, 100);
		kept = calloc(3, 7);
		kept = realloc(kept, 50);
		kept = reallocarray(kept, 2, 9);
		free(kept);
		if (posix_memalign(&p, 64, 64) != 0)
			_exit(99);
		free(p);
		kept = aligned_alloc(64, 64);
		free(kept);
		kept = memalign(32, 33);
		free(kept);
		kept = valloc(1);
		free(kept);
		if (has_pvalloc)
			kept = pvalloc(2);
		else
			kept = valloc(2);
		free(kept);
	}
}

enum {
	BYTES_OF_ALL = 100 + 21 + 50 + 18 + 64 + 64 + 33 + 1 + 2,
	FREES_OF_ALL = 7
};

static void *work(void *arg)
{
	struct worker *worker = arg;

	worker->tid = gettid();
	sem_post(&worker->end);
	for (;;) {
		sem_wait(&worker->begin);
		call_all(worker->number);
		sem_post(&worker->end);
	}
	return NULL;
}

static void say_of(int tid, const char *what, int number)
{
	char key[64];

	snprintf(key, sizeof(key), "%d.%s", tid, what);
	say(key, (uint64_t)number);
}

static void say_all(int tid, int n)
{
	static const char *const names[] = {
		"malloc",	 "calloc",   "realloc", "reallocarray", "posix_memalign",
		"aligned_alloc", "memalign", "valloc",	"pvalloc"
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (has_pvalloc || strcmp(names[i], "pvalloc") != 0)
			say_of(tid, names[i],
			       !has_pvalloc && !strcmp(names[i], "valloc") ? 2 * n : n);
	say_of(tid, "free", FREES_OF_ALL * n);
	say_of(tid, "bytes", BYTES_OF_ALL * n);
}

static void work_all(int count)
{
	for (int i = 0; i < count; i++)
		sem_post(&workers[i].begin);
	call_all(100);
	for (int i = 0; i < count; i++)
		sem_wait(&workers[i].end);
	say_all(getpid(), 100);
	for (int i = 0; i < count; i++)
		say_all(workers[i].tid, workers[i].number);
}

static void *live_shortly(void *unused)
{
	pairs(5, 10);
	return unused;
}

static void thread_after_thread(void)
{
	for (int i = 0; i < SHORT_THREADS; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, live_shortly, NULL) != 0)
			_exit(99);
		pthread_join(thread, NULL);
	}
	say("malloc", 5 * SHORT_THREADS);
	say("free", 5 * SHORT_THREADS);
}

static void call_libc(void)
{
	for (int i = 0; i < 7; i++)
		free(strdup("0123456789"));
	say("malloc", 7);
	say("free", 7);
	say("bytes", 7 * 11);
}

static void *plugin;

static void load(const char *path)
{
	int (*call)(int);

	plugin = dlopen(path, RTLD_NOW);
	call = plugin ? (int (*)(int))(uintptr_t)dlsym(plugin, "plugin_call") : NULL;
	if (!call)
		_exit(99);
	say("plugin", (uintptr_t)call);
}

static void call_plugin(void)
{
	int (*call)(int) = (int (*)(int))(uintptr_t)dlsym(plugin, "plugin_call");

	say("malloc", (uint64_t)call(11));
	say("free", 11);
}

/* Make a child and a grandchild. Neither is counted, and both must work as usual. */
static void have_children(void)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		pthread_t thread;
		pid_t grandchild;

		call_all(50);
		if (pthread_create(&thread, NULL, live_shortly, NULL) != 0)
			_exit(99);
		pthread_join(thread, NULL);
		grandchild = fork();
		if (grandchild == 0) {
			call_all(50);
			_exit(0);
		}
		if (waitpid(grandchild, &status, 0) != grandchild || status != 0)
			_exit(98);
		_exit(0);
	}
	if (waitpid(child, &status, 0) != child)
		_exit(99);
	say("status", (uint64_t)status);
}

static void *(*volatile kept_malloc)(size_t);
static void (*volatile kept_free)(void *);

/* The dynamic linker fills these in. */
static void *(*volatile first_malloc)(size_t) = malloc;
static void (*volatile first_free)(void *) = free;
static void *(*const volatile constant_calloc)(size_t, size_t) = calloc;

static void call_first(void)
{
	for (int i = 0; i < 19; i++)
		first_free(first_malloc(23));
	first_free(constant_calloc(1, 29));
	say("malloc_addr", (uintptr_t)first_malloc);
	say("free_addr", (uintptr_t)first_free);
	say("calloc_addr", (uintptr_t)constant_calloc);
	say("malloc", 19);
	say("calloc", 1);
	say("free", 20);
}

static void *allocate_nothing(size_t unused)
{
	(void)unused;
	return NULL;
}

static void call_kept(void)
{
	for (int i = 0; i < 13; i++)
		kept_free(kept_malloc(17));
	say("malloc", 13);
	say("free", 13);
}

static void answer(char letter, int count, char **argv)
{
	switch (letter) {
	case 'w': work_all(count); break;
	case 't': thread_after_thread(); break;
	case 's': call_libc(); break;
	case 'd': load(argv[2]); break;
	case 'p': call_plugin(); break;
	case 'D': dlclose(plugin); break;
	case 'f': have_children(); break;
	case 'k':
		kept_malloc = malloc;
		kept_free = free;
		break;
	case 'c': call_kept(); break;
	case 'v': call_first(); break;
	case 'V': first_malloc = allocate_nothing; break;
	case 'x': execv("/proc/self/exe", argv); _exit(99);
	default: _exit(99);
	}
	say_word("done");
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 0;
	char letter;

	if (count < 0 || count > THREADS_MAX)
		return 99;
	has_pvalloc = !getenv("COUNT_NO_PVALLOC");
	for (int i = 0; i < count; i++) {
		pthread_t thread;

		workers[i].number = 10 * (i + 1);
		sem_init(&workers[i].begin, 0, 0);
		sem_init(&workers[i].end, 0, 0);
		if (pthread_create(&thread, NULL, work, &workers[i]) != 0)
			return 99;
		sem_wait(&workers[i].end);
	}
	pairs(1, 100);
	say("pid", (uint64_t)getpid());
	say_word("ready");
	while (read(STDIN_FILENO, &letter, 1) == 1)
		answer(letter, count, argv);
	return 0;
}
