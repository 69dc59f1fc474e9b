/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tracee/ptrace/watchdog.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/compat.h"
#include "base/num.h"
#include "base/units.h"
#include "proc/process/dir.h"
#include "proc/process/file.h"

#ifndef SYS_pidfd_send_signal
#	define SYS_pidfd_send_signal \
		424 /* number of pidfd_send_signal(2) on all machines, since Linux 5.1 */
#endif
#ifndef SYS_pidfd_open
#	define SYS_pidfd_open \
		434 /* number of pidfd_open(2) on all machines, since Linux 5.3 */
#endif

/* Interval at which an armed watchdog checks whether memstate is stopped. */
#define CHECK_MS 100

/* Maximum time that memstate, when it exits, waits for the watchdog to exit. */
#define REAP_MS_MAX 1000

/*
 * On kernels without close_range(2) (before Linux 5.9), the watchdog closes only
 * descriptors below this number.
 */
#define CLOSED_FDS_MAX 65536

/* Numbers of the watchdog's descriptors, which follow standard error. */
enum {
	SOCKET_FD = STDERR_FILENO + 1,
	PROCESS_FD,
	TASK_FD,
	FD_END
};
#define FD_COUNT (FD_END - SOCKET_FD)

/*
 * Lowest number for temporary copies of the watchdog's descriptors, which is above their
 * final numbers.
 */
#define FD_COPY_MIN 10

/* Memory shared by memstate and the watchdog. */
struct page {
	uint32_t is_armed;
	uint32_t has_continued; /* true once the watchdog has sent SIGCONT to memstate */
};

static struct {
	struct page *page;
	/*
	 * pid of the process that started the watchdog; a forked child
	 * process has another pid
	 */
	pid_t owner;
	pid_t pid;
	int fd;
} watchdog = { .fd = -1 };

static uint32_t get(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

static void set(uint32_t *word, uint32_t value)
{
	__atomic_store_n(word, value, __ATOMIC_SEQ_CST);
}

/*
 * Return true if the thread is in state T. A thread that a debugger has stopped is in
 * state t.
 */
static bool is_thread_stopped(int tid)
{
	char text[512];
	const char *end_of_name;
	ssize_t n = -1;
	int fd;

	fd = proc_thread_open(TASK_FD, tid, PROC_STAT, O_RDONLY);
	if (fd >= 0) {
		n = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	text[n > 0 ? n : 0] = '\0';
	end_of_name = strrchr(text, ')');
	return end_of_name && strncmp(end_of_name, ") T", 3) == 0;
}

/*
 * Return true if SIGSTOP or a similar signal has stopped a thread of memstate. Checking
 * only the main thread would not be enough: a main thread in an uninterruptible sleep
 * does not stop, but the thread that holds the target does.
 */
static bool is_memstate_stopped(void)
{
	_Alignas(struct dirent64) char entries[4096];
	long length;

	if (lseek(TASK_FD, 0, SEEK_SET) < 0)
		return false;
	/*
	 * do not use readdir(), because it calls malloc(), which is not safe in a child
	 * process forked from a multithreaded process
	 */
	while ((length = syscall(SYS_getdents64, TASK_FD, entries, sizeof(entries))) > 0)
		for (long at = 0; at < length;) {
			const struct dirent64 *entry = (const void *)(entries + at);
			int tid;

			if (num_parse_pid(entry->d_name, &tid) == 0 &&
			    is_thread_stopped(tid))
				return true;
			at += entry->d_reclen;
		}
	return false;
}

/*
 * Send SIGCONT if memstate is stopped. A stopped memstate cannot disarm the watchdog, so
 * is_armed is read after memstate's state. has_continued is set before the signal is
 * sent, so that memstate sees the flag when it continues.
 */
static void check_memstate(struct page *page)
{
	if (!is_memstate_stopped() || !get(&page->is_armed))
		return;
	set(&page->has_continued, true);
	(void)syscall(SYS_pidfd_send_signal, PROCESS_FD, SIGCONT, NULL, 0);
}

/*
 * Check memstate at intervals until memstate has ended. The socket then reports end of
 * file, or the pidfd becomes readable.
 */
static void watch(struct page *page)
{
	for (;;) {
		struct pollfd polled[] = { { .fd = SOCKET_FD, .events = POLLIN },
					   { .fd = PROCESS_FD, .events = POLLIN } };
		char bytes[64];
		int r = poll(polled, 2, get(&page->is_armed) ? CHECK_MS : -1);

		if (r < 0 && errno != EINTR)
			return;
		if (r == 0)
			check_memstate(page);
		if (r <= 0)
			continue;
		if (polled[1].revents || recv(SOCKET_FD, bytes, sizeof(bytes), 0) <= 0)
			return;
	}
}

/*
 * Move the watchdog's three descriptors to SOCKET_FD and the following numbers, redirect
 * the standard streams to /dev/null, and close all other descriptors. Without
 * close_range(2), descriptors from CLOSED_FDS_MAX on stay open.
 */
static bool close_others(int fds[FD_COUNT])
{
	int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int i = 0; i < FD_COUNT; i++) {
		fds[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, FD_COPY_MIN);
		if (fds[i] < 0)
			return false;
	}
	/*
	 * replace the standard streams, so that a program that reads memstate's output
	 * gets end of file even if the watchdog is still running
	 */
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (null_fd < 0 || dup2(null_fd, fd) < 0)
			close(fd);
	for (int i = 0; i < FD_COUNT; i++)
		if (dup2(fds[i], SOCKET_FD + i) < 0)
			return false;
	if (close_range(FD_END, ~0U, 0) < 0)
		for (int fd = FD_END; fd < CLOSED_FDS_MAX; fd++)
			close(fd);
	return true;
}

/*
 * Run the watchdog. It leaves memstate's process group and terminal, so that it does not
 * receive their signals.
 */
static _Noreturn void run(struct page *page, int fds[FD_COUNT])
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	setsid();
	/*
	 * use syscall(2), because AddressSanitizer's wrapper of prctl(2) needs a lock
	 * that another thread may have held during the fork
	 */
	(void)syscall(SYS_prctl, PR_SET_NAME, "memstate-watch", 0, 0, 0);
	/* leave the working directory, so that its file system can be unmounted */
	if (chdir("/") == 0 && close_others(fds))
		watch(page);
	_exit(0);
}

