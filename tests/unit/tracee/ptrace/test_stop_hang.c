/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tracee/ptrace/stop.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../support/stopped_process.h"
#include "tracee/ptrace/trace.h"
#include "../../support/unit.h"

static int work_too_long(void *context, const struct stop *stop)
{
	(void)context;
	while (!stop_has_ended(stop))
		usleep(100);
	return stop_write_word(stop, 8, 1) == -ETIMEDOUT ? -ETIMEDOUT : -EINVAL;
}

static void the_pause_respects_the_limit_if_the_work_takes_too_long(void **state)
{
	const uint64_t limit_ns = 200 * NS_PER_MS;

	begin(*state, be_many);
	assert_int_equal(run_work(*state, limit_ns, work_too_long), -ETIMEDOUT);
	assert_true(last_pause_ns > 0 && last_pause_ns < 5 * limit_ns);
	assert_true(goes_on());
}

static int hang_fds[2];
static bool is_hanging;

static int hang(void *context, const struct stop *stop)
{
	char unused;

	(void)context;
	(void)stop;
	is_hanging = true;
	return read(hang_fds[0], &unused, 1) < 0 ? -errno : 0;
}

/*
 * Run work that hangs. The limit includes the time to stop all threads, which is
 * unbounded on a busy machine: double the limit until the work begins.
 */
static int run_hanging(struct target *target, int (*work)(void *, const struct stop *))
{
	int r = -EINVAL;

	is_hanging = false;
	for (uint64_t limit_ns = 50 * NS_PER_MS; !is_hanging && limit_ns < LIMIT_NS;
	     limit_ns *= 2) {
		r = run_work(target, limit_ns, work);
		assert_int_equal(r, is_hanging ? -ETIME : -ETIMEDOUT);
	}
	return r;
}

/* The work hangs until the test has seen that the target runs. */
static void the_target_continues_while_the_work_hangs(void **state)
{
	assert_int_equal(pipe(hang_fds), 0);
	begin(*state, be_many);
	assert_int_equal(run_hanging(*state, hang), -ETIME);
	assert_true(goes_on());
	close(hang_fds[1]); /* the work ends after its caller has given up */
}

static uint64_t word_addr;

static int write_word(void *context, const struct stop *stop)
{
	(void)context;
	return stop_write_word(stop, word_addr, MAGIC);
}

static void protect_word(void)
{
	shared->steps = 0;
	mprotect((void *)(uintptr_t)word_addr, 4096, PROT_READ);
	shared->is_ready = 1;
	while (*(volatile uint64_t *)(uintptr_t)word_addr != MAGIC)
		usleep(1000);
	count_steps(NULL);
}

static void a_word_is_written_to_a_read_only_page(void **state)
{
	void *p = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	word_addr = (uint64_t)(uintptr_t)p + 4096;
	begin(*state, protect_word);
	assert_int_equal(run_work(*state, LIMIT_NS, write_word), 0);
	assert_true(goes_on());
	munmap(p, STACK_BYTES);
}

/* A tests/targets/fuse_target process, which has a page that cannot be read. */
struct stuck {
	struct target target;
	pid_t server;
	FILE *in, *out;
	uint64_t addr;
};

static uint64_t read_until(struct stuck *s, const char *last, const char *key)
{
	uint64_t value = 0, found = 0;
	char line[128], name[64];

	while (fgets(line, sizeof(line), s->in)) {
		if (sscanf(line, "%63s %" SCNu64, name, &value) == 2 &&
		    strcmp(name, key) == 0)
			found = value;
		if (strcmp(name, "pid") == 0)
			s->target.pid = (pid_t)value;
		if (strncmp(line, last, strlen(last)) == 0)
			break;
	}
	return found;
}

static uint64_t order(struct stuck *s, char letter, const char *key)
{
	fputc(letter, s->out);
	fflush(s->out);
	return read_until(s, "done", key);
}

static void begin_stuck(struct stuck *s)
{
	int to[2], from[2], status;
	char path[512];

	assert_int_equal(pipe2(to, O_CLOEXEC) | pipe2(from, O_CLOEXEC), 0);
	snprintf(path, sizeof(path), "%s/tests/targets/fuse_target",
		 getenv("builddir") ? getenv("builddir") : ".");
	s->server = fork();
	if (s->server == 0) {
		dup2(to[0], STDIN_FILENO);
		dup2(from[1], STDOUT_FILENO);
		execl(path, path, (char *)NULL);
		_exit(77);
	}
	close(to[0]);
	close(from[1]);
	s->out = fdopen(to[1], "w");
	s->in = fdopen(from[0], "r");
	s->addr = read_until(s, "ready", "shared");
	if (!s->addr) {
		waitpid(s->server, &status, 0);
		assert_int_equal(WEXITSTATUS(status), 77);
		skip(); /* no FUSE on this machine */
	}
	snprintf(path, sizeof(path), "/proc/%d/task", s->target.pid);
	s->target.task_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	order(s, 'h', "");
}

static void end_stuck(struct stuck *s)
{
	close(s->target.task_fd);
	kill(s->server, SIGKILL);
	waitpid(s->server, NULL, 0);
	fclose(s->in);
	fclose(s->out);
}

