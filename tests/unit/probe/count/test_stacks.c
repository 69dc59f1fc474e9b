/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/count/stacks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/count/stack_abi.h"
#include "base/io.h"
#include "../../support/unit.h"

#define NODES 16
#define MADE_BYTES (STACK_NODES_OFFSET + NODES * sizeof(struct stack_file_node))

static char *made;

static struct stack_file_head *head(void)
{
	return (void *)made;
}

static struct stack_file_node *nodes(void)
{
	return (void *)(made + STACK_NODES_OFFSET);
}

static struct stack_file_module *add_module(uint64_t start, uint32_t first_node,
					    const char *path)
{
	struct stack_file_module *module =
		(void *)(made + STACK_HEAD_BYTES + head()->module_bytes);

	*module = (struct stack_file_module){
		.start = start,
		.end = start + 0x1000,
		.load_bias = start - 0x400,
		.first_node = first_node,
		.record_bytes = (uint16_t)((64 + strlen(path) + 1 + 7) / 8 * 8),
		.build_id_bytes = 2,
		.build_id = { 0xab, 0xcd },
	};
	memcpy(module->path, path, strlen(path) + 1);
	head()->module_bytes += module->record_bytes;
	return module;
}

/* Make stacks in which main (0x2010 in /bin/a) calls f (0x2020), which allocates. */
static int make(void **state)
{
	(void)state;
	made = calloc(1, MADE_BYTES);
	if (!made)
		return -1;
	*head() = (struct stack_file_head){
		.magic = STACK_FILE_MAGIC,
		.version = STACK_FILE_VERSION,
		.head_bytes = STACK_HEAD_BYTES,
		.node_bytes = STACK_NODE_BYTES,
		.modules_offset = STACK_HEAD_BYTES,
		.nodes_offset = STACK_NODES_OFFSET,
		.pid = 4242,
		.flags = STACK_LIVE,
		.node_count = 3,
		.peak_bytes = 500,
		.peak_generation = 7,
	};
	add_module(0x2000, 0, "/bin/a");
	nodes()[1] = (struct stack_file_node){ .pc = 0x2010 };
	nodes()[2] = (struct stack_file_node){
		.pc = 0x2020,
		.parent_generation = 1 | UINT64_C(7) << STACK_PARENT_BITS,
		.calls = 10,
		.bytes = 1000,
		.temporary = 3,
		.freed_blocks = 8,
		.freed_bytes = 900,
		.peak_bytes = 400,
	};
	return 0;
}

static int drop(void **state)
{
	(void)state;
	free(made);
	return 0;
}

static struct stacks read_made(void)
{
	struct stacks stacks;

	assert_int_equal(stacks_read(made, MADE_BYTES, &stacks), 0);
	return stacks;
}

static void a_stack_has_callers_and_values(void **state)
{
	static const uint64_t values[PROFILE_METRIC_COUNT_] = {
		[PROFILE_ALLOCATIONS] = 10, [PROFILE_BYTES] = 1000,
		[PROFILE_TEMPORARY] = 3,    [PROFILE_LIVE_BLOCKS] = 2,
		[PROFILE_LIVE] = 100,	    [PROFILE_PEAK] = 400,
	};
	struct stacks stacks = read_made();

	(void)state;
	assert_int_equal(stacks.pid, 4242);
	assert_int_equal(stacks.known, (1 << PROFILE_METRIC_COUNT_) - 1);
	assert_int_equal(stacks.module_count, 1);
	assert_string_equal(stacks.modules[0].path, "/bin/a");
	assert_int_equal(stacks.modules[0].load_bias, 0x1c00);
	assert_int_equal(stacks.modules[0].build_id_bytes, 2);
	assert_int_equal(stacks.modules[0].build_id[1], 0xcd);
	assert_int_equal(stacks.node_count, 3);
	assert_int_equal(stacks.nodes[2].parent, 1);
	assert_int_equal(stacks.nodes[2].module, 0);
	assert_int_equal(stacks.nodes[1].parent, 0);
	assert_memory_equal(stacks.nodes[2].values, values, sizeof(values));
	assert_int_equal(stacks.cut_count + stacks.lost_count, 0);
	stacks_release(&stacks);
}

static void nodes_that_changed_after_the_peak_keep_their_peak_values(void **state)
{
	struct stacks stacks;

	(void)state;
	head()->peak_generation = 8; /* the node has not changed since the peak */
	stacks = read_made();
	assert_int_equal(stacks.nodes[2].values[PROFILE_PEAK], 100);
	stacks_release(&stacks);
	head()->peak_generation = 7;
	head()->peak_bytes = 99; /* memory use is higher than ever before */
	stacks = read_made();
	assert_int_equal(stacks.nodes[2].values[PROFILE_PEAK], 100);
	stacks_release(&stacks);
}

