/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/data/send_signal.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proc/process/stat.h"
#include "../../support/unit.h"

#define NOBODY 65534

struct stage {
	struct procfs fs;
	pid_t child;
	struct process process;
};

/* Start a child that waits for signals. */
static void begin(struct stage *s)
{
	s->fs = (struct procfs)PROCFS_INIT;
	assert_int_equal(procfs_open(&s->fs, "/proc"), 0);
	s->child = fork();
	assert_true(s->child >= 0);
	if (s->child == 0)
		for (;;)
			pause();
	assert_int_equal(proc_stat_read(&s->fs, s->child, &s->process), 0);
}

/* End the child. Returns the signal that ended it. */
static int end(struct stage *s)
{
	int status;

	kill(s->child, SIGKILL);
	assert_int_equal(waitpid(s->child, &status, 0), s->child);
	procfs_release(&s->fs);
	return WTERMSIG(status);
}

/* Return false if the kernel or valgrind has no pidfd_send_signal(). */
static bool can_send(const struct stage *s)
{
	return send_signal(&s->fs, &s->process, SIGCONT) != -ENOSYS;
}

static void the_process_gets_the_signal(void **state)
{
	struct stage s;
	int status;

	(void)state;
	begin(&s);
	if (!can_send(&s)) {
		end(&s);
		skip();
	}
	assert_int_equal(send_signal(&s.fs, &s.process, SIGTERM), 0);
	assert_int_equal(waitpid(s.child, &status, 0), s.child);
	assert_int_equal(WTERMSIG(status), SIGTERM);
	/* it has been reaped */
	assert_int_equal(send_signal(&s.fs, &s.process, SIGTERM), -ESRCH);
	procfs_release(&s.fs);
}

static void a_process_that_reuses_the_pid_gets_no_signal(void **state)
{
	struct stage s;

	(void)state;
	begin(&s);
	if (!can_send(&s)) {
		end(&s);
		skip();
	}
	s.process.start_ticks--;
	assert_int_equal(send_signal(&s.fs, &s.process, SIGTERM), -ESRCH);
	assert_int_equal(end(&s), SIGKILL);
}

static void pids_of_another_proc_are_not_used(void **state)
{
	struct stage s;

	(void)state;
	begin(&s);
	s.fs.is_live = false;
	assert_int_equal(send_signal(&s.fs, &s.process, SIGTERM), -EOPNOTSUPP);
	assert_int_equal(send_signal(NULL, &s.process, SIGTERM), -EOPNOTSUPP);
	assert_int_equal(end(&s), SIGKILL);
}

static void a_refusal_is_reported(void **state)
{
	struct stage s;
	int status;
	pid_t other;

	(void)state;
	if (geteuid() != 0)
		skip();
	begin(&s);
	if (!can_send(&s)) {
		end(&s);
		skip();
	}
	other = fork();
	assert_true(other >= 0);
	if (other == 0)
		_exit(setuid(NOBODY) == 0 &&
				      send_signal(&s.fs, &s.process, SIGTERM) == -EPERM
			      ? 0
			      : 1);
	assert_int_equal(waitpid(other, &status, 0), other);
	assert_int_equal(status, 0);
	assert_int_equal(end(&s), SIGKILL);
}

static void signals_have_names_and_numbers(void **state)
{
	struct strbuf name = STRBUF_INIT;
	int number = 0;

	(void)state;
	assert_int_equal(signal_parse("KILL", &number), 0);
	assert_int_equal(number, SIGKILL);
	assert_int_equal(signal_parse("sigterm", &number), 0);
	assert_int_equal(number, SIGTERM);
	assert_int_equal(signal_parse("1", &number), 0);
	assert_int_equal(number, SIGHUP);
	assert_int_equal(signal_parse("0", &number), -EINVAL);
	assert_int_equal(signal_parse("65000", &number), -EINVAL);
	assert_int_equal(signal_parse("", &number), -EINVAL);
	assert_int_equal(signal_parse("SIG", &number), -EINVAL);
	assert_int_equal(signal_parse("TERMINATE", &number), -EINVAL);
	assert_int_equal(number, SIGHUP);
	signal_add_name(&name, SIGTERM);
	signal_add_name(&name, 40);
	assert_string_equal(name.text, "SIGTERMsignal 40");
	strbuf_release(&name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_process_gets_the_signal),
		cmocka_unit_test(a_process_that_reuses_the_pid_gets_no_signal),
		cmocka_unit_test(pids_of_another_proc_are_not_used),
		cmocka_unit_test(a_refusal_is_reported),
		cmocka_unit_test(signals_have_names_and_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