static int read_absent_page(void *context, const struct stop *stop)
{
	static char page[4096];
	const struct stuck *s = context;
	struct iovec to = { page, sizeof(page) };
	struct iovec from = { (void *)(uintptr_t)s->addr, sizeof(page) };

	(void)stop;
	is_hanging = true;
	return process_vm_readv(s->target.pid, &to, 1, &from, 1, 0) < 0 ? -errno : 0;
}

static bool is_in_state(const struct target *target, char state, bool is_wanted)
{
	const char states[2] = { state, '\0' };
	size_t count;

	for (int i = 0; i < SECONDS * 100; i++) {
		count_threads(target, states, &count);
		if ((count > 0) == is_wanted)
			return true;
		usleep(1000);
	}
	return false;
}

static void the_target_continues_while_its_reader_hangs_in_the_kernel(void **state)
{
	struct stuck s = { 0 };

	(void)state;
	begin_stuck(&s);
	assert_int_equal(run_hanging(&s.target, read_absent_page), -ETIME);
	assert_true(is_in_state(&s.target, 't', false));
	assert_int_equal(order(&s, 'r', "requests"), 1);
	order(&s, 'a', "");
	end_stuck(&s);
}

/*
 * The reader hangs in the kernel. When its process is killed, the target must continue.
 */
static void the_target_continues_when_its_hanging_reader_is_killed(void **state)
{
	struct stuck s = { 0 };
	pid_t reader;

	(void)state;
	begin_stuck(&s);
	reader = fork();
	if (reader == 0) {
		run_work(&s.target, LIMIT_NS, read_absent_page);
		_exit(0);
	}
	while (order(&s, 'r', "requests") == 0)
		usleep(1000);
	assert_true(is_in_state(&s.target, 't', true));
	kill(reader, SIGKILL);
	assert_true(is_in_state(&s.target, 't', false));
	order(&s, 'a', "");
	waitpid(reader, NULL, 0);
	end_stuck(&s);
}

static void stop_as_tracer(const struct stuck *s)
{
	enum trace_event event;
	int signal;

	assert_int_equal(trace_seize(s->target.pid), 0);
	assert_int_equal(trace_interrupt(s->target.pid), 0);
	assert_int_equal(trace_wait(s->target.pid, LIMIT_NS, &event, &signal), 0);
}

static int read_as_tracer(void *context)
{
	struct stuck *s = context;
	char page[4096];
	int r;

	stop_as_tracer(s);
	r = trace_read_memory(s->target.pid, s->addr, page, sizeof(page));
	assert_int_equal(trace_read_memory(s->target.pid, s->addr, page, 1), -ETIMEDOUT);
	(void)trace_detach(s->target.pid, 0);
	return r;
}

/* The descriptor is read-only, so the word is written with PTRACE_POKEDATA. */
static int write_as_tracer(void *context)
{
	struct stuck *s = context;
	const uint64_t word = 0;
	char path[32];
	int fd, r;

	stop_as_tracer(s);
	snprintf(path, sizeof(path), "/proc/%d/mem", s->target.pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	r = trace_write_protected(s->target.pid, fd, s->addr, &word, sizeof(word));
	close(fd);
	(void)trace_detach(s->target.pid, 0);
	return r;
}

static void a_tracer_that_cannot_write_releases_the_target(void **state)
{
	struct stuck s = { 0 };

	(void)state;
	begin_stuck(&s);
	assert_int_equal(trace_run(write_as_tracer, &s, LIMIT_NS), -ETIMEDOUT);
	assert_true(is_in_state(&s.target, 't', false));
	order(&s, 'a', "");
	end_stuck(&s);
}

static void a_tracer_that_cannot_read_releases_the_target(void **state)
{
	struct stuck s = { 0 };

	(void)state;
	begin_stuck(&s);
	assert_int_equal(trace_run(read_as_tracer, &s, LIMIT_NS), -ETIMEDOUT);
	assert_true(is_in_state(&s.target, 't', false));
	order(&s, 'a', "");
	end_stuck(&s);
}

static size_t count_own_threads(void)
{
	size_t count = 0;
	DIR *tasks = opendir("/proc/self/task");

	assert_non_null(tasks);
	while (readdir(tasks))
		count++;
	closedir(tasks);
	return count;
}

/* As trace_seize() while the target is in execve(2). */
static int wait_to_be_cancelled(void *context)
{
	int unused;

	(void)context;
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &unused);
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &unused);
	while (pause() < 0)
		continue;
	return 0;
}

static void a_cancelled_tracer_leaves_no_thread_behind(void **state)
{
	size_t before = count_own_threads();

	(void)state;
	assert_int_equal(trace_run(wait_to_be_cancelled, NULL, NS_PER_MS), -ETIMEDOUT);
	for (int i = 0; i < SECONDS * 100 && count_own_threads() > before; i++)
		usleep(1000);
	assert_int_equal(count_own_threads(), before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
		TEST(the_pause_respects_the_limit_if_the_work_takes_too_long),
		TEST(the_target_continues_while_the_work_hangs),
		TEST(a_word_is_written_to_a_read_only_page),
#undef TEST
		cmocka_unit_test(a_cancelled_tracer_leaves_no_thread_behind),
		cmocka_unit_test(a_tracer_that_cannot_read_releases_the_target),
		cmocka_unit_test(a_tracer_that_cannot_write_releases_the_target),
		cmocka_unit_test(
			the_target_continues_while_its_reader_hangs_in_the_kernel),
		cmocka_unit_test(the_target_continues_when_its_hanging_reader_is_killed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
