/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The main thread waits in one system call, "NAME" or "NAME:MILLISECONDS", and prints
 * its result. The letter c makes it call; w triggers the event that it waits for.
 * Another thread reads the letters.
 */
#include "config.h"

#include "inject_target.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if __has_include(<linux/io_uring.h>)
#	include <linux/io_uring.h>
#endif

#include "say.h"

static int orders[2], pipe_fds[2], pair[2], epoll_fd, listener, file, ring;
static int semaphores = -1, messages = -1;
static long milliseconds; /* 0: no timeout */
static pid_t child;
static uint32_t word;
static struct sockaddr_un address = { .sun_family = AF_UNIX };
static int held_file;
static pthread_t main_thread;

static struct timespec the_time(void)
{
	return (struct timespec){ milliseconds / 1000, milliseconds % 1000 * 1000000 };
}

static const struct timespec *time_or_none(struct timespec *storage)
{
	*storage = the_time();
	return milliseconds ? storage : NULL;
}

static int milliseconds_or_none(void)
{
	return milliseconds ? (int)milliseconds : -1;
}

static long do_nanosleep(void)
{
	const struct timespec ts = the_time();

	return nanosleep(&ts, NULL);
}

static long do_clock_nanosleep(void)
{
	const struct timespec ts = the_time();

	errno = clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, NULL);
	return errno ? -1 : 0;
}

static long do_futex(void)
{
	struct timespec ts;

	return syscall(SYS_futex, &word, FUTEX_WAIT, 0, time_or_none(&ts), NULL, 0);
}

/*
 * Repeat the wake-up: a thread that restarts the call after a
 * signal would miss a single one.
 */
static void wake_futex(void)
{
	while (__atomic_load_n(&shown->is_in_call, __ATOMIC_ACQUIRE) &&
	       syscall(SYS_futex, &word, FUTEX_WAKE, 1, NULL, NULL, 0) == 0)
		usleep(1000);
}

static long do_poll(void)
{
	struct pollfd fd = { pipe_fds[0], POLLIN, 0 };

	return poll(&fd, 1, milliseconds_or_none());
}

static long do_ppoll(void)
{
	struct pollfd fd = { pipe_fds[0], POLLIN, 0 };
	struct timespec ts;
	sigset_t set;

	sigemptyset(&set);
	return ppoll(&fd, 1, time_or_none(&ts), &set);
}

static long do_select(void)
{
	struct timeval tv = { milliseconds / 1000, milliseconds % 1000 * 1000 };
	fd_set set;

	FD_ZERO(&set);
	FD_SET(pipe_fds[0], &set);
	return select(pipe_fds[0] + 1, &set, NULL, NULL, milliseconds ? &tv : NULL);
}

static long do_epoll_wait(void)
{
	struct epoll_event event;

	return epoll_wait(epoll_fd, &event, 1, milliseconds_or_none());
}

static long do_epoll_pwait(void)
{
	struct epoll_event event;
	sigset_t set;

	sigemptyset(&set);
	return epoll_pwait(epoll_fd, &event, 1, milliseconds_or_none(), &set);
}

static long do_read(void)
{
	char byte;

	return read(pipe_fds[0], &byte, 1);
}

static void write_pipe(void)
{
	if (write(pipe_fds[1], "x", 1) != 1)
		failed("write");
}

static long do_recv(void)
{
	const struct timeval tv = { milliseconds / 1000, milliseconds % 1000 * 1000 };
	char byte;

	if (milliseconds && setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)))
		failed("setsockopt");
	return recv(pair[0], &byte, 1, 0);
}

static void send_one(void)
{
	if (send(pair[1], "x", 1, 0) != 1)
		failed("send");
}

static long do_accept(void)
{
	int fd = accept(listener, NULL, NULL);

	return fd < 0 ? fd : close(fd);
}

static void connect_once(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	if (connect(fd, (struct sockaddr *)&address, sizeof(address)))
		failed("connect");
}

