/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/heap/moment.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/units.h"
#include "proc/process/stat.h"
#include "proc/smaps/smaps.h"
#include "../../support/unit.h"

#define LIMIT_NS NS_PER_S /* also for a slow machine, and for valgrind */

static int hang_fds[2];
static const struct smaps_reader *hanging;

int __real_proc_smaps_read(struct smaps_reader *reader, const struct procfs *fs, int pid,
			   mapping_fn fn, void *context, uint64_t *ret_read_ns);
int __wrap_proc_smaps_read(struct smaps_reader *reader, const struct procfs *fs, int pid,
			   mapping_fn fn, void *context, uint64_t *ret_read_ns);

/* The first call hangs until the test releases it. */
int __wrap_proc_smaps_read(struct smaps_reader *reader, const struct procfs *fs, int pid,
			   mapping_fn fn, void *context, uint64_t *ret_read_ns)
{
	char unused;

	if (!hanging) {
		hanging = reader;
		(void)!read(hang_fds[0], &unused, 1);
	}
	return __real_proc_smaps_read(reader, fs, pid, fn, context, ret_read_ns);
}

static size_t count_threads(void)
{
	DIR *dir = opendir("/proc/self/task");
	size_t count = 0;

	assert_non_null(dir);
	while (readdir(dir))
		count++;
	closedir(dir);
	return count - 2;
}

static pid_t start_target(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	assert_true(pid > 0);
	return pid;
}

static void data_of_a_hung_thread_is_never_reused_or_freed(void **state)
{
	struct procfs *fs = calloc(1, sizeof(*fs));
	struct sampler *sampler;
	struct heap_reader reader;
	struct heap_moment *moment;
	struct usage u;
	uint64_t pause_ns;
	pid_t pid = start_target();

	(void)state;
	assert_int_equal(pipe(hang_fds), 0);
	assert_int_equal(procfs_open(fs, "/proc"), 0);
	sampler = sampler_new(fs, true);
	heap_reader_init(&reader, fs, sampler, LIMIT_NS);
	usage_init(&u);
	assert_int_equal(proc_stat_read(fs, pid, &u.process), 0);
	assert_int_equal(heap_moment_take(&reader, &u, &moment, &pause_ns), -ETIME);
	assert_null(moment);
	assert_non_null(hanging);

	/* another process is read in time, with another sampler */
	assert_ptr_not_equal(reader.sampler, sampler);
	reader.max_pause_ns = 60 * NS_PER_S;
	assert_int_equal(heap_moment_take(&reader, &u, &moment, &pause_ns), 0);
	heap_moment_free(moment);

	/* memstate ends while the thread still uses its sampler */
	heap_reader_release(&reader);
	sampler_free(sampler);
	procfs_release(fs);
	free(fs);
	assert_int_equal(write(hang_fds[1], "g", 1), 1);
	while (count_threads() > 1)
		usleep(1000);
	usage_release(&u);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* LeakSanitizer calls this hook. What an abandoned thread uses is never freed. */
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
	return 1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(data_of_a_hung_thread_is_never_reused_or_freed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
