/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "base/units.h"
#include "classify/diagnose.h"
#include "model/usage.h"

#include <string.h>

/* A process with 10 MiB of anonymous memory, and a file's pages of which `copies` are anonymous. */
static void make_usage(struct usage *u, uint64_t file_dirty_bytes, uint64_t copies_bytes)
{
	usage_init(u);
	usage_set_no_memory(u);
	u->matrix.cell[OWNER_ANON][STATE_PRIVATE_DIRTY] = 10 * MIB;
	u->matrix.cell[OWNER_FILE][STATE_PRIVATE_DIRTY] = file_dirty_bytes;
	u->state_bytes[STATE_PRIVATE_DIRTY] = 10 * MIB + file_dirty_bytes;
	u->total.bytes[SMAPS_RSS] = 10 * MIB + file_dirty_bytes;
	u->total.bytes[SMAPS_PSS] = 10 * MIB + file_dirty_bytes;
	u->total.bytes[SMAPS_ANONYMOUS] = 10 * MIB + copies_bytes;
}

/* The sentence of that rule, or NULL. */
static const char *find_sentence(const struct usage *u, const char *rule)
{
	static struct diagnosis found[32];
	size_t count = diagnose(u, found, ARRAY_SIZE(found));

	for (size_t i = 0; i < count; i++)
		if (strcmp(found[i].rule, rule) == 0)
			return found[i].text;
	return NULL;
}

static void written_pages_of_a_shared_file_are_no_copies(void **state)
{
	struct usage u;

	(void)state;
	make_usage(&u, 16 * MIB, 0);
	assert_null(find_sentence(&u, "file-copies"));
	usage_release(&u);
}

static void private_copies_of_file_pages_are_said_with_their_amount(void **state)
{
	struct usage u;
	const char *text;

	(void)state;
	make_usage(&u, 16 * MIB, 6 * MIB);
	text = find_sentence(&u, "file-copies");
	assert_non_null(text);
	assert_memory_equal(text, "6.0M (23%) is private copies", 28);
	usage_release(&u);
}

static void copies_are_not_guessed_where_owners_are_unknown(void **state)
{
	struct usage u;

	(void)state;
	make_usage(&u, 16 * MIB, 6 * MIB);
	matrix_set_unknown(&u.matrix);
	assert_null(find_sentence(&u, "file-copies"));
	usage_release(&u);
}

static void pages_shared_with_a_single_process_are_said_to_be_shared(void **state)
{
	struct usage u;
	const char *text;

	(void)state;
	make_usage(&u, 0, 0);
	u.total.bytes[SMAPS_PRIVATE_DIRTY] = 4 * MIB;
	u.total.bytes[SMAPS_PRIVATE_CLEAN] = 0;
	u.total.bytes[SMAPS_PSS] = 7 * MIB;
	text = find_sentence(&u, "shared");
	assert_non_null(text);
	assert_non_null(strstr(text, "(Pss) is 7.0M, and ending it would free 4.0M (Uss)"));
	u.total.bytes[SMAPS_PRIVATE_DIRTY] = 6 * MIB;
	assert_null(find_sentence(&u, "shared"));
	usage_release(&u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(written_pages_of_a_shared_file_are_no_copies),
		cmocka_unit_test(private_copies_of_file_pages_are_said_with_their_amount),
		cmocka_unit_test(copies_are_not_guessed_where_owners_are_unknown),
		cmocka_unit_test(pages_shared_with_a_single_process_are_said_to_be_shared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
