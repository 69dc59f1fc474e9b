/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A stack file that a program has written, and may have corrupted. The input is the
 * file's head, two bytes with the length of its modules, the modules, and its nodes.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "agent/count/stack_abi.h"
#include "base/xalloc.h"
#include "fuzz.h"
#include "probe/count/stacks.h"

static void check_stacks(const struct stacks *stacks)
{
	uint64_t sums[PROFILE_METRIC_COUNT_] = { 0 };

	CHECK(stacks->node_count > 0);
	for (size_t i = 0; i < stacks->module_count; i++) {
		CHECK(stacks->modules[i].start < stacks->modules[i].end);
		CHECK(stacks->modules[i].build_id_bytes <= PROFILE_BUILD_ID_MAX);
		CHECK(strlen(stacks->modules[i].path) < UINT16_MAX);
	}
	for (size_t i = 0; i < stacks->node_count; i++) {
		const struct stack_node *node = &stacks->nodes[i];

		CHECK(i == 0 || node->parent < i);
		CHECK(node->module == PROFILE_NO_MODULE ||
		      node->module < stacks->module_count);
		for (int m = 0; m < PROFILE_METRIC_COUNT_; m++) {
			CHECK(node->values[m] <= INT64_MAX - sums[m]);
			sums[m] += node->values[m];
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const size_t head_bytes = sizeof(struct stack_file_head);
	size_t module_bytes, node_bytes;
	struct stacks stacks;
	char *file;

	if (size < head_bytes + 2)
		return 0;
	module_bytes = (size_t)(data[head_bytes] | data[head_bytes + 1] << 8);
	if (module_bytes > size - head_bytes - 2)
		module_bytes = size - head_bytes - 2;
	node_bytes = size - head_bytes - 2 - module_bytes;
	file = xcalloc(1, STACK_NODES_OFFSET + node_bytes + 1);
	memcpy(file, data, head_bytes);
	memcpy(file + STACK_HEAD_BYTES, data + head_bytes + 2, module_bytes);
	memcpy(file + STACK_NODES_OFFSET, data + head_bytes + 2 + module_bytes,
	       node_bytes);
	if (stacks_read(file, STACK_NODES_OFFSET + node_bytes, &stacks) == 0) {
		check_stacks(&stacks);
		stacks_release(&stacks);
	}
	free(file);
	return 0;
}
