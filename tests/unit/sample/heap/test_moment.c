/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/heap/moment.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/units.h"
#include "proc/process/stat.h"
#include "proc/smaps/maps.h"
#include "proc/smaps/smaps.h"
#include "../../support/child.h"

#define LIMIT_NS NS_PER_S /* also for a slow machine, and for valgrind */

#define PAGES 1000

static int hang_fds[2];
static bool hangs;
static const struct mapping_list *hanging;

/* memory of the child, half of which is resident */
static uint8_t *map;
static size_t map_bytes;
static struct child child;
/* what the child does after each smaps was read; 0: nothing */
static char next_command;
static unsigned int smaps_count;

bool __real_proc_maps_are(int process_fd, const struct mapping_list *list);
bool __wrap_proc_maps_are(int process_fd, const struct mapping_list *list);
int __real_proc_smaps_read(struct smaps_reader *reader, const struct procfs *fs, int pid,
			   mapping_fn fn, void *context, uint64_t *ret_read_ns);
int __wrap_proc_smaps_read(struct smaps_reader *reader, const struct procfs *fs, int pid,
			   mapping_fn fn, void *context, uint64_t *ret_read_ns);

/* In the test of a hang, the first call hangs until the test releases it. */
bool __wrap_proc_maps_are(int process_fd, const struct mapping_list *list)
{
	char unused;

	if (hangs && !hanging) {
		hanging = list;
		(void)!read(hang_fds[0], &unused, 1);
		/* let the thread use its sampler again */
		return false;
	}
	return __real_proc_maps_are(process_fd, list);
}

