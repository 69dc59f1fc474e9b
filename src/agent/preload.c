/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * preload - the helper in a program that is started with it: by LD_PRELOAD, in the
 * program, its children, and what they execute.
 *
 * Nothing of the program's is taken: no descriptor stays open, no signal comes to the
 * helper, its stack is not libc's.
 */
#include "config.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/abi.h"
#include "agent/helper.h"

/* For what allocators need on it, and what a program registered with atexit(3): see stays(). */
#define STACK_BYTES (256 << 10)
#define GUARD_BYTES 4096

#define EXPORT __attribute__((visibility("default")))

/*
 * Looked up by the linker, as dlsym(3) allocates when it finds nothing; NULL if nobody
 * has it.
 */
#pragma weak mallinfo2
#pragma weak malloc_info
#define MAYBE(name) extern void name(void) __attribute__((weak))
MAYBE(mallctl);
MAYBE(je_mallctl);
MAYBE(_rjem_mallctl);
MAYBE(malloc_stats_print);
MAYBE(je_malloc_stats_print);
MAYBE(_rjem_malloc_stats_print);
MAYBE(MallocExtension_GetNumericProperty);
MAYBE(MallocExtension_GetStats);
MAYBE(mi_process_info);
MAYBE(mi_stats_print_out);

typedef void (*any_fn)(void);

#define ALIAS_MAX 3

/* The first that is there counts. */
static const any_fn found[AGENT_FN_COUNT_][ALIAS_MAX] = {
	[AGENT_FN_MALLINFO2] = { (any_fn)mallinfo2 },
	[AGENT_FN_MALLOC_INFO] = { (any_fn)malloc_info },
	[AGENT_FN_MALLCTL] = { mallctl, je_mallctl, _rjem_mallctl },
	[AGENT_FN_MALLOC_STATS_PRINT] = { malloc_stats_print, je_malloc_stats_print,
					  _rjem_malloc_stats_print },
	[AGENT_FN_TC_GET_NUMERIC_PROPERTY] = { MallocExtension_GetNumericProperty },
	[AGENT_FN_TC_GET_STATS] = { MallocExtension_GetStats },
	[AGENT_FN_MI_PROCESS_INFO] = { mi_process_info },
	[AGENT_FN_MI_STATS_PRINT_OUT] = { mi_stats_print_out },
};

/* One per process, and not shared with its children: what a child has of it is made anew. */
static struct {
	struct agent_page *page;
	struct agent_functions functions;
	struct agent_host host;
	void *stack;
	pid_t (*fork)(void);
	unsigned long filter_count; /* seccomp filters that are no reason to keep out */
} preload;

/*
 * ---- what is there
 * ----------------------------------------------------------------------------
 */

/* An allocator may be there without being the one that malloc is of. */
static int is_of_malloc(any_fn function)
{
	Dl_info theirs, ours;

	return function && dladdr((void *)function, &theirs) && dladdr((void *)malloc, &ours) &&
	       theirs.dli_fbase == ours.dli_fbase;
}

/* With a prefix it is beside another malloc, and used by its own names. */
static void find_functions(void)
{
	for (size_t f = 0; f < AGENT_FN_COUNT_; f++) {
		for (size_t i = ALIAS_MAX; i-- > 0;) {
			any_fn function = found[f][i];

			if (function && (i > 0 || is_of_malloc(function)))
				preload.functions.addr[f] = (uintptr_t)function;
		}
	}
}

/* A value of status, whose key counts only at the start of a line. */
struct status_value {
	const char *key;
	size_t matched; /* of the key, in this line; SIZE_MAX: it is another one */
	unsigned long value;
	bool is_read;
};

static void take_status(struct status_value *v, char c)
{
	size_t length = strlen(v->key);

	if (c == '\n') {
		v->is_read = v->is_read || v->matched == length;
		v->matched = 0;
	} else if (v->is_read || v->matched == SIZE_MAX) {
		return;
	} else if (v->matched < length) {
		v->matched = c == v->key[v->matched] ? v->matched + 1 : SIZE_MAX;
	} else if (c >= '0' && c <= '9') {
		v->value = v->value * 10 + (unsigned long)(c - '0');
	}
}

/* "Seccomp_filters:	1", since Linux 5.9. Return 0 if there are none, or it is not known. */
static unsigned long count_filters(void)
{
	struct status_value filters = { .key = "Seccomp_filters:" };
	char text[2048];
	ssize_t length;
	int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return 0;
	while ((length = read(fd, text, sizeof(text))) > 0)
		for (ssize_t i = 0; i < length; i++)
			take_status(&filters, text[i]);
	close(fd);
	return filters.value;
}

/*
 * ---- the page and the thread
 * ------------------------------------------------------------------
 */

/* No descriptor is needed, and it is gone with the last process that has it attached. */
static struct agent_page *make_page(void)
{
	int segment = shmget(IPC_PRIVATE, AGENT_PAGE_BYTES, IPC_CREAT | 0600);
	struct agent_page *page;