/*
 * Reap the watchdog when memstate exits. Otherwise it would become a zombie of process 1,
 * which in some containers never reaps its children.
 */
static void end_at_exit(void)
{
	const struct timespec poll_time = { .tv_nsec = NS_PER_MS };

	if (watchdog.owner != getpid() || watchdog.pid <= 0)
		return;
	shutdown(watchdog.fd, SHUT_RDWR);
	for (int i = 0; i < REAP_MS_MAX && waitpid(watchdog.pid, NULL, WNOHANG) == 0; i++)
		nanosleep(&poll_time, NULL);
}

/*
 * Fork the watchdog. fds contains the watchdog's end of the socket, a pidfd of memstate,
 * and memstate's task directory.
 */
static int start_with(int fds[FD_COUNT])
{
	sigset_t all, before;
	int err;

	/*
	 * block all signals, so that no signal handler of memstate runs in the watchdog
	 */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	watchdog.pid = fork();
	err = errno;
	if (watchdog.pid == 0)
		run(watchdog.page, fds);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return watchdog.pid < 0 ? -err : 0;
}

static void close_all(const int *fds, int count)
{
	for (int i = 0; i < count; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

/*
 * Start the watchdog of this process. If the kernel does not support pidfds, leave
 * watchdog.fd at -1.
 */
static int start(void)
{
	int ends[2] = { -1, -1 }, fds[FD_COUNT] = { -1, -1, -1 }, r = 0;

	fds[1] = (int)syscall(SYS_pidfd_open, getpid(), 0);
	if (fds[1] < 0)
		return errno == EMFILE || errno == ENFILE || errno == ENOMEM ? -errno : 0;
	fds[2] = proc_own_open(PROC_TASK, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fds[2] < 0)
		r = fds[2];
	else if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		r = -errno;
	fds[0] = ends[1];
	if (r == 0)
		r = start_with(fds);
	close_all(fds, FD_COUNT);
	if (r < 0) {
		watchdog.pid = 0;
		close_all(ends, 1);
		return r;
	}
	watchdog.fd = ends[0];
	return 0;
}

/*
 * Allocate a page that this process shares with its watchdog. A forked child process
 * still has the page and the socket of its parent, and needs its own.
 */
static int own_page(void)
{
	/*
	 * True once the atexit() handler is registered. Forked processes inherit the
	 * registration.
	 */
	static bool is_registered;
	struct page *page;

	if (watchdog.owner == getpid())
		return 0;
	page = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		return -errno;
	if (!is_registered && atexit(end_at_exit) != 0) {
		munmap(page, sizeof(*page));
		return -ENOMEM;
	}
	is_registered = true;
	if (watchdog.page)
		munmap(watchdog.page, sizeof(*watchdog.page));
	if (watchdog.fd >= 0)
		close(watchdog.fd);
	watchdog.page = page;
	watchdog.fd = -1;
	watchdog.pid = 0;
	watchdog.owner = getpid();
	return 0;
}

/* Reap the watchdog after it was killed. watchdog_arm() starts a new one. */
static void reap_watchdog(void)
{
	close(watchdog.fd);
	watchdog.fd = -1;
	while (waitpid(watchdog.pid, NULL, 0) < 0 && errno == EINTR)
		;
	watchdog.pid = 0;
}

int watchdog_arm(void)
{
	int r = own_page();

	if (r < 0)
		return r;
	set(&watchdog.page->has_continued, false);
	set(&watchdog.page->is_armed, true);
	for (int i = 0; r == 0 && i < 2; i++) {
		if (watchdog.fd < 0)
			r = start();
		/*
		 * a full socket is not an error, because the bytes already in it wake up
		 * the watchdog
		 */
		if (r < 0 || watchdog.fd < 0 ||
		    send(watchdog.fd, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT) == 1 ||
		    errno == EAGAIN)
			break;
		reap_watchdog();
	}
	if (r < 0)
		watchdog_disarm();
	return r;
}

bool watchdog_has_continued(void)
{
	return watchdog.page && get(&watchdog.page->has_continued);
}

void watchdog_forget(void)
{
	if (watchdog.page)
		set(&watchdog.page->has_continued, false);
}

void watchdog_disarm(void)
{
	set(&watchdog.page->is_armed, false);
}

pid_t watchdog_pid(void)
{
	return watchdog.pid;
}
