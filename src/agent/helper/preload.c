/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * preload - a library that starts the helper in a program that memstate starts. (If a
 * program is already running, memstate injects the helper instead.)
 *
 * LD_PRELOAD loads this library into the program, its child processes, and the programs
 * that they execute. The helper must not disturb the program: it keeps no descriptor
 * open, blocks all signals except those that libc needs, and runs on its own stack.
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

#include "agent/helper/abi.h"
#include "agent/helper/helper.h"

/*
 * Stack size of the helper's thread. It suffices for allocators, and for functions that
 * the program registered with atexit(3). These functions run on this stack if the helper
 * ends the process: see stays().
 */
#define STACK_BYTES (256 << 10)
#define GUARD_BYTES 4096

#define EXPORT __attribute__((visibility("default")))

/*
 * The functions that the helper may call, as weak references: a symbol that no library
 * defines is NULL. dlsym(3) is not used, because it allocates memory if it does not find
 * the symbol.
 */
#define MAYBE(name) extern void name(void) __attribute__((weak))
#ifdef HAVE_MALLINFO2
#	pragma weak mallinfo2
#else
MAYBE(mallinfo2);
#endif
#ifdef HAVE_MALLOC_INFO
#	pragma weak malloc_info
#else
MAYBE(malloc_info);
#endif
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

/*
 * The possible implementations of each function that the helper calls. The first one that
 * is not NULL is used.
 */
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

/*
 * The state of the helper in this process. In a forked child process, start() initializes
 * it again.
 */
static struct {
	struct agent_page *page;
	struct agent_functions functions;
	struct agent_host host;
	void *stack;
	pid_t (*fork)(void);
	/* maximum number of seccomp filters with which the helper still starts */
	unsigned long filter_count;
} preload;

/*
 * Return true if the function belongs to the allocator that provides malloc. A process
 * may also have loaded other allocators.
 */
static int is_of_malloc(any_fn function)
{
	Dl_info theirs, ours;

	return function && dladdr((void *)function, &theirs) &&
	       dladdr((void *)malloc, &ours) && theirs.dli_fbase == ours.dli_fbase;
}

/*
 * Find the allocators' functions. A function whose name has a prefix belongs to an
 * allocator that can coexist with another malloc, so it need not be in the same file as
 * malloc.
 */
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

/* A parser for a number in /proc/PID/status. The key must be at the start of a line. */
struct status_value {
	const char *key;
	/*
	 * number of characters of the key that the current line has matched so far;
	 * SIZE_MAX if the line has another key
	 */
	size_t matched;
	unsigned long value;
	bool is_read;
};

static void parse_status_char(struct status_value *v, char c)
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

/*
 * Return the value of "Seccomp_filters:" in /proc/self/status (since Linux 5.9), or 0 if
 * there are no filters or the line is missing.
 */
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
			parse_status_char(&filters, text[i]);
	close(fd);
	return filters.value;
}

/*
 * Create the shared page as a System V segment, which needs no descriptor, and disappears
 * when the last process detaches it.
 */
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

/*
 * Open the stream for malloc_info(3) if the program uses glibc's malloc. The stream is
 * opened at the start, so that the helper itself never allocates.
 */
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
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1,
			   0);

	if (stack == MAP_FAILED)
		return NULL;
	mprotect(stack, GUARD_BYTES, PROT_NONE);
	return stack + GUARD_BYTES;
}

/*
 * Return true if the helper must not exit although it is idle. After the main thread has
 * ended, a process continues until its last thread ends, so the helper must not be the
 * last thread. The check opens no descriptor, because the program may rely on receiving
 * the lowest free descriptor at any time.
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

	/*
	 * block all signals except those of libc, because setuid(2) waits until each
	 * thread has handled such a signal
	 */
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

/*
 * Start the helper unless this process already has one. If any step fails, the program
 * runs without a helper.
 */
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
 * Start the helper when the library is loaded. If a seccomp filter was installed after
 * memstate started, do nothing, because the filter may kill the program for a system call
 * that it does not allow.
 */
__attribute__((constructor)) static void begin(void)
{
	const char *filters = getenv(AGENT_FILTERS_VARIABLE);

	preload.fork = (pid_t(*)(void))next("fork");
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
 * Start the helper in a forked child process. By now libc, the allocators and the program
 * have finished their own work after fork(), on which a new thread depends; handlers of
 * pthread_atfork(3) might run too early. A child process of vfork(2) shares its parent's
 * memory, so it gets no helper. Child processes of clone(2) get no helper either.
 */
static void start_in_child(void)
{
	if (preload.stack)
		start();
}

EXPORT pid_t fork(void)
{
	pid_t child;

	/*
	 * preload.fork is NULL only if a constructor calls fork() before begin() has run
	 */
	if (!preload.fork)
		preload.fork = (pid_t(*)(void))next("fork");
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
		(int (*)(int *, char *, const struct termios *,
			 const struct winsize *))next("forkpty");
	int child = real(terminal, name, settings, size);

	if (child == 0)
		start_in_child();
	return child;
}
