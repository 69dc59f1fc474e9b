/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * held_target - a process that reports what effects a short stop had on it.
 *
 * sleeps 0   has a thread in each system call that waits. At the letter i it prints for
 *            each call how often it failed with EINTR, and as "other" how often with
 *            another error.
 * signals N  sends itself N queued signals at the letter g, then prints how many of
 *            them arrived, and how many of these out of order.
 *
 * The target first prints its "pid" and "ready"; answers end with "done". It ends with
 * its input, with its parent, and after two minutes.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/aio_abi.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SECONDS 120

static void say(const char *key, uint64_t value)
{
	printf("%s %" PRIu64 "\n", key, value);
}

static int pipe_fds[2], socket_fds[2], epoll_fd, listen_fd, sem_id;
static aio_context_t aio_context;
static pid_t child;

static long do_nanosleep(void)
{
	const struct timespec ts = { SECONDS, 0 };

	return nanosleep(&ts, NULL);
}

static long do_clock_nanosleep(void)
{
	const struct timespec ts = { SECONDS, 0 };

	errno = clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, NULL);
	return errno ? -1 : 0;
}

static long do_futex(void)
{
	static uint32_t word;
	const struct timespec ts = { SECONDS, 0 };

	return syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &ts, NULL, 0);
}

static long do_read(void)
{
	char byte;

	return read(pipe_fds[0], &byte, 1);
}

static long do_poll(void)
{
	struct pollfd fd = { pipe_fds[0], POLLIN, 0 };

	return poll(&fd, 1, SECONDS * 1000);
}

static long do_select(void)
{
	struct timeval tv = { SECONDS, 0 };
	fd_set set;

	FD_ZERO(&set);
	FD_SET(pipe_fds[0], &set);
	return select(pipe_fds[0] + 1, &set, NULL, NULL, &tv);
}

static long do_recv(void)
{
	char byte;

	return recv(socket_fds[0], &byte, 1, 0);
}

static long do_accept(void)
{
	return accept(listen_fd, NULL, NULL);
}

static long do_wait(void)
{
	return waitpid(child, NULL, 0);
}

static long do_epoll(void)
{
	struct epoll_event event;

	return epoll_wait(epoll_fd, &event, 1, SECONDS * 1000);
}

static long do_sigtimedwait(void)
{
	const struct timespec ts = { SECONDS, 0 };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	return sigtimedwait(&set, NULL, &ts);
}

static long do_endless_epoll(void)
{
	struct epoll_event event;

	return epoll_wait(epoll_fd, &event, 1, -1);
}

static long do_endless_epoll_pwait(void)
{
	struct epoll_event event;
	sigset_t set;

	sigemptyset(&set);
	return epoll_pwait(epoll_fd, &event, 1, -1, &set);
}

static long do_endless_sigtimedwait(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	return sigtimedwait(&set, NULL, NULL);
}

static long do_endless_io_getevents(void)
{
	struct io_event event;

	return syscall(SYS_io_getevents, aio_context, 1, 1, &event, NULL);
}

static long do_semop(void)
{
	struct sembuf operation = { 0, -1, 0 };

	return semop(sem_id, &operation, 1);
}

static long do_recv_in_time(void)
{
	char byte;

	return recv(socket_fds[1], &byte, 1, 0);
}

static struct sleeper {
	const char *name;
	long (*sleep)(void);
	uint64_t interrupted;
} sleepers[] = {
	{ "nanosleep", do_nanosleep, 0 },
	{ "clock_nanosleep", do_clock_nanosleep, 0 },
	{ "futex", do_futex, 0 },
	{ "read", do_read, 0 },
	{ "poll", do_poll, 0 },
	{ "select", do_select, 0 },
	{ "recv", do_recv, 0 },
	{ "accept", do_accept, 0 },
	{ "waitpid", do_wait, 0 },
	{ "epoll_wait", do_epoll, 0 },
	{ "sigtimedwait", do_sigtimedwait, 0 },
	{ "endless_epoll_wait", do_endless_epoll, 0 },
	{ "endless_epoll_pwait", do_endless_epoll_pwait, 0 },
	{ "endless_sigtimedwait", do_endless_sigtimedwait, 0 },
	{ "endless_io_getevents", do_endless_io_getevents, 0 },
	{ "semop", do_semop, 0 },
	{ "recv_in_time", do_recv_in_time, 0 },
};

