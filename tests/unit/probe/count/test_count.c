/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/count/count.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/count/abi.h"
#include "base/units.h"
#include "../../support/unit.h"

#define PID 4194303 /* very likely not in use by any process */

/* A file as the counting library makes it, with slots for up to three threads. */
struct made {
	struct count_head head;
	char rest[COUNT_HEAD_BYTES - sizeof(struct count_head)];
	struct {
		struct count_slot slot;
		char rest[COUNT_SLOT_BYTES - sizeof(struct count_slot)];
	} slots[3];
};

static struct count_folder folder;
static struct count_list list;

static struct made sound(void)
{
	struct made made = {
		.head = {
			.magic = COUNT_MAGIC,
			.version = COUNT_VERSION,
			.head_bytes = COUNT_HEAD_BYTES,
			.slot_bytes = COUNT_SLOT_BYTES,
			.pid = PID,
			.parent_pid = 1,
			.slot_count = 2,
			.live_bytes = 1000,
			.peak_bytes = 5000,
			.name = "made",
			.allocator = "/lib/libc.so.6",
		},
	};

	made.slots[1].slot = (struct count_slot){
		.malloc_calls = 10,
		.free_calls = 5,
		.free_null_count = 1,
		.requested_bytes = 640,
		.pending_bytes = 24,
		.high_bytes = 30,
		.calls[COUNT_REALLOC] = 3,
		.resized_count = 1,
		.ended_count = 1,
		.failed_count = 1,
		.temporary_count = 2,
		.tid = PID,
		.is_main = 1,
		.name = "main",
	};
	return made;
}

static void write_file(const char *name, const void *bytes, size_t length)
{
	int fd = openat(folder.fd, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, length), length);
	close(fd);
}

/*
 * Write this file as the only one in the folder. Return the
 * number of programs that are read.
 */
static size_t read_made(const struct made *made, size_t length)
{
	char name[32];

	snprintf(name, sizeof(name), "%d.0", PID);
	write_file(name, made, length);
	assert_int_equal(count_folder_read(&folder, &list), 0);
	return list.count;
}

static int set_up(void **state)
{
	const char *where;

	(void)state;
	list = (struct count_list)COUNT_LIST_INIT;
	folder = (struct count_folder)COUNT_FOLDER_INIT;
	return count_folder_create(&folder, &where);
}

static int tear_down(void **state)
{
	(void)state;
	count_list_release(&list);
	count_folder_release(&folder);
	return 0;
}

static void a_count_file_is_read(void **state)
{
	struct made made = sound();
	const struct count_program *p;

	(void)state;
	assert_int_equal(read_made(&made, sizeof(made)), 1);
	p = &list.programs[0];
	assert_int_equal(p->pid, PID);
	assert_string_equal(p->name, "made");
	assert_string_equal(p->allocator, "/lib/libc.so.6");
	assert_true(p->has_ended);
	assert_int_equal(p->thread_count, 1);
	assert_int_equal(p->sums.calls[CALL_MALLOC], 10);
	assert_int_equal(p->sums.calls[CALL_REALLOC], 3);
	assert_int_equal(p->sums.allocation_calls, 13);
	/*
	 * 13 calls: one failed, one resized its block in place, one freed a block and
	 * returned none; 4 blocks were freed by free().
	 */
	assert_int_equal(p->sums.live_blocks, 13 - 1 - 1 - 2 - 4);
	assert_int_equal(p->sums.live_bytes, 1024);
	assert_int_equal(p->peak_live_bytes, 5000);
	assert_int_equal(p->peak_error_bytes, 0);
	assert_int_equal(p->threads[0].tid, PID);
	assert_string_equal(p->threads[0].name, "main");
}

static void the_peak_of_a_single_thread_includes_pending_bytes(void **state)
{
	struct made made = sound();

	(void)state;
	made.head.peak_bytes = 1010;
	assert_int_equal(read_made(&made, sizeof(made)), 1);
	assert_int_equal(list.programs[0].peak_live_bytes, 1030);
}