/* The listener's queue is full at this point, see make_full(). */
static long do_connect(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	return connect(fd, (struct sockaddr *)&address, sizeof(address));
}

static void accept_all(void)
{
	for (int i = 0; i < 2; i++)
		if (accept(listener, NULL, NULL) < 0)
			failed("accept");
}

static void make_semaphore(void)
{
	semaphores = semget(IPC_PRIVATE, 1, 0600);
	if (semaphores < 0)
		cannot("no semaphores here");
}

static long do_semop(void)
{
	struct sembuf operation = { 0, -1, 0 };
	struct timespec ts;

	return semtimedop(semaphores, &operation, 1, time_or_none(&ts));
}

static void raise_semaphore(void)
{
	struct sembuf operation = { 0, 1, 0 };

	if (semop(semaphores, &operation, 1))
		failed("semop");
}

struct message {
	long type;
	char text[8];
};

static void make_queue(void)
{
	messages = msgget(IPC_PRIVATE, 0600);
	if (messages < 0)
		cannot("no message queues here");
}

static long do_msgrcv(void)
{
	struct message message;

	return msgrcv(messages, &message, sizeof(message.text), 0, 0);
}

static void send_message(void)
{
	const struct message message = { .type = 1 };

	if (msgsnd(messages, &message, 3, 0))
		failed("msgsnd");
}

static long do_flock(void)
{
	return flock(file, LOCK_EX);
}

static void unlock(void)
{
	flock(held_file, LOCK_UN);
}

static long do_wait4(void)
{
	int status;
	pid_t pid = waitpid(child, &status, 0);

	return pid == child ? WTERMSIG(status) : pid;
}

static void end_child(void)
{
	kill(child, SIGTERM);
}

static void block_usr2(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
}

static long do_sigtimedwait(void)
{
	struct timespec ts;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	return sigtimedwait(&set, NULL, time_or_none(&ts));
}

static void send_usr2(void)
{
	pthread_kill(main_thread, SIGUSR2);
}

static long do_sigsuspend(void)
{
	sigset_t set;

	sigemptyset(&set);
	return sigsuspend(&set);
}

static long do_pause(void)
{
	return pause();
}

static void send_usr1(void)
{
	pthread_kill(main_thread, SIGUSR1);
}

#if defined(IORING_ENTER_GETEVENTS) && defined(SYS_io_uring_setup)
static void make_ring(void)
{
	struct io_uring_params params = { 0 };

	ring = (int)syscall(SYS_io_uring_setup, 1, &params);
	if (ring < 0)
		cannot("no io_uring here");
}

static long do_io_uring(void)
{
	return syscall(SYS_io_uring_enter, ring, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0);
}
#else
static void make_ring(void)
{
	cannot("no linux/io_uring.h");
}

static long do_io_uring(void)
{
	return ring;
}
#endif

static const struct call {
	const char *name;
	long (*call)(void);
	void (*wake)(void);
	void (*make)(void);
} calls[] = {
	{ "nanosleep", do_nanosleep, NULL, NULL },
	{ "clock_nanosleep", do_clock_nanosleep, NULL, NULL },
	{ "futex", do_futex, wake_futex, NULL },
	{ "poll", do_poll, write_pipe, NULL },
	{ "ppoll", do_ppoll, write_pipe, NULL },
	{ "select", do_select, write_pipe, NULL },
	{ "epoll_wait", do_epoll_wait, write_pipe, NULL },
	{ "epoll_pwait", do_epoll_pwait, write_pipe, NULL },
	{ "read", do_read, write_pipe, NULL },
	{ "recv", do_recv, send_one, NULL },
	{ "accept", do_accept, connect_once, NULL },
	{ "connect", do_connect, accept_all, connect_once },
	{ "semop", do_semop, raise_semaphore, make_semaphore },
	{ "msgrcv", do_msgrcv, send_message, make_queue },
	{ "flock", do_flock, unlock, NULL },
	{ "wait4", do_wait4, end_child, NULL },
	{ "sigtimedwait", do_sigtimedwait, send_usr2, block_usr2 },
	{ "sigsuspend", do_sigsuspend, send_usr2, block_usr2 },
	{ "pause", do_pause, send_usr1, NULL },
	{ "io_uring_enter", do_io_uring, send_usr1, make_ring },
};