	if (segment < 0)
		return NULL;
	page = shmat(segment, NULL, 0);
	shmctl(segment, IPC_RMID, NULL);
	if ((intptr_t)page == -1)
		return NULL;
	if (madvise(page, AGENT_PAGE_BYTES, MADV_DONTFORK) < 0) {
		shmdt(page);
		return NULL;
	}
	page->magic = AGENT_MAGIC;
	page->version = AGENT_VERSION;
	page->size_bytes = AGENT_PAGE_BYTES;
	page->flags = AGENT_PRELOADED;
	page->state = AGENT_STARTING;
	page->idle_ms = AGENT_IDLE_MS;
	page->owner_pid = (uint32_t)getpid();
	return page;
}

static ssize_t write_text(void *cookie, const char *bytes, size_t length)
{
	(void)cookie;
	return agent_write_text(preload.page, bytes, length);
}

/* Where malloc_info(3) is glibc's own: opened now, so that the helper never allocates. */
static FILE *open_text(void)
{
	const cookie_io_functions_t functions = { .write = write_text };
	FILE *file;

	if (!preload.functions.addr[AGENT_FN_MALLOC_INFO])
		return NULL;
	file = fopencookie(NULL, "w", functions);
	if (file)
		setvbuf(file, NULL, _IONBF, 0);
	return file;
}

static void *make_stack(void)
{
	char *stack = mmap(NULL, GUARD_BYTES + STACK_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);

	if (stack == MAP_FAILED)
		return NULL;
	mprotect(stack, GUARD_BYTES, PROT_NONE);
	return stack + GUARD_BYTES;
}

/*
 * A process whose main thread has ended goes on for as long as any other does: the helper
 * is not to be that one. Asked without a descriptor, of which the program may expect to
 * get the lowest at any time.
 */
static int stays(void)
{
	struct stat task;
	char link[1];

	return stat("/proc/self/task", &task) < 0 || task.st_nlink > 2 + 2 ||
	       readlink("/proc/self/exe", link, sizeof(link)) >= 0 || errno != ENOENT;
}

static void *run(void *page)
{
	prctl(PR_SET_NAME, AGENT_THREAD_NAME);
	agent_serve(page, &preload.functions, &preload.host);
	return NULL;
}

static int start_thread(void)
{
	pthread_attr_t attr;
	sigset_t all, before;
	pthread_t thread;
	int r;

	/* all but those that libc itself needs: setuid(2) waits for each thread to do it */
	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstack(&attr, preload.stack, STACK_BYTES);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&thread, &attr, run, preload.page);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return r;
}

/* In a process without one. Whatever fails, the program is as without a helper. */
static void start(void)
{
	int saved_errno = errno;

	preload.page = NULL;
	if (count_filters() <= preload.filter_count)
		preload.page = make_page();
	if (preload.page && start_thread() != 0) {
		shmdt(preload.page);
		preload.page = NULL;
	}
	errno = saved_errno;
}

static any_fn next(const char *name)
{
	return (any_fn)dlsym(RTLD_NEXT, name);
}

/*
 * A filter that came since memstate began may kill who makes a system call that it does
 * not know.
 */
__attribute__((constructor)) static void begin(void)
{
	const char *filters = getenv(AGENT_FILTERS_VARIABLE);

	preload.fork = (pid_t (*)(void))next("fork");
	preload.filter_count = filters ? strtoul(filters, NULL, 10) : 0;
	if (count_filters() > preload.filter_count)
		return;
	find_functions();
	preload.stack = make_stack();
	if (!preload.stack)
		return;
	preload.host.file = open_text();
	preload.host.stays = stays;
	start();
}

/*
 * ---- children
 * ---------------------------------------------------------------------------------
 */

/*
 * After all that libc, allocators and the program do in a child themselves, as a thread
 * needs them: what is registered with pthread_atfork(3) may run before their turn. A
 * child of vfork(2) has its parent's memory, and is left alone; so are those of clone(2).
 */
static void start_in_child(void)
{
	if (preload.stack)
		start();
}

EXPORT pid_t fork(void)
{
	pid_t child;

	/* only where a constructor forks before ours was called */
	if (!preload.fork)
		preload.fork = (pid_t (*)(void))next("fork");
	child = preload.fork();
	if (child == 0)
		start_in_child();
	return child;
}

EXPORT int daemon(int keeps_directory, int keeps_output)
{
	int (*real)(int, int) = (int (*)(int, int))next("daemon");
	int r = real(keeps_directory, keeps_output);

	if (r == 0)
		start_in_child();
	return r;
}

EXPORT int forkpty(int *terminal, char *name, const struct termios *settings,
		   const struct winsize *size)
{
	int (*real)(int *, char *, const struct termios *, const struct winsize *) =
		(int (*)(int *, char *, const struct termios *, const struct winsize *))next("forkpty");
	int child = real(terminal, name, settings, size);

	if (child == 0)
		start_in_child();
	return child;
}
