/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/recording/jit_frames.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "base/xalloc.h"
#include "../../support/unit.h"

#define OTHER_UID 65534
#define CODE_ADDR UINT64_C(0x100000)

/* Make frames for addresses from CODE_ADDR on, 16 bytes apart. */
static void make_frames(struct jit_frames *frames, size_t count)
{
	*frames = (struct jit_frames){ .items = xcalloc(count, sizeof(*frames->items)),
				       .count = count };
	for (size_t i = 0; i < count; i++)
		frames->items[i].addr = CODE_ADDR + 16 * i;
}

static void overlapping_ranges_need_few_steps(void **state)
{
	enum {
		ENTRIES = 200000,
		ADDRESSES = 10000,
		STEPS_PER_ENTRY = 64
	};
	_cleanup_strbuf_ struct strbuf map = STRBUF_INIT;
	struct jit_frames frames;

	(void)state;
	/* each range covers all addresses but the first few */
	for (int i = 0; i < ENTRIES; i++)
		strbuf_addf(&map, "%" PRIx64 " %x name%d\n",
			    CODE_ADDR + 16 * (uint64_t)(i % 100), 16 * ADDRESSES, i);
	make_frames(&frames, ADDRESSES);
	jit_frames_parse_map(&frames, map.text, map.length);
	for (size_t i = 0; i < ADDRESSES; i++) {
		char name[32];

		/* Address k is covered last by range k of the last hundred. */
		snprintf(name, sizeof(name), "name%zu",
			 ENTRIES - 100 + (i < 99 ? i : 99));
		assert_string_equal(frames.items[i].name, name);
	}
	assert_true(frames.step_count >= ENTRIES);
	assert_true(frames.step_count <= (uint64_t)ENTRIES * STEPS_PER_ENTRY);
	assert_int_equal(frames.name_count, 100);
	jit_frames_release(&frames);
}

static void one_long_name_is_copied_once(void **state)
{
	_cleanup_strbuf_ struct strbuf map = STRBUF_INIT;
	struct jit_frames frames;

	(void)state;
	strbuf_add_text(&map, "0 ffffffffffffffff ");
	strbuf_add_repeat(&map, "x", 5000);
	make_frames(&frames, 1000);
	jit_frames_parse_map(&frames, map.text, map.length);
	assert_int_equal(frames.name_count, 1);
	for (size_t i = 0; i < frames.count; i++)
		assert_ptr_equal(frames.items[i].name, frames.names[0]);
	assert_int_equal(strlen(frames.names[0]), 4096);
	jit_frames_release(&frames);
}

/* Compare the result for random ranges with a simple search, entry by entry. */
static void the_last_entry_wins(void **state)
{
	(void)state;
	for (size_t count = 1; count < 40; count++) {
		_cleanup_strbuf_ struct strbuf map = STRBUF_INIT;
		int expected[40] = { 0 };
		struct jit_frames frames;

		srand((unsigned int)count);
		make_frames(&frames, count);
		for (int entry = 1; entry < 60; entry++) {
			uint64_t start =
				CODE_ADDR - 40 + (uint64_t)rand() % (16 * count + 80);
			uint64_t bytes = rand() % 20 ? (uint64_t)rand() % 200
						     : UINT64_MAX;

			strbuf_addf(&map, "%" PRIx64 " %" PRIx64 " %d\n", start, bytes,
				    entry);
			for (size_t i = 0; i < count; i++)
				if (frames.items[i].addr >= start &&
				    frames.items[i].addr - start < bytes)
					expected[i] = entry;
		}
		jit_frames_parse_map(&frames, map.text, map.length);
		for (size_t i = 0; i < count; i++)
			assert_int_equal(frames.items[i].name ? atoi(frames.items[i].name)
							      : 0,
					 expected[i]);
		jit_frames_release(&frames);
	}
}