static void without_frees_live_values_are_unknown(void **state)
{
	struct stacks stacks;

	(void)state;
	head()->flags = 0;
	stacks = read_made();
	assert_int_equal(stacks.known, 1 << PROFILE_ALLOCATIONS | 1 << PROFILE_BYTES |
					       1 << PROFILE_TEMPORARY);
	assert_int_equal(stacks.nodes[2].values[PROFILE_LIVE], 0);
	stacks_release(&stacks);
}

static void inherited_blocks_belong_to_the_child(void **state)
{
	struct stacks stacks;

	(void)state;
	nodes()[2].freed_blocks = -5;
	nodes()[2].freed_bytes = -50;
	stacks = read_made();
	assert_int_equal(stacks.nodes[2].values[PROFILE_LIVE_BLOCKS], 15);
	assert_int_equal(stacks.nodes[2].values[PROFILE_LIVE], 1050);
	/* a transient state: more blocks freed than allocated */
	nodes()[2].freed_blocks = 11;
	stacks_release(&stacks);
	stacks = read_made();
	assert_int_equal(stacks.nodes[2].values[PROFILE_LIVE_BLOCKS], 0);
	stacks_release(&stacks);
}

static void estimates_are_rounded(void **state)
{
	struct stacks stacks;

	(void)state;
	head()->sample_bytes = 524288;
	head()->sample_count = 4;
	head()->scale_bits = STACK_SCALE_BITS;
	nodes()[2].calls = (UINT64_C(10) << STACK_SCALE_BITS) + 2048;
	nodes()[2].bytes = (UINT64_C(1000) << STACK_SCALE_BITS) + 2047;
	stacks = read_made();
	assert_int_equal(stacks.sample_bytes, 524288);
	assert_int_equal(stacks.sample_count, 4);
	assert_int_equal(stacks.nodes[2].values[PROFILE_ALLOCATIONS], 11);
	assert_int_equal(stacks.nodes[2].values[PROFILE_BYTES], 1000);
	stacks_release(&stacks);
}

static void truncated_stacks_are_counted(void **state)
{
	struct stacks stacks;

	(void)state;
	nodes()[1].pc = STACK_FILE_PC_CUT;
	stacks = read_made();
	assert_int_equal(stacks.nodes[1].pc, STACK_PC_CUT);
	assert_int_equal(stacks.nodes[1].module, PROFILE_NO_MODULE);
	assert_int_equal(stacks.cut_count, 10);
	stacks_release(&stacks);
}

static void an_address_belongs_to_the_module_mapped_at_that_time(void **state)
{
	struct stacks stacks;

	(void)state;
	add_module(0x2000, 2, "/lib/later.so");
	stacks = read_made();
	assert_string_equal(stacks.modules[stacks.nodes[1].module].path, "/bin/a");
	assert_string_equal(stacks.modules[stacks.nodes[2].module].path, "/lib/later.so");
	stacks_release(&stacks);
	((struct stack_file_module *)(made + STACK_HEAD_BYTES))->first_node = 9;
	stacks = read_made();
	assert_string_equal(stacks.modules[stacks.nodes[1].module].path, "/bin/a");
	stacks_release(&stacks);
	/* the return address of a call at the very end of the module */
	nodes()[2].pc = 0x3000;
	stacks = read_made();
	assert_int_equal(stacks.nodes[2].module, 1);
	stacks_release(&stacks);
	nodes()[2].pc = 0x2000;
	stacks = read_made();
	assert_int_equal(stacks.nodes[2].module, PROFILE_NO_MODULE);
	stacks_release(&stacks);
}

static void empty_nodes_are_skipped(void **state)
{
	struct stacks stacks;

	(void)state;
	nodes()[5] = nodes()[2];
	nodes()[2] = (struct stack_file_node){ .calls = 99 };
	head()->node_count = 6;
	stacks = read_made();
	assert_int_equal(stacks.node_count, 3);
	assert_int_equal(stacks.nodes[2].values[PROFILE_ALLOCATIONS], 10);
	assert_int_equal(stacks.lost_count, 0);
	stacks_release(&stacks);
}

static void stacks_with_invalid_parents_are_lost(void **state)
{
	static const uint64_t parents[] = { 2, 3, 9, (1 << STACK_PARENT_BITS) - 1 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(parents); i++) {
		struct stacks stacks;

		nodes()[2].parent_generation = parents[i];
		stacks = read_made();
		assert_int_equal(stacks.node_count, 2);
		assert_int_equal(stacks.lost_count, 10);
		stacks_release(&stacks);
	}
}