static void the_peak_error_of_several_threads_is_their_pending_bytes(void **state)
{
	struct made made = sound();

	(void)state;
	made.head.slot_count = 3;
	made.slots[2].slot.tid = PID - 1;
	made.slots[2].slot.flush_count = 1;
	assert_int_equal(read_made(&made, sizeof(made)), 1);
	assert_int_equal(list.programs[0].peak_error_bytes, COUNT_FLUSH_BYTES + 30);
	/*
	 * pending_bytes may exceed high_bytes. In a thread that freed nothing, the
	 * pending bytes were never negative.
	 */
	made.slots[1].slot.pending_bytes = 40;
	made.slots[1].slot.free_calls = made.slots[1].slot.free_null_count;
	made.slots[1].slot.resized_count = made.slots[1].slot.ended_count = 0;
	made.slots[2].slot.flush_count = 0;
	assert_int_equal(read_made(&made, sizeof(made)), 1);
	assert_int_equal(list.programs[0].peak_error_bytes, 40);
	made.slots[2].slot.free_calls = 1;
	assert_int_equal(read_made(&made, sizeof(made)), 1);
	assert_int_equal(list.programs[0].peak_error_bytes, COUNT_FLUSH_BYTES);
}

static void inherited_blocks_are_added(void **state)
{
	struct made made = sound();

	(void)state;
	made.head.inherited_blocks = 100;
	assert_int_equal(read_made(&made, sizeof(made)), 1);
	assert_int_equal(list.programs[0].sums.live_blocks, 105);
}

static void with_calls_only_all_else_is_unknown(void **state)
{
	struct made made = sound();

	(void)state;
	made.head.flags = COUNT_CALLS_ONLY;
	assert_int_equal(read_made(&made, sizeof(made)), 1);
	assert_int_equal(list.programs[0].sums.calls[CALL_MALLOC], 10);
	assert_int_equal(list.programs[0].sums.live_blocks, BYTES_UNKNOWN);
	assert_int_equal(list.programs[0].sums.temporary_blocks, BYTES_UNKNOWN);
	assert_int_equal(list.programs[0].peak_live_bytes, BYTES_UNKNOWN);
}

static void without_sizes_blocks_are_known_but_bytes_are_not(void **state)
{
	struct made made = sound();

	(void)state;
	made.head.flags = COUNT_NO_SIZES;
	assert_int_equal(read_made(&made, sizeof(made)), 1);
	assert_int_equal(list.programs[0].sums.live_blocks, 5);
	assert_int_equal(list.programs[0].sums.live_bytes, BYTES_UNKNOWN);
	assert_int_equal(list.programs[0].peak_live_bytes, BYTES_UNKNOWN);
}

static void negative_numbers_of_blocks_are_unknown(void **state)
{
	struct made made = sound();

	(void)state;
	made.slots[1].slot.free_calls = 1000;
	made.head.live_bytes = -5000;
	assert_int_equal(read_made(&made, sizeof(made)), 1);
	assert_int_equal(list.programs[0].sums.live_blocks, BYTES_UNKNOWN);
	assert_int_equal(list.programs[0].sums.live_bytes, BYTES_UNKNOWN);
}

static void malformed_files_are_skipped(void **state)
{
	struct made made;

	(void)state;
	made = sound();
	made.head.magic++;
	assert_int_equal(read_made(&made, sizeof(made)), 0);
	made = sound();
	made.head.version++;
	assert_int_equal(read_made(&made, sizeof(made)), 0);
	made = sound();
	made.head.slot_bytes = 1;
	assert_int_equal(read_made(&made, sizeof(made)), 0);
	made = sound();
	made.head.pid = 1;
	assert_int_equal(read_made(&made, sizeof(made)), 0);
	made = sound();
	assert_int_equal(read_made(&made, sizeof(made.head)), 0);
	assert_int_equal(list.unreadable_count, 0);
}

static void an_empty_file_is_an_uncounted_program(void **state)
{
	struct made made = sound();

	(void)state;
	assert_int_equal(read_made(&made, 0), 0);
	assert_int_equal(list.unreadable_count, 1);
}