static const struct call *chosen;

static void count_signal(int number)
{
	(void)number;
	count_one(0);
}

static void make_files(void)
{
	char path[64];

	file = memfd_create("locked", 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	held_file = open(path, O_RDWR);
	if (file < 0 || held_file < 0 || flock(held_file, LOCK_EX))
		failed("flock");
}

static void make_things_to_wait_for(void)
{
	pid_t parent = getpid();
	struct epoll_event event = { .events = EPOLLIN };

	snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "memstate-call-%d",
		 (int)getpid());
	listener = socket(AF_UNIX, SOCK_STREAM, 0);
	epoll_fd = epoll_create1(0);
	if (pipe(orders) || pipe(pipe_fds) || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) ||
	    epoll_fd < 0 || epoll_ctl(epoll_fd, EPOLL_CTL_ADD, pipe_fds[0], &event) ||
	    bind(listener, (struct sockaddr *)&address, sizeof(address)) ||
	    listen(listener, 0))
		failed("things to wait for");
	make_files();
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (getppid() == parent) /* otherwise it ended before prctl() */
			pause();
		_exit(0);
	}
}

static void *obey(void *unused)
{
	char letter;

	while (read(STDIN_FILENO, &letter, 1) == 1) {
		if (letter == 'w' && chosen->wake)
			chosen->wake();
		else if (letter == 'c' && write(orders[1], "c", 1) != 1)
			failed("write");
	}
	if (semaphores >= 0)
		semctl(semaphores, 0, IPC_RMID);
	if (messages >= 0)
		msgctl(messages, IPC_RMID, NULL);
	kill(child, SIGKILL);
	_exit(0);
	return unused;
}

/* Signals must wait for the main thread, so the other thread blocks them. */
static void start_obeying(void)
{
	sigset_t all, old;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	start_thread(obey, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

static void choose(const char *argument)
{
	size_t length = strcspn(argument, ":");

	if (argument[length])
		milliseconds = (long)number_of(argument + length + 1);
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (strlen(calls[i].name) == length &&
		    strncmp(calls[i].name, argument, length) == 0)
			chosen = &calls[i];
	if (!chosen)
		failed(argument);
}

static void call_once(void)
{
	uint64_t start = now_ns();
	long value;
	int error;

	errno = 0;
	__atomic_store_n(&shown->is_in_call, 1, __ATOMIC_RELEASE);
	value = chosen->call();
	error = errno;
	__atomic_store_n(&shown->is_in_call, 0, __ATOMIC_RELEASE);
	say("elapsed_us", (now_ns() - start) / 1000);
	say("failed", value < 0);
	say("value", value < 0 ? 0 : (uint64_t)value);
	say("errno", value < 0 ? (uint64_t)error : 0);
	say_word("done");
}

/*
 * Wait in the call that argument names. Signals are counted: after SIGUSR1's handler,
 * system calls are not restarted; after SIGALRM's, they are.
 */
void call_run(const char *argument)
{
	struct sigaction action = { .sa_handler = count_signal };
	char letter;

	main_thread = pthread_self();
	shown->counter_count = 1;
	choose(argument);
	make_things_to_wait_for();
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGUSR2, &action, NULL);
	action.sa_flags = SA_RESTART;
	sigaction(SIGALRM, &action, NULL);
	start_obeying();
	if (chosen->make)
		chosen->make();
	target_is_ready();
	for (;;)
		/* a late signal may interrupt the read */
		if (read(orders[0], &letter, 1) == 1)
			call_once();
}