static void a_second_file_overrides_only_its_own_addresses(void **state)
{
	static const char first[] = "100000 20 first\n", second[] = "100010 10 second\n";
	struct jit_frames frames;

	(void)state;
	make_frames(&frames, 3);
	jit_frames_parse_map(&frames, first, strlen(first));
	jit_frames_parse_map(&frames, second, strlen(second));
	assert_string_equal(jit_frames_find(&frames, CODE_ADDR), "first");
	assert_string_equal(jit_frames_find(&frames, CODE_ADDR + 16), "second");
	assert_null(jit_frames_find(&frames, CODE_ADDR + 32));
	jit_frames_release(&frames);
}

static void add_bytes(struct strbuf *out, uint64_t value, size_t bytes)
{
	strbuf_add(out, &value, bytes);
}

/* Add a jitdump record that moves 16 bytes of code. */
static void add_move(struct strbuf *out, uint64_t from, uint64_t to)
{
	add_bytes(out, 1, 4);
	add_bytes(out, 16 + 48, 4);
	add_bytes(out, 0, 8); /* the time */
	add_bytes(out, 0, 8); /* the pid and the tid */
	add_bytes(out, 0, 8);
	add_bytes(out, from, 8);
	add_bytes(out, to, 8);
	add_bytes(out, 16, 8);
	add_bytes(out, 0, 8);
}

static void a_name_moves_with_its_code_from_either_file(void **state)
{
	static const char map[] = "100000 10 moved\n";
	_cleanup_strbuf_ struct strbuf dump = STRBUF_INIT;
	struct jit_frames frames;

	(void)state;
	add_bytes(&dump, 0x4a695444, 4);
	add_bytes(&dump, 1, 4);
	add_bytes(&dump, 40, 8);
	for (int i = 0; i < 3; i++)
		add_bytes(&dump, 0, 8);
	add_move(&dump, CODE_ADDR, CODE_ADDR + 16);
	add_move(&dump, CODE_ADDR + 16, CODE_ADDR + 32);
	make_frames(&frames, 4);
	jit_frames_parse_map(&frames, map, strlen(map));
	jit_frames_parse_dump(&frames, dump.text, dump.length);
	assert_string_equal(jit_frames_find(&frames, CODE_ADDR + 32), "moved");
	assert_null(jit_frames_find(&frames, CODE_ADDR + 48));
	jit_frames_release(&frames);
}

static const char *read_own_map(struct jit_frames *frames)
{
	struct stack_node nodes[2] = {
		{ 0 }, { .pc = CODE_ADDR + 1, .module = PROFILE_NO_MODULE }
	};
	const struct stacks stacks = { .pid = getpid(), .nodes = nodes, .node_count = 2 };

	jit_frames_read(&stacks, frames);
	return jit_frames_find(frames, CODE_ADDR);
}

static void a_map_of_another_user_is_refused(void **state)
{
	static const char text[] = "100000 10 compiled\n";
	_cleanup_close_ int fd = -1;
	struct jit_frames frames;
	char path[64];
	const char *name;

	(void)state;
	if (geteuid() != 0) {
		print_message("only root can give a file away\n");
		skip();
	}
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	unlink(path); /* stale file of an earlier process with this pid */
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	name = read_own_map(&frames);
	if (!name || strcmp(name, "compiled") != 0 ||
	    fchown(fd, OTHER_UID, OTHER_UID) < 0) {
		unlink(path);
		fail_msg("own map: %s", name ? name : "not read");
	}
	jit_frames_release(&frames);
	name = read_own_map(&frames);
	unlink(path);
	assert_null(name);
	jit_frames_release(&frames);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(overlapping_ranges_need_few_steps),
		cmocka_unit_test(one_long_name_is_copied_once),
		cmocka_unit_test(the_last_entry_wins),
		cmocka_unit_test(a_second_file_overrides_only_its_own_addresses),
		cmocka_unit_test(a_name_moves_with_its_code_from_either_file),
		cmocka_unit_test(a_map_of_another_user_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