static void invalid_modules_are_skipped(void **state)
{
	struct stack_file_module *module = add_module(0x2000, 0, "/lib/b.so");
	const struct stack_file_module sound = *module;
	struct stacks stacks;

	(void)state;
	module->end = module->start;
	stacks = read_made();
	assert_int_equal(stacks.module_count, 1);
	stacks_release(&stacks);
	*module = sound;
	module->build_id_bytes = 33;
	stacks = read_made();
	assert_int_equal(stacks.module_count, 1);
	stacks_release(&stacks);
	*module = sound;
	memset(module->path, 'x', module->record_bytes - 64);
	stacks = read_made();
	assert_int_equal(stacks.module_count, 1);
	stacks_release(&stacks);
	for (unsigned int bytes = 0; bytes <= 64; bytes += 32) {
		module->record_bytes = (uint16_t)bytes;
		stacks = read_made();
		assert_int_equal(stacks.module_count, 1);
		stacks_release(&stacks);
	}
}

static void other_files_are_refused(void **state)
{
	struct stacks stacks = { .pid = 4711 };
	const struct stack_file_head sound = *head();

	(void)state;
	assert_int_equal(stacks_read(made, sizeof(sound) - 1, &stacks), -EBADMSG);
	head()->version++;
	assert_int_equal(stacks_read(made, MADE_BYTES, &stacks), -EBADMSG);
	*head() = sound;
	head()->nodes_offset++;
	assert_int_equal(stacks_read(made, MADE_BYTES, &stacks), -EBADMSG);
	*head() = sound;
	head()->module_bytes = STACK_MODULES_BYTES + 1;
	assert_int_equal(stacks_read(made, MADE_BYTES, &stacks), -EBADMSG);
	*head() = sound;
	head()->scale_bits = 63;
	assert_int_equal(stacks_read(made, MADE_BYTES, &stacks), -EBADMSG);
	*head() = sound;
	nodes()[1].calls = INT64_MAX; /* overflows when 10 are added */
	assert_int_equal(stacks_read(made, MADE_BYTES, &stacks), -EBADMSG);
	assert_int_equal(stacks.pid, 4711);
}

static void the_remainder_of_a_truncated_file_is_read(void **state)
{
	struct stacks stacks;

	(void)state;
	head()->node_count = UINT32_MAX;
	stacks = read_made();
	assert_int_equal(stacks.node_count, 3);
	stacks_release(&stacks);
	assert_int_equal(stacks_read(made, STACK_NODES_OFFSET + 2 * STACK_NODE_BYTES + 63,
				     &stacks),
			 0);
	assert_int_equal(stacks.node_count, 2);
	stacks_release(&stacks);
	assert_int_equal(stacks_read(made, STACK_HEAD_BYTES + 64, &stacks), 0);
	assert_int_equal(stacks.module_count, 0);
	stacks_release(&stacks);
}

static void the_stacks_of_all_programs_in_a_folder_are_read(void **state)
{
	struct count_folder folder = COUNT_FOLDER_INIT;
	struct stacks_list list = STACKS_LIST_INIT;
	char path[] = "stacks-XXXXXX";
	static const char *const names[] = { "30.0.stacks", "4.1.stacks", "4.0.stacks",
					     "4.0",	    "x.0.stacks", "4..stacks",
					     "4.x.stacks",  ".stacks" };

	(void)state;
	assert_non_null(mkdtemp(path));
	folder.fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		int fd = openat(folder.fd, names[i], O_WRONLY | O_CREAT, 0600);

		assert_int_equal(io_write_all(fd, made, MADE_BYTES), 0);
		close(fd);
	}
	assert_int_equal(symlinkat("4.0.stacks", folder.fd, "5.0.stacks"), 0);
	assert_int_equal(mkfifoat(folder.fd, "6.0.stacks", 0600), 0);
	assert_int_equal(stacks_folder_read(&folder, &list), 0);
	assert_int_equal(stacks_folder_read(&folder, &list), 0);
	assert_int_equal(list.count, 3);
	assert_int_equal(list.unreadable_count, 2);
	assert_int_equal(list.items[0].pid, 4);
	assert_int_equal(list.items[0].generation, 0);
	assert_int_equal(list.items[1].generation, 1);
	assert_int_equal(list.items[2].pid, 30);
	stacks_list_release(&list);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		unlinkat(folder.fd, names[i], 0);
	unlinkat(folder.fd, "5.0.stacks", 0);
	unlinkat(folder.fd, "6.0.stacks", 0);
	close(folder.fd);
	rmdir(path);
}

#define made_test(test) cmocka_unit_test_setup_teardown(test, make, drop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		made_test(a_stack_has_callers_and_values),
		made_test(nodes_that_changed_after_the_peak_keep_their_peak_values),
		made_test(without_frees_live_values_are_unknown),
		made_test(inherited_blocks_belong_to_the_child),
		made_test(estimates_are_rounded),
		made_test(truncated_stacks_are_counted),
		made_test(an_address_belongs_to_the_module_mapped_at_that_time),
		made_test(empty_nodes_are_skipped),
		made_test(stacks_with_invalid_parents_are_lost),
		made_test(invalid_modules_are_skipped),
		made_test(other_files_are_refused),
		made_test(the_remainder_of_a_truncated_file_is_read),
		made_test(the_stacks_of_all_programs_in_a_folder_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
