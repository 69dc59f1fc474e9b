/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "agent/count/stack_record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../support/unit.h"

/* No code is known, so each call has a stack of one frame, which is truncated. */
static struct unwind_row rows[UNWIND_ROW_COUNT] __attribute__((aligned(4096)));
static struct stacks stacks;
static struct stack_thread thread;
static uint64_t nodes_pcs[2] = { 0x10000, 0x20000 };
/* the next code lookup runs a signal handler that allocates and frees */
static bool is_interrupted;

static void record(uint64_t pc, uint64_t bytes)
{
	uint64_t frame = 0;
	struct unwind_state start = { pc, (uintptr_t)&frame, 0 };

	stack_record(&stacks, &thread, 0x1000, bytes, &start);
}

static bool find(void *context, uint64_t pc, struct unwind_module *ret)
{
	(void)context;
	(void)pc;
	(void)ret;
	if (is_interrupted) {
		is_interrupted = false;
		record(nodes_pcs[1], 7);
		stack_count_temporary(&stacks, &thread);
	}
	return false;
}

static const struct stack_file_node *node_of(uint64_t pc)
{
	for (uint32_t i = 1; i < stacks.file.head->node_count; i++)
		if (stacks.file.nodes[i].pc == pc)
			return &stacks.file.nodes[i];
	fail_msg("no stack with this address");
	return NULL;
}

static int begin(void **state)
{
	char folder[] = "/tmp/test_stack_record.XXXXXX";

	(void)state;
	if (!mkdtemp(folder))
		return -1;
	stacks = (struct stacks){ .space = { .find = find, .rows = rows } };
	thread = (struct stack_thread){ .random = 1 };
	snprintf(stacks.file.path, sizeof(stacks.file.path), "%s/stacks", folder);
	if (!stack_file_create(&stacks.file, &stacks.mode, 0))
		return -1;
	unlink(stacks.file.path);
	return rmdir(folder);
}

static int end(void **state)
{
	(void)state;
	stack_trie_reset(&thread.trie);
	stack_file_close(&stacks.file);
	return 0;
}

static void a_handlers_temporary_block_is_not_attributed_to_other_stacks(void **state)
{
	(void)state;
	record(nodes_pcs[0], 5);
	is_interrupted = true;
	record(nodes_pcs[1], 6);
	assert_false(is_interrupted);
	assert_int_equal(node_of(nodes_pcs[0])->temporary, 0);
	assert_int_equal(node_of(nodes_pcs[1])->temporary, 0);
	assert_int_equal(stacks.file.nodes[STACK_NODE_CUT].temporary, 1);
	assert_int_equal(stacks.file.nodes[STACK_NODE_CUT].calls, 1);
	stack_count_temporary(&stacks, &thread);
	assert_int_equal(node_of(nodes_pcs[1])->temporary, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_handlers_temporary_block_is_not_attributed_to_other_stacks,
			begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
