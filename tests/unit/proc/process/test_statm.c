/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/process/statm.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../support/tree.h"
#include "../../support/unit.h"

static int read_text(const char *text, struct statm *ret)
{
	struct tree tree;
	char path[64];
	int fd, r;

	tree_make(&tree);
	tree_write(&tree, "statm", text);
	snprintf(path, sizeof(path), "%s/statm", tree.root);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	r = proc_statm_read(fd, ret);
	close(fd);
	tree_remove(&tree);
	return r;
}

static void three_numbers_are_read(void **state)
{
	struct statm statm;

	(void)state;
	assert_int_equal(read_text("2000 300 100 5 0 200 0\n", &statm), 0);
	assert_true(statm.size_pages == 2000);
	assert_true(statm.resident_pages == 300);
	assert_true(statm.shared_pages == 100);
}

static void malformed_files_are_refused(void **state)
{
	static const char *const texts[] = {
		"\n",
		"2000",
		"2000 300",
		"2000 300 100",
		"2000 300 100\n",
		"-1 300 100 0",
		" 2000 300 100 0",
		"2000  300 100 0",
		"2000 x 100 0",
		"99999999999999999999 1 1 0",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct statm statm = { 1, 2, 3 };

		assert_row(read_text(texts[i], &statm) == -EBADMSG, texts[i]);
		assert_row(statm.size_pages == 1 && statm.shared_pages == 3, texts[i]);
	}
}

static void an_empty_file_means_that_the_process_has_ended(void **state)
{
	struct statm statm;

	(void)state;
	assert_int_equal(read_text("", &statm), -ESRCH);
}

static uint64_t read_rollup_rss(pid_t pid)
{
	char path[64], line[256];
	unsigned long kib = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", (int)pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file) &&
	       sscanf(line, "Rss: %lu kB", &kib) != 1)
		continue;
	if (file)
		fclose(file);
	return KIB(kib);
}

/* The page tables, which smaps_rollup counts, are the truth. */
static void an_exact_statm_is_equal_to_smaps_rollup(void **state)
{
	uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE), rss_bytes;
	struct statm statm;
	char path[64];
	pid_t pid;
	int fd;

	(void)state;
	if (!proc_statm_is_exact())
		skip();
	for (size_t pages = 1; pages <= 64; pages += 9) {
		pid = fork();
		assert_true(pid >= 0);
		if (pid == 0) {
			size_t bytes = pages * page_bytes;
			char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
					MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

			if (at != MAP_FAILED)
				memset(at, 1, bytes);
			raise(SIGSTOP);
			_exit(0);
		}
		assert_int_equal(waitpid(pid, NULL, WUNTRACED), pid);
		snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		assert_int_equal(proc_statm_read(fd, &statm), 0);
		rss_bytes = read_rollup_rss(pid);
		kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
		assert_int_equal(statm.resident_pages * page_bytes, rss_bytes);
		assert_int_equal(proc_statm_read(fd, &statm), -ESRCH);
		close(fd);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(three_numbers_are_read),
		cmocka_unit_test(malformed_files_are_refused),
		cmocka_unit_test(an_empty_file_means_that_the_process_has_ended),
		cmocka_unit_test(an_exact_statm_is_equal_to_smaps_rollup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