int __wrap_proc_smaps_read(struct smaps_reader *reader, const struct procfs *fs, int pid,
			   mapping_fn fn, void *context, uint64_t *ret_read_ns)
{
	char command = next_command;
	int r = __real_proc_smaps_read(reader, fs, pid, fn, context, ret_read_ns);

	smaps_count++;
	next_command = 0;
	if (command)
		child_do(&child, command);
	return r;
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

static void obey(char command)
{
	const size_t half = map_bytes / 2;

	switch (command) {
	case 'i': /* touch the first half */ memset(map, 1, half); break;
	case 'g': /* grow */ memset(map + half, 1, half / 2); break;
	case 's': /* shrink */ madvise(map, half / 2, MADV_DONTNEED); break;
	case 'l': /* make a part LazyFree */ madvise(map, half / 2, MADV_FREE); break;
	case 'm': /* map other memory */
		(void)!mmap(map, half / 2, PROT_READ,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		break;
	default: break;
	}
}

static void start_target(void)
{
	map_bytes = PAGES * (size_t)IMAGE_PAGE_BYTES;
	/* inaccessible pages on both sides prevent mergers with other mappings */
	map = mmap(NULL, map_bytes + 2 * IMAGE_PAGE_BYTES, PROT_NONE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(map, MAP_FAILED);
	map += IMAGE_PAGE_BYTES;
	assert_int_equal(mprotect(map, map_bytes, PROT_READ | PROT_WRITE), 0);
	madvise(map, map_bytes, MADV_NOHUGEPAGE);
	child = child_start(obey);
	/* touched by the child, so that no page is shared with this process */
	child_do(&child, 'i');
}

static void end_target(void)
{
	child_end(&child);
	munmap(map - IMAGE_PAGE_BYTES, map_bytes + 2 * IMAGE_PAGE_BYTES);
}

static void data_of_a_hung_thread_is_never_reused_or_freed(void **state)
{
	struct procfs *fs = calloc(1, sizeof(*fs));
	struct sampler *sampler;
	struct heap_reader reader;
	struct heap_moment *moment;
	struct usage u;
	uint64_t pause_ns;

	(void)state;
	start_target();
	hangs = true;
	assert_int_equal(pipe(hang_fds), 0);
	assert_int_equal(procfs_open(fs, "/proc"), 0);
	sampler = sampler_new(fs, true);
	heap_reader_init(&reader, fs, sampler, LIMIT_NS);
	usage_init(&u);
	assert_int_equal(proc_stat_read(fs, child.pid, &u.process), 0);
	assert_int_equal(heap_moment_take(&reader, &u, NULL, &moment, &pause_ns), -ETIME);
	assert_null(moment);
	assert_non_null(hanging);

	/* another process is read in time, with another sampler */
	assert_ptr_not_equal(reader.sampler, sampler);
	reader.max_pause_ns = 60 * NS_PER_S;
	assert_int_equal(heap_moment_take(&reader, &u, NULL, &moment, &pause_ns), 0);
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
	end_target();
	hangs = false;
}

/* Return the Rss that the kernel reports for the child now. */
static uint64_t rss_bytes(void)
{
	_cleanup_free_ char *line = NULL;
	char path[64];
	uint64_t kib = 0;
	size_t size = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", child.pid);
	file = fopen(path, "re");
	assert_non_null(file);
	while (getline(&line, &size, file) > 0)
		if (sscanf(line, "Rss: %" SCNu64, &kib) == 1)
			break;
	fclose(file);
	return kib * 1024;
}

struct expected {
	char before;  /* what the child does before smaps is read, or 0 */
	char command; /* what the child does between smaps and the pause, or 0 */
	unsigned int smaps_count;
};

/* Who reads smaps first. */
enum first {
	BY_MOMENT,
	BY_CALLER,
	BY_CALLER_LONG_AGO,
};

static void check_figures(struct heap_reader *reader, const struct expected *expected,
			  enum first first)
{
	struct mapping_list mappings = MAPPING_LIST_INIT;
	struct heap_moment *moment;
	struct usage u;
	uint64_t pause_ns, sum = 0;
	struct matrix *matrix;

	start_target();
	if (expected->before)
		child_do(&child, expected->before);
	usage_init(&u);
	assert_int_equal(proc_stat_read(reader->fs, child.pid, &u.process), 0);
	smaps_count = 0;
	next_command = expected->command;
	if (first != BY_MOMENT)
		assert_int_equal(sampler_read_mappings(reader->sampler, &u, &mappings),
				 0);
	if (first == BY_CALLER_LONG_AGO)
		u.taken_ns -= 2 * NS_PER_S;
	assert_int_equal(heap_moment_take(reader, &u,
					  first == BY_MOMENT ? NULL : &mappings, &moment,
					  &pause_ns),
			 0);
	matrix = &moment->usage.matrix;
	assert_int_equal(smaps_count,
			 first == BY_CALLER_LONG_AGO ? 2 : expected->smaps_count);
	assert_int_equal(moment->usage.total.bytes[SMAPS_RSS], rss_bytes());
	for (size_t o = 0; o < OWNER_COUNT_; o++)
		sum += bytes_known(matrix->owner_rss_bytes[o])
			       ? matrix->owner_rss_bytes[o]
			       : 0;
	assert_int_equal(sum, rss_bytes());
	/* borrowed from the caller */
	if (first != BY_MOMENT)
		moment->usage.command = NULL;
	heap_moment_free(moment);
	mapping_list_release(&mappings);
	usage_release(&u);
	end_target();
}

static void the_figures_are_those_of_the_pause(void **state)
{
	static const struct expected table[] = {
		{ 0, 0, 1 },
		{ 0, 'g', 1 },
		{ 0, 's', 1 },
		{ 'l', 'g', 1 },
		/* the released pages may have been LazyFree */
		{ 'l', 's', 2 },
		/* the mappings differ */
		{ 0, 'm', 2 },
	};
	struct sampler *sampler;
	struct heap_reader reader;
	struct procfs fs;

	(void)state;
	assert_int_equal(procfs_open(&fs, "/proc"), 0);
	sampler = sampler_new(&fs, true);
	heap_reader_init(&reader, &fs, sampler, 60 * NS_PER_S);
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		for (enum first first = BY_MOMENT; first <= BY_CALLER_LONG_AGO; first++)
			check_figures(&reader, &table[i], first);
	heap_reader_release(&reader);
	sampler_free(sampler);
	procfs_release(&fs);
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
		cmocka_unit_test(the_figures_are_those_of_the_pause),
		cmocka_unit_test(data_of_a_hung_thread_is_never_reused_or_freed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
