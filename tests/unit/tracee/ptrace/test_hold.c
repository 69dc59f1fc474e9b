/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tracee/ptrace/hold.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "../../support/stopped_process.h"
#include "tracee/ptrace/watchdog.h"
#include "../../support/unit.h"

#define RESCUE_SECONDS 20

static volatile int handled;
static int open_holds;

static void count(int signal)
{
	(void)signal;
	handled++;
}

static void set_action(int signal, void (*handler)(int))
{
	struct sigaction action = { .sa_handler = handler };

	assert_int_equal(sigaction(signal, &action, NULL), 0);
}

static void assert_action(int signal, void (*handler)(int))
{
	struct sigaction action;

	assert_int_equal(sigaction(signal, NULL, &action), 0);
	assert_ptr_equal(action.sa_handler, handler);
}

static void begin_hold(void)
{
	assert_int_equal(hold_begin(), 0);
	open_holds++;
}

static void end_hold(void)
{
	open_holds--;
	hold_end();
}

/*
 * A failed case must not affect the next ones: end its holds, and drop the signals
 * that the holds have deferred.
 */
static int end_holds(void **state)
{
	const int signals[] = { SIGTSTP, SIGTTIN, SIGTTOU };

	(void)state;
	if (open_holds > 0)
		raise(SIGCONT);
	while (open_holds > 0)
		end_hold();
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		set_action(signals[i], SIG_DFL);
	return 0;
}

static int signal_during_work(void *context, const struct stop *stop)
{
	(void)context;
	(void)stop;
	kill(getpid(), SIGTSTP);
	usleep(20000); /* the handler runs in the main thread, if it is not deferred */
	return handled ? -EINVAL : 0;
}

static void the_programs_own_handler_runs_after_the_stop(void **state)
{
	handled = 0;
	set_action(SIGTSTP, count);
	begin(*state, be_many);
	assert_int_equal(run_work(*state, LIMIT_NS, signal_during_work), 0);
	assert_int_equal(handled, 1);
	assert_action(SIGTSTP, count);
	set_action(SIGTSTP, SIG_DFL);
}

static void signals_are_deferred_until_the_last_hold_ends(void **state)
{
	const int signals[] = { SIGTSTP, SIGTTIN, SIGTTOU };

	(void)state;
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
		handled = 0;
		set_action(signals[i], count);
		begin_hold();
		begin_hold();
		raise(signals[i]);
		end_hold();
		assert_int_equal(handled, 0);
		end_hold();
		assert_int_equal(handled, 1);
		assert_action(signals[i], count);
		set_action(signals[i], SIG_DFL);
	}
}

static void ignored_signals_stay_ignored(void **state)
{
	(void)state;
	set_action(SIGTSTP, SIG_IGN);
	begin_hold();
	assert_action(SIGTSTP, SIG_IGN);
	end_hold();
	assert_action(SIGTSTP, SIG_IGN);
	set_action(SIGTSTP, SIG_DFL);
}

static void a_handler_set_during_the_hold_is_kept(void **state)
{
	(void)state;
	handled = 0;
	begin_hold();
	raise(SIGTSTP);
	set_action(SIGTSTP, count);
	end_hold();
	assert_int_equal(handled, 1);
	assert_action(SIGTSTP, count);
	set_action(SIGTSTP, SIG_DFL);
}

static void sigcont_cancels_deferred_signals(void **state)
{
	(void)state;
	handled = 0;
	set_action(SIGTSTP, count);
	begin_hold();
	raise(SIGTSTP);
	raise(SIGCONT);
	end_hold();
	assert_int_equal(handled, 0);
	assert_action(SIGCONT, SIG_DFL);
	set_action(SIGTSTP, SIG_DFL);
}

/* Continue the test if the watchdog does not, so that it fails instead of hanging. */
static pid_t start_rescuer(void)
{
	pid_t test = getpid(), pid = fork();

	if (pid != 0)
		return pid;
	sleep(RESCUE_SECONDS);
	kill(test, SIGCONT);
	_exit(0);
}

static void a_killed_watchdog_is_replaced(void **state)
{
	siginfo_t info;
	pid_t first, rescuer;

	(void)state;
	begin_hold();
	first = watchdog_pid();
	end_hold();
	if (first == 0)
		skip(); /* this kernel has no pidfd_open() */
	kill(first, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)first, &info, WEXITED | WNOWAIT), 0);
	begin_hold();
	assert_int_not_equal(watchdog_pid(), first);
	rescuer = start_rescuer();
	raise(SIGSTOP);
	assert_true(watchdog_has_continued());
	kill(rescuer, SIGKILL);
	waitpid(rescuer, NULL, 0);
	watchdog_forget(); /* otherwise hold_end() would stop the test again */
	end_hold();
}