#define SLEEPER_COUNT (sizeof(sleepers) / sizeof(sleepers[0]))

static uint64_t other;

static void *sleep_on(void *arg)
{
	struct sleeper *s = arg;

	for (;;) {
		errno = 0;
		if (s->sleep() < 0 && errno == EINTR) {
			__atomic_fetch_add(&s->interrupted, 1, __ATOMIC_RELAXED);
		} else {
			__atomic_fetch_add(&other, 1, __ATOMIC_RELAXED);
			usleep(1000);
		}
	}
	return NULL;
}

static void make_things_to_wait_for(void)
{
	const struct timeval tv = { SECONDS, 0 };
	pid_t parent = getpid();

	sem_id = semget(IPC_PRIVATE, 1, 0600);
	listen_fd = socket(AF_UNIX, SOCK_STREAM, 0);
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (pipe(pipe_fds) || socketpair(AF_UNIX, SOCK_STREAM, 0, socket_fds) ||
	    sem_id < 0 || epoll_fd < 0 || syscall(SYS_io_setup, 1, &aio_context) ||
	    bind(listen_fd, &(struct sockaddr){ AF_UNIX, "" }, 2) ||
	    listen(listen_fd, 1) ||
	    setsockopt(socket_fds[1], SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)))
		_exit(77);
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (getppid() == parent) /* otherwise it ended before prctl() */
			pause();
		_exit(0);
	}
}

static void sleeps(uint64_t unused)
{
	sigset_t set;

	(void)unused;
	make_things_to_wait_for();
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	for (size_t i = 0; i < SLEEPER_COUNT; i++) {
		pthread_t id;

		if (pthread_create(&id, NULL, sleep_on, &sleepers[i]))
			_exit(99);
	}
}

static void say_sleeps(void)
{
	for (size_t i = 0; i < SLEEPER_COUNT; i++)
		say(sleepers[i].name,
		    __atomic_load_n(&sleepers[i].interrupted, __ATOMIC_RELAXED));
	say("other", __atomic_load_n(&other, __ATOMIC_RELAXED));
}

static volatile uint64_t received, misplaced;
static uint64_t to_send;

static void receive(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	misplaced += (uint64_t)info->si_value.sival_int != received;
	received++;
}

static void *wait_for_signals(void *unused)
{
	sigset_t set;

	(void)unused;
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	for (;;)
		pause();
	return NULL;
}

static void signals(uint64_t number)
{
	struct sigaction action = { .sa_flags = SA_SIGINFO };
	sigset_t set;
	pthread_t id;

	to_send = number;
	action.sa_sigaction = receive;
	sigaction(SIGRTMIN, &action, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	if (pthread_create(&id, NULL, wait_for_signals, NULL))
		_exit(99);
}

static void send_signals(void)
{
	for (uint64_t i = 0; i < to_send; i++)
		while (sigqueue(getpid(), SIGRTMIN,
				(union sigval){ .sival_int = (int)i }))
			usleep(100); /* the queue is full; wait until there is room */
	for (int i = 0; i < 5000 && received < to_send; i++)
		usleep(1000);
	say("received", received);
	say("misplaced", misplaced);
}

static void obey(void)
{
	char letter;

	while (read(STDIN_FILENO, &letter, 1) == 1) {
		if (letter == 'i')
			say_sleeps();
		else if (letter == 'g')
			send_signals();
		else
			continue;
		puts("done");
		fflush(stdout);
	}
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 99;
	alarm(SECONDS);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (strcmp(argv[1], "sleeps") == 0)
		sleeps(0);
	else
		signals(strtoull(argv[2], NULL, 10));
	say("pid", (uint64_t)getpid());
	puts("ready");
	fflush(stdout);
	obey();
	if (sem_id > 0)
		semctl(sem_id, 0, IPC_RMID);
	return 0;
}
