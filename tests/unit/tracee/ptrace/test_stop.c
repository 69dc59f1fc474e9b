/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tracee/ptrace/stop.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/units.h"
#include "../../support/stopped_process.h"
#include "../../support/unit.h"

#define COPIED_BYTES (256 << 20)

/* Check that all threads except ended ones are stopped, and that each is in the list. */
static int check_all_stand(void *context, const struct stop *stop)
{
	struct target *target = context;
	uint64_t before = shared->steps;
	size_t standing, ended;

	count_threads(target, "ZX", &ended);
	if (count_threads(target, "t", &standing) - ended != standing)
		return -EINVAL;
	usleep(2000); /* a thread that still runs would make a step meanwhile */
	return standing != stop->count || shared->steps != before ? -EINVAL : 0;
}

static int do_nothing(void *context, const struct stop *stop)
{
	(void)context;
	(void)stop;
	return 0;
}

static void hundreds_of_threads_are_stopped_and_resumed(void **state)
{
	begin(*state, be_many);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(run_work(*state, LIMIT_NS, check_all_stand), 0);
		assert_true(goes_on());
	}
}

static void *start_another(void *unused)
{
	(void)unused;
	__atomic_fetch_add(&shared->steps, 1, __ATOMIC_RELAXED);
	start_thread(start_another);
	return NULL;
}

/* Eight threads at a time; each one only starts the next and ends. */
static void be_fleeting(void)
{
	for (int i = 0; i < 8; i++)
		start_thread(start_another);
	shared->is_ready = 1;
	for (;;)
		pause();
}

static void threads_that_start_and_end_meanwhile_are_all_stopped(void **state)
{
	int done = 0;

	begin(*state, be_fleeting);
	for (int i = 0; i < 200 && done < 20; i++) {
		int r = run_work(*state, LIMIT_NS, check_all_stand);

		assert_int_not_equal(r, -EINVAL);
		done += r == 0;
		assert_true(goes_on());
	}
	assert_true(done > 0);
}

static void end_leader(void)
{
	start_thread(count_steps);
	shared->is_ready = 1;
	pthread_exit(NULL);
}

static void threads_whose_leader_has_ended_are_stopped(void **state)
{
	begin(*state, end_leader);
	assert_int_equal(run_work(*state, LIMIT_NS, check_all_stand), 0);
	assert_true(goes_on());
}