static void slots_past_the_end_of_the_file_are_not_read(void **state)
{
	struct made made = sound();

	(void)state;
	made.head.slot_count = UINT32_MAX;
	assert_int_equal(read_made(&made, sizeof(made)), 1);
	assert_int_equal(list.programs[0].listed_count, 1);
	assert_int_equal(read_made(&made, COUNT_HEAD_BYTES + COUNT_SLOT_BYTES + 7), 1);
	assert_int_equal(list.programs[0].listed_count, 0);
}

/* Any overflow is reported by a sanitizer. */
static void arbitrary_bytes_do_no_harm(void **state)
{
	struct made made;

	(void)state;
	for (int byte = 0; byte < 256; byte += 15) {
		struct count_head head = sound().head;

		memset(&made, byte, sizeof(made));
		made.head.magic = head.magic;
		made.head.version = head.version;
		made.head.head_bytes = head.head_bytes;
		made.head.slot_bytes = head.slot_bytes;
		made.head.pid = head.pid;
		assert_int_equal(read_made(&made, sizeof(made)), 1);
		assert_true(strlen(list.programs[0].name) < COUNT_NAME_SIZE);
	}
	made = sound();
	made.head.live_bytes = made.head.peak_bytes = INT64_MAX;
	made.head.inherited_blocks = INT64_MIN;
	made.slots[1].slot.high_bytes = INT64_MAX;
	made.slots[1].slot.pending_bytes = INT64_MIN;
	made.slots[1].slot.malloc_calls = made.slots[1].slot.ended_count = UINT64_MAX;
	assert_int_equal(read_made(&made, sizeof(made)), 1);
}

static void other_files_in_the_folder_are_ignored(void **state)
{
	struct made made = sound();

	(void)state;
	assert_int_equal(symlinkat("/dev/zero", folder.fd, "77.0"), 0);
	assert_int_equal(mkfifoat(folder.fd, "78.0", 0600), 0);
	write_file("79", &made, sizeof(made));
	write_file("79.", &made, sizeof(made));
	write_file("x.0", &made, sizeof(made));
	write_file("-1.0", &made, sizeof(made));
	assert_int_equal(count_folder_read(&folder, &list), 0);
	assert_int_equal(list.count, 0);
}

static void programs_are_sorted_in_the_order_of_execution(void **state)
{
	struct made made = sound();
	char name[32];

	(void)state;
	for (unsigned int n = 0; n < 12; n++) {
		snprintf(name, sizeof(name), "%d.%u", PID, n);
		write_file(name, &made, sizeof(made));
	}
	assert_int_equal(count_folder_read(&folder, &list), 0);
	assert_int_equal(list.count, 12);
	for (unsigned int n = 0; n < 12; n++)
		assert_int_equal(list.programs[n].generation, n);
}

static void the_folder_is_removed_with_its_contents(void **state)
{
	struct made made = sound();
	char *path = strdup(folder.path);
	struct stat st;

	(void)state;
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	read_made(&made, sizeof(made));
	count_folder_release(&folder);
	assert_int_equal(stat(path, &st), -1);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		TEST(a_count_file_is_read),
		TEST(the_peak_of_a_single_thread_includes_pending_bytes),
		TEST(the_peak_error_of_several_threads_is_their_pending_bytes),
		TEST(inherited_blocks_are_added),
		TEST(with_calls_only_all_else_is_unknown),
		TEST(without_sizes_blocks_are_known_but_bytes_are_not),
		TEST(negative_numbers_of_blocks_are_unknown),
		TEST(malformed_files_are_skipped),
		TEST(an_empty_file_is_an_uncounted_program),
		TEST(slots_past_the_end_of_the_file_are_not_read),
		TEST(arbitrary_bytes_do_no_harm),
		TEST(other_files_in_the_folder_are_ignored),
		TEST(programs_are_sorted_in_the_order_of_execution),
		TEST(the_folder_is_removed_with_its_contents),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
