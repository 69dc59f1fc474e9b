/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * filter_target HOW ACTION THREADS CALLS [wait] - start threads, put all of them under a
 * seccomp filter that allows little more than malloc() and threads need, and allocate in
 * the threads and in main(). Prints the amounts.
 *
 * HOW: prctl, syscall (each thread installs the filter), tsync (one thread installs it
 * for all), raw (prctl without libc), mode1 (strict mode; the threads allocate one after
 * the other, and main() is not in strict mode), fork (prctl, and then a fork).
 *
 * ACTION: kill, or eperm.
 *
 * wait: print the pid before the filter is installed, and the amounts afterwards, and
 * wait for a line after both. main() allocates once more after the second line.
 */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))
#define KEPT 7 /* blocks that each thread keeps */

static const int allowed[] = {
	SYS_read, SYS_write,  SYS_exit, SYS_exit_group,	  SYS_futex,
	SYS_mmap, SYS_munmap, SYS_brk,	SYS_rt_sigreturn,
};

static const char *how;
static unsigned int action = SECCOMP_RET_KILL_PROCESS;
static long calls;
static atomic_long started, ready, done;
static atomic_int go;
static sem_t turn; /* whose turn it is to enter strict mode */
/* of each thread, because the functions below return its value */
static __thread void *volatile sink;

static long raw_call(long number, long a, long b, long c)
{
	long r;

	__asm__ volatile("syscall"
			 : "=a"(r)
			 : "a"(number), "D"(a), "S"(b), "d"(c)
			 : "rcx", "r11", "memory");
	return r;
}

/*
 * Wait until another thread calls wake(), unless the 32 low bits of the word differ from
 * the value. Filters allow futex(2).
 */
static void wait_while(void *word, int value)
{
	syscall(SYS_futex, word, FUTEX_WAIT, value, NULL);
}

static void wake(void *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX);
}

static void install(void)
{
	struct sock_filter code[64];
	struct sock_fprog program = { .filter = code };
	unsigned short n = 0;
	long r;

	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						 offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++) {
		code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							 (unsigned int)allowed[i], 0, 1);
		code[n++] =
			(struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	}
	if (strcmp(how, "fork") == 0) {
		code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K,
							 SYS_wait4, 2, 0);
		code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K,
							 SYS_clone, 0, 1);
		code[n++] =
			(struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
		code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							 SYS_set_robust_list, 0, 1);
		code[n++] =
			(struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	}
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action);
	program.len = n;
	if (strcmp(how, "raw") == 0)
		r = raw_call(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER,
			     (long)&program);
	else if (strcmp(how, "syscall") == 0)
		r = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
	else if (strcmp(how, "tsync") == 0)
		r = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			    SECCOMP_FILTER_FLAG_TSYNC, &program);
	else if (strcmp(how, "mode1") == 0)
		r = prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	else
		r = prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
	if (r != 0)
		_exit(77);
}

NOINLINE static void *one_block(long i)
{
	sink = malloc((size_t)(i % 300 + 1));
	return sink;
}

/* Allocate from ten different stacks of different depth. */
NOINLINE static void *deeper(long depth, long i)
{
	volatile char room[3000];
	void *p;

	room[0] = (char)depth;
	p = depth > 0 ? deeper(depth - 1, i) : one_block(i);
	return room[0] >= 0 ? p : NULL;
}

static void allocate(void)
{
	for (long i = 0; i < calls; i++) {
		void *p = deeper(i % 10, i);

		if (i >= KEPT)
			free(p);
	}
}

static void *work_in_strict_mode(void *unused)
{
	(void)unused;
	atomic_fetch_add(&started, 1);
	sem_wait(&turn);
	install();
	allocate();
	atomic_fetch_add(&done, 1);
	syscall(SYS_exit, 0);
	return NULL;
}

static void *work(void *unused)
{
	(void)unused;
	atomic_fetch_add(&started, 1);
	while (!atomic_load(&go))
		wait_while(&go, 0);
	if (strcmp(how, "tsync") != 0)
		install();
	atomic_fetch_add(&ready, 1);
	allocate();
	atomic_fetch_add(&done, 1);
	wake(&done);
	/* the filter does not allow the system calls of a thread's end */
	for (;;)
		wait_while(&started, (int)started);
	return NULL;
}

static void run_fork(void)
{
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		allocate();
		_exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
		_exit(3);
}

static void start_thread(void *(*function)(void *))
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 256 << 10);
	if (pthread_create(&thread, &attributes, function, NULL) != 0)
		_exit(2);
}

/*
 * The threads run one after the other, because strict mode does not
 * allow waiting for malloc's lock.
 */
static void run_in_strict_mode(long threads)
{
	for (long i = 0; i < threads; i++) {
		sem_post(&turn);
		while (atomic_load(&done) <= i)
			sched_yield();
	}
}

static void begin(long threads, bool is_strict)
{
	long ended;

	free(one_block(299)); /* strict mode does not allow brk(2) */
	if (is_strict)
		run_in_strict_mode(threads);
	else
		install();
	atomic_store(&go, 1);
	if (threads > 0) /* without threads, strict mode may be active */
		wake(&go);
	allocate();
	while ((ended = atomic_load(&done)) < threads)
		wait_while(&done, (int)ended);
}

__attribute__((format(printf, 1, 2))) static void print(const char *format, ...)
{
	char line[128];
	va_list list;
	int n;

	va_start(list, format);
	n = vsnprintf(line, sizeof(line), format, list);
	va_end(list);
	if (write(STDOUT_FILENO, line, (size_t)n) != n)
		syscall(SYS_exit, 1);
}

static void wait_for_line(void)
{
	char c;

	while (read(STDIN_FILENO, &c, 1) == 1 && c != '\n')
		;
}

int main(int argc, char **argv)
{
	bool is_strict, waits = argc == 6 && strcmp(argv[5], "wait") == 0;
	long threads;

	if (argc != 5 && !waits)
		return 2;
	how = argv[1];
	if (strcmp(argv[2], "eperm") == 0)
		action = SECCOMP_RET_ERRNO | EPERM;
	threads = atol(argv[3]);
	calls = atol(argv[4]);
	is_strict = strcmp(how, "mode1") == 0 && threads > 0;
	/* another arena would need mprotect(2), and a larger heap brk(2) */
	if (!mallopt(M_ARENA_MAX, 1) || !mallopt(M_TOP_PAD, 16 << 20) ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return 2;
	for (long i = 0; i < threads; i++)
		start_thread(is_strict ? work_in_strict_mode : work);
	while (atomic_load(&started) < threads)
		usleep(1000);
	if (waits) {
		print("pid %d\nready\n", (int)getpid());
		wait_for_line();
	}
	begin(threads, is_strict);
	if (strcmp(how, "fork") == 0)
		run_fork();
	print("malloc %ld\nlive %ld\nthreads %ld\n", (threads + 1) * calls + 1,
	      (threads + 1) * KEPT, threads + 1);
	if (waits) {
		print("done\n");
		wait_for_line();
		allocate();
	}
	/* strict mode has no exit_group */
	syscall(threads > 0 ? SYS_exit_group : SYS_exit, 0);
}