/* Fork all the time: a process's threads cannot end while it is being copied. */
static void *copy_all_the_time(void *unused)
{
	(void)unused;
	for (;;) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(0);
		if (pid > 0)
			waitpid(pid, NULL, 0);
		__atomic_fetch_add(&shared->steps, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void end_leader_while_copied(void)
{
	char *p = mmap(NULL, COPIED_BYTES, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t before;

	/*
	 * write one page, because fork() does not copy a mapping that has only zero pages
	 */
	if (p == MAP_FAILED || madvise(p, COPIED_BYTES, MADV_NOHUGEPAGE) < 0 ||
	    madvise(p, COPIED_BYTES, MADV_POPULATE_READ) < 0)
		_exit(96);
	p[0] = 1;
	before = __atomic_load_n(&shared->steps, __ATOMIC_RELAXED);
	start_thread(copy_all_the_time);
	while (__atomic_load_n(&shared->steps, __ATOMIC_RELAXED) == before)
		usleep(100);
	shared->is_ready = 1;
	/* exit directly: pthread_exit() would have to load a library first */
	syscall(SYS_exit, 0);
}

static void a_leader_that_ends_meanwhile_causes_no_hang(void **state)
{
	for (int i = 0; i < 40; i++) {
		begin(*state, end_leader_while_copied);
		assert_int_not_equal(run_work(*state, LIMIT_NS, do_nothing), -ETIMEDOUT);
		assert_true(goes_on());
		end(*state);
	}
}

static int vfork_child(void *unused)
{
	(void)unused;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(SECONDS);
	shared->is_ready = 1;
	for (;;)
		pause();
	return 0;
}

static void *wait_for_vfork(void *unused)
{
	static char stack[STACK_BYTES] __attribute__((aligned(16)));

	(void)unused;
	clone(vfork_child, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
	return NULL;
}

/*
 * One thread waits for a child of vfork(), which nothing can
 * interrupt; the other thread counts.
 */
static void be_vforking(void)
{
	start_thread(wait_for_vfork);
	count_steps(NULL);
}

static void an_uninterruptible_sleep_is_an_error_and_all_threads_resume(void **state)
{
	begin(*state, be_vforking);
	assert_int_equal(run_work(*state, LIMIT_NS, check_all_stand), -EAGAIN);
	assert_true(goes_on());
	assert_int_equal(run_work(*state, 10 * NS_PER_MS, check_all_stand), -ETIMEDOUT);
	assert_true(goes_on());
}

static void *execute(void *unused)
{
	char *args[] = { (char *)"executing", NULL };

	(void)unused;
	usleep(1000);
	execv("/proc/self/exe", args);
	_exit(97);
}

/*
 * Keep executing this program as a program with threads. Its
 * main() calls this function again.
 */
static void be_executing(void)
{
	for (int i = 0; i < 64; i++)
		start_thread(count_steps);
	shared->is_ready = 1;
	if (getpid() % 2 == 0 || shared->steps % 2 == 0)
		execute(NULL);
	start_thread(execute);
	for (;;)
		pause();
}

/*
 * The kernel makes execve() wait for the tracer, and the tracer for
 * execve(). The wait must end.
 */
static void an_exec_during_the_stop_causes_no_hang(void **state)
{
	begin(*state, be_executing);
	for (int i = 0; i < 100; i++) {
		(void)run_work(*state, 100 * NS_PER_MS, do_nothing);
		assert_true(goes_on());
	}
}

static int find_magic(void *context, const struct stop *stop)
{
	(void)context;
	for (size_t i = 0; i < stop->word_count; i++)
		if (stop->words[i] == MAGIC)
			return 0;
	return -ENODATA;
}

#if defined(__x86_64__)
/* Hold the address in a vector register only; the code contains just its complement. */
static void hold_in_sse(void)
{
	uint64_t value = ~MAGIC;

	__asm__ volatile("notq %0\n\tmovq %0, %%xmm9\n\tpslldq $8, %%xmm9\n\t"
			 "xorl %k0, %k0\n\tmovl $1, (%1)\n"
			 "1:\tpause\n\tincq (%2)\n\tjmp 1b"
			 : "+r"(value)
			 : "r"(&shared->is_ready), "r"(&shared->steps)
			 : "xmm9", "memory");
}

static void hold_in_avx(void)
{
	uint64_t value = ~MAGIC;

	__asm__ volatile("notq %0\n\tvmovq %0, %%xmm9\n\t"
			 "vperm2f128 $0x08, %%ymm9, %%ymm9, %%ymm9\n\t"
			 "xorl %k0, %k0\n\tmovl $1, (%1)\n"
			 "1:\tpause\n\tincq (%2)\n\tjmp 1b"
			 : "+r"(value)
			 : "r"(&shared->is_ready), "r"(&shared->steps)
			 : "xmm9", "memory");
}

static void addresses_in_vector_registers_are_found(void **state)
{
	begin(*state, hold_in_sse);
	assert_int_equal(run_work(*state, LIMIT_NS, find_magic), 0);
	assert_true(goes_on());
	end(*state);
	if (!__builtin_cpu_supports("avx"))
		return;
	begin(*state, hold_in_avx);
	assert_int_equal(run_work(*state, LIMIT_NS, find_magic), 0);
	assert_true(goes_on());
}
#else
static void addresses_in_vector_registers_are_found(void **state)
{
	(void)state;
	(void)find_magic;
}
#endif

static int refuse(void *context, const struct stop *stop)
{
	(void)context;
	(void)stop;
	return -EDOM;
}

static void the_result_of_the_work_is_returned(void **state)
{
	begin(*state, be_many);
	assert_int_equal(run_work(*state, LIMIT_NS, refuse), -EDOM);
	assert_true(goes_on());
}

static void a_process_with_another_tracer_is_left_alone(void **state)
{
	struct target *target = *state;
	int is_traced;

	begin(target, be_many);
	is_traced = ptrace(PTRACE_SEIZE, target->pid, NULL, NULL) == 0;
	if (!is_traced)
		skip();
	assert_int_equal(run_work(target, LIMIT_NS, do_nothing), -EBUSY);
	assert_true(goes_on());
}

static void an_ended_process_is_an_error(void **state)
{
	struct target *target = *state;

	begin(target, be_many);
	kill(target->pid, SIGKILL);
	waitpid(target->pid, NULL, 0);
	assert_int_equal(run_work(target, LIMIT_NS, do_nothing), -ESRCH);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
		TEST(hundreds_of_threads_are_stopped_and_resumed),
		TEST(threads_that_start_and_end_meanwhile_are_all_stopped),
		TEST(threads_whose_leader_has_ended_are_stopped),
		TEST(a_leader_that_ends_meanwhile_causes_no_hang),
		TEST(an_uninterruptible_sleep_is_an_error_and_all_threads_resume),
		TEST(an_exec_during_the_stop_causes_no_hang),
		TEST(addresses_in_vector_registers_are_found),
		TEST(the_result_of_the_work_is_returned),
		TEST(a_process_with_another_tracer_is_left_alone),
		TEST(an_ended_process_is_an_error),
#undef TEST
	};

	if (argc == 1 && strcmp(argv[0], "executing") == 0) {
		map_shared();
		be_executing();
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