/* A thread that begins a hold while the test has one. */
struct second_hold {
	volatile int tid; /* 0 until just before hold_begin() */
	volatile bool has_begun, may_end;
};

static void *hold_too(void *arg)
{
	struct second_hold *second = arg;

	second->tid = gettid();
	if (hold_begin() != 0)
		return NULL;
	second->has_begun = true;
	while (!second->may_end)
		usleep(1000);
	hold_end();
	return second;
}

static bool is_thread_asleep(int tid)
{
	char path[64], text[512];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return strstr(text, ") S ") != NULL;
}

static void a_deferred_signal_is_not_delayed_by_another_hold(void **state)
{
	struct second_hold second = { .tid = 0 };
	sigset_t all, before;
	pthread_t thread;
	void *result;
	int handled_at_end;

	(void)state;
	handled = 0;
	set_action(SIGTSTP, count);
	begin_hold();
	raise(SIGTSTP);
	sigfillset(&all); /* the main thread must handle the signal */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	assert_int_equal(pthread_create(&thread, NULL, hold_too, &second), 0);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	while (second.tid == 0 || (!second.has_begun && !is_thread_asleep(second.tid)))
		usleep(1000);
	end_hold();
	handled_at_end = handled;
	second.may_end = true;
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_ptr_equal(result, &second);
	assert_int_equal(handled_at_end, 1);
	assert_int_equal(handled, 1);
	set_action(SIGTSTP, SIG_DFL);
}

/* Be stopped during a hold. *is_ending is set just before the hold ends. */
static _Noreturn void be_stopped_during_hold(volatile int *is_ending)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (hold_begin() != 0 || watchdog_pid() == 0)
		_exit(77);
	raise(SIGSTOP);
	if (!watchdog_has_continued())
		_exit(1);
	*is_ending = 1;
	hold_end();
	_exit(0);
}

/*
 * Wait until the process has ended, or has stopped after it set *is_ending. Return true
 * if it has stopped.
 */
static bool stops_at_end(pid_t pid, const volatile int *is_ending)
{
	for (int i = 0; i < RESCUE_SECONDS * 1000; i++) {
		int was_ending = *is_ending;
		siginfo_t info = { .si_pid = 0 };

		if (waitid(P_PID, (id_t)pid, &info,
			   WEXITED | WSTOPPED | WNOHANG | WNOWAIT) == 0 &&
		    info.si_pid == pid && (info.si_code != CLD_STOPPED || was_ending))
			return info.si_code == CLD_STOPPED;
		usleep(1000);
	}
	return false;
}

