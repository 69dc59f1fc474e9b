/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The allocator that the mappings of a process show. */
#include "config.h"

#include "model/allocator_signs.h"

#include <string.h>

#include "model/known_names.h"
#include "../support/unit.h"

#define ARENA UINT64_C(0xc000000000)

struct part {
	uint64_t start_addr, end_addr;
	const char *name;
	uint32_t flags;
};

#define READ_WRITE (MAPPING_READ | MAPPING_WRITE)

/* Return the allocator of a process whose mappings are fully resident. */
static enum allocator find(const struct part *parts, size_t count)
{
	struct allocator_signs signs = ALLOCATOR_SIGNS_INIT;

	for (size_t i = 0; i < count; i++) {
		struct mapping m = { .start_addr = parts[i].start_addr,
				     .end_addr = parts[i].end_addr,
				     .name = parts[i].name ? parts[i].name : "",
				     .flags = parts[i].flags };

		m.name_length = (uint32_t)strlen(m.name);
		m.counters.bytes[SMAPS_RSS] = m.end_addr - m.start_addr;
		allocator_signs_add(&signs, &m);
	}
	return allocator_signs_find(&signs);
}

/* The mappings of a Go 1.19 program whose heap the kernel shows as three mappings. */
static void all_parts_of_the_heap_of_go_count(void **state)
{
	static const struct part parts[] = {
		{ ARENA, ARENA + 4 * MIB, NULL, READ_WRITE },
		{ ARENA + 4 * MIB, ARENA + 6 * MIB, NULL, READ_WRITE },
		{ ARENA + 6 * MIB, ARENA + 40 * MIB, NULL, READ_WRITE },
		{ ARENA + 40 * MIB, ARENA + 64 * MIB, NULL, 0 },
		{ UINT64_C(0x7f0000000000), UINT64_C(0x7f0000000000) + 10 * MIB, NULL,
		  READ_WRITE },
	};

	(void)state;
	assert_int_equal(find(parts, ARRAY_SIZE(parts)), ALLOCATOR_GO);
}

static void memory_that_is_not_adjacent_does_not_belong_to_the_heap_of_go(void **state)
{
	static const struct part parts[] = {
		{ ARENA, ARENA + 4 * MIB, NULL, READ_WRITE },
		{ ARENA + 5 * MIB, ARENA + 40 * MIB, NULL, READ_WRITE },
	};

	(void)state;
	assert_int_equal(find(parts, ARRAY_SIZE(parts)), ALLOCATOR_UNKNOWN);
}

static void code_of_node_and_ruby_is_recognised_by_its_file(void **state)
{
	static const struct {
		const char *name;
		bool is_node, is_ruby;
	} rows[] = {
		{ "/usr/bin/node", true, false },
		{ "/usr/bin/nodejs", true, false },
		{ "/opt/node (deleted)", true, false },
		{ "/usr/lib/libnode.so.108", true, false },
		{ "/usr/bin/node_exporter", false, false },
		{ "/usr/bin/node/tool", false, false },
		{ "/usr/bin/ruby3.1", false, true },
		{ "/usr/bin/ruby", false, true },
		{ "/usr/lib/libruby-3.1.so.3.1.2", false, true },
		{ "/usr/lib/libruby.so.3.4", false, true },
		{ "/usr/bin/rubyfmt", false, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct mapping m = { .flags = MAPPING_READ | MAPPING_EXEC,
				     .inode = 7,
				     .name = rows[i].name };

		assert_row(is_code_of_node(&m) == rows[i].is_node, rows[i].name);
		assert_row(is_code_of_ruby(&m) == rows[i].is_ruby, rows[i].name);
		m.flags = MAPPING_READ;
		assert_row(!is_code_of_node(&m) && !is_code_of_ruby(&m), rows[i].name);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(code_of_node_and_ruby_is_recognised_by_its_file),
		cmocka_unit_test(all_parts_of_the_heap_of_go_count),
		cmocka_unit_test(
			memory_that_is_not_adjacent_does_not_belong_to_the_heap_of_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