static void a_stop_that_the_watchdog_ended_takes_effect_after_the_hold(void **state)
{
	volatile int *is_ending = mmap(NULL, sizeof(*is_ending), PROT_READ | PROT_WRITE,
				       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	bool is_stopped;
	int status;
	pid_t pid;

	(void)state;
	assert_ptr_not_equal(is_ending, MAP_FAILED);
	pid = fork();
	if (pid == 0)
		be_stopped_during_hold(is_ending);
	assert_true(pid > 0);
	is_stopped = stops_at_end(pid, is_ending);
	kill(pid, is_stopped ? SIGCONT : SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	munmap((void *)is_ending, sizeof(*is_ending));
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip(); /* this kernel has no pidfd_open() */
	assert_true(is_stopped);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* Memory shared by the test and a process whose main thread sleeps uninterruptibly. */
struct sleeper {
	volatile int has_continued;
};

static bool is_main_thread_in_deep_sleep(void)
{
	char text[512];
	int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, text, sizeof(text) - 1);

	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return strstr(text, ") D ") != NULL;
}

static void *stop_process(void *shared_memory)
{
	struct sleeper *sleeper = shared_memory;

	while (!is_main_thread_in_deep_sleep())
		usleep(1000);
	/*
	 * Signal this thread only: the kernel would deliver a signal for the
	 * process to the main thread.
	 */
	raise(SIGSTOP);
	while (!watchdog_has_continued())
		usleep(1000);
	sleeper->has_continued = 1;
	return NULL;
}

static _Noreturn void sleep_deeply(struct sleeper *sleeper)
{
	pthread_t thread;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (hold_begin() != 0 || watchdog_pid() == 0 ||
	    pthread_create(&thread, NULL, stop_process, sleeper) != 0)
		_exit(77);
	/*
	 * vfork() leads into an uninterruptible sleep without a device or a file system
	 */
	if (vfork() == 0) {
		for (int i = 0; i < RESCUE_SECONDS * 1000 && !sleeper->has_continued; i++)
			usleep(1000);
		_exit(0);
	}
	_exit(sleeper->has_continued ? 0 : 1);
}

static void memstate_is_continued_if_its_main_thread_cannot_stop(void **state)
{
	struct sleeper *sleeper = mmap(NULL, sizeof(*sleeper), PROT_READ | PROT_WRITE,
				       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status = -1; /* the process did not end */
	pid_t pid;

	(void)state;
	assert_ptr_not_equal(sleeper, MAP_FAILED);
	pid = fork();
	if (pid == 0)
		sleep_deeply(sleeper);
	assert_true(pid > 0);
	for (int i = 0; i < RESCUE_SECONDS * 1000 && waitpid(pid, &status, WNOHANG) == 0;
	     i++)
		usleep(1000);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	munmap(sleeper, sizeof(*sleeper));
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip(); /* this kernel has no pidfd_open() */
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static int request_fds[2];
static bool is_work_begun;

/*
 * Start a process that stops the test on request, for longer than
 * memstate waits for hung work.
 */
static pid_t start_stopper(void)
{
	pid_t test = getpid(), pid = fork();
	char byte;

	if (pid != 0)
		return pid;
	close(request_fds[1]); /* read() returns 0 when the test closes its end */
	if (read(request_fds[0], &byte, 1) != 1)
		_exit(1);
	kill(test, SIGSTOP);
	sleep(3);
	kill(test, SIGCONT);
	_exit(0);
}

static void use_cpu(uint64_t ns)
{
	uint64_t end_ns = clock_thread_cpu_ns() + ns;

	while (clock_thread_cpu_ns() < end_ns)
		;
}

/*
 * Work that does not hang, but takes a while to notice that the target has been released.
 */
static int work_late(void *context, const struct stop *stop)
{
	(void)context;
	is_work_begun = true;
	while (!stop_has_ended(stop))
		usleep(100);
	use_cpu(200 * NS_PER_MS);
	if (write(request_fds[1], "", 1) != 1)
		return -EIO;
	use_cpu(200 * NS_PER_MS);
	return -ETIMEDOUT;
}

static void time_while_memstate_is_stopped_does_not_count_as_a_hang(void **state)
{
	pid_t stopper;
	int status, r = 0;

	/* start the target before pipe(), so that it does not keep the pipe open */
	begin(*state, be_many);
	assert_int_equal(pipe(request_fds), 0);
	stopper = start_stopper();
	assert_true(stopper > 0);
	/* a busy machine needs a higher limit to stop all threads: the work must begin */
	is_work_begun = false;
	for (uint64_t limit_ns = 50 * NS_PER_MS; !is_work_begun && limit_ns < LIMIT_NS;
	     limit_ns *= 2)
		r = run_work(*state, limit_ns, work_late);
	close(request_fds[0]);
	close(request_fds[1]);
	assert_int_equal(waitpid(stopper, &status, 0), stopper);
	assert_int_equal(status, 0);
	assert_int_equal(r, -ETIMEDOUT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
#define HOLD_TEST(f) cmocka_unit_test_teardown(f, end_holds)
		TEST(the_programs_own_handler_runs_after_the_stop),
		TEST(time_while_memstate_is_stopped_does_not_count_as_a_hang),
		HOLD_TEST(signals_are_deferred_until_the_last_hold_ends),
		HOLD_TEST(ignored_signals_stay_ignored),
		HOLD_TEST(a_handler_set_during_the_hold_is_kept),
		HOLD_TEST(sigcont_cancels_deferred_signals),
		HOLD_TEST(a_deferred_signal_is_not_delayed_by_another_hold),
		cmocka_unit_test(
			a_stop_that_the_watchdog_ended_takes_effect_after_the_hold),
		HOLD_TEST(a_killed_watchdog_is_replaced),
		cmocka_unit_test(memstate_is_continued_if_its_main_thread_cannot_stop),
#undef TEST
#undef HOLD_TEST
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
