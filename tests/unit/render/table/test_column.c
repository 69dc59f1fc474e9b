/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/table/column.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../support/unit.h"

static const struct column_set *const sets[] = { &process_columns, &mapping_columns };

static bool has_suffix(const char *name, const char *suffix)
{
	size_t length = strlen(name), suffix_length = strlen(suffix);

	return length > suffix_length &&
	       strcmp(name + length - suffix_length, suffix) == 0;
}

static void column_names_are_unique_and_snake_case(void **state)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz_0123456789";

	(void)state;
	for (size_t s = 0; s < ARRAY_SIZE(sets); s++) {
		for (size_t i = 0; i < sets[s]->count; i++) {
			const char *name = sets[s]->columns[i].name;

			assert_row(strspn(name, letters) == strlen(name), name);
			assert_row(column_find(sets[s], name, strlen(name)) ==
					   &sets[s]->columns[i],
				   name);
		}
	}
}

static void column_names_end_with_the_unit(void **state)
{
	(void)state;
	for (size_t s = 0; s < ARRAY_SIZE(sets); s++) {
		for (size_t i = 0; i < sets[s]->count; i++) {
			const struct column *c = &sets[s]->columns[i];

			assert_row(has_suffix(c->name, "_bytes") ==
					   (c->kind == VALUE_BYTES),
				   c->name);
			assert_row(has_suffix(c->name, "_s") ==
					   (c->kind == VALUE_SECONDS ||
					    c->kind == VALUE_COST),
				   c->name);
			assert_row(has_suffix(c->name, "_addr") ==
					   (c->kind == VALUE_ADDRESS),
				   c->name);
		}
	}
}

/* A name without the unit stands for one column, and a heading for no other column. */
static void short_names_and_headings_are_unique(void **state)
{
	(void)state;
	for (size_t s = 0; s < ARRAY_SIZE(sets); s++) {
		struct strbuf names = STRBUF_INIT;
		const char *name;

		column_add_short_names(sets[s], &names);
		name = names.text;
		for (size_t i = 0; i < sets[s]->count; i++) {
			const struct column *c = &sets[s]->columns[i];

			assert_row(column_find(sets[s], name, strlen(name)) == c, name);
			if (c->heading)
				assert_row(column_find(sets[s], c->heading,
						       strlen(c->heading)) == c,
					   c->heading);
			name += strlen(name) + 1;
		}
		strbuf_release(&names);
	}
}

static void every_column_has_help_and_a_getter(void **state)
{
	(void)state;
	for (size_t s = 0; s < ARRAY_SIZE(sets); s++) {
		for (size_t i = 0; i < sets[s]->count; i++) {
			const struct column *c = &sets[s]->columns[i];

			assert_row(c->help && c->help[0] && c->get, c->name);
		}
	}
}

static void default_lists_contain_only_columns(void **state)
{
	(void)state;
	for (size_t s = 0; s < ARRAY_SIZE(sets); s++) {
		const char *const lists[] = { sets[s]->csv_default,
					      sets[s]->table_default };
		struct sort_key key;

		for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
			struct column_list list;
			char *bad = NULL;

			assert_row(column_list_parse(sets[s], "", lists[i], &list,
						     &bad) == 0,
				   lists[i]);
			for (size_t c = 0; c < list.count; c++)
				assert_row(i == 0 || list.items[c]->heading,
					   list.items[c]->name);
			column_list_release(&list);
		}
		assert_int_equal(sort_key_parse(sets[s], sets[s]->sort_default, &key), 0);
	}
}

/*
 * Column names never change: a program that reads the CSV of today must be able to
 * read that of a later version.
 */
static void the_default_csv_columns_never_change(void **state)
{
	(void)state;
	assert_string_equal(
		process_columns.csv_default,
		"time,elapsed_s,pid,comm,size_bytes,rss_bytes,pss_bytes,uss_bytes,"
		"private_dirty_bytes,lazyfree_bytes,private_clean_bytes,"
		"shared_dirty_bytes,shared_clean_bytes,unbacked_bytes,swap_bytes,"
		"allocator,live_bytes,pool_pages_bytes,pool_fragments_bytes,"
		"heap_meta_bytes,stack_bytes,anon_bytes,file_bytes,shmem_bytes,"
		"trimmable_bytes,heap_quality,heap_age_s,heap_pause_s");
}

static void column_lists_are_parsed_and_checked(void **state)
{
	static const struct {
		const char *spec;
		const char *names; /* joined by commas, or NULL if the spec is refused */
		const char *bad;
	} rows[] = {
		{ "pid", "pid", NULL },
		{ "comm,pid", "comm,pid", NULL },
		{ "+comm", "pid,rss_bytes,comm", NULL },
		{ "+pid", "pid,rss_bytes", NULL },
		{ "pid,comm,pid", "pid,comm", NULL },
		{ "", NULL, "" },
		{ "+", NULL, "" },
		{ "pid,", NULL, "" },
		{ ",pid", NULL, "" },
		{ "pid, comm", NULL, " comm" },
		{ "PID", "pid", NULL },
		{ "RSS,Pss,Uss_Bytes,elapsed", "rss_bytes,pss_bytes,uss_bytes,elapsed_s",
		  NULL },
		{ "pdirty,NAME,live", "private_dirty_bytes,comm,live_bytes", NULL },
		{ "rss_kib", NULL, "rss_kib" },
		{ "rss_", NULL, "rss_" },
		{ "_bytes", NULL, "_bytes" },
		{ "pi", NULL, "pi" },
		{ "pidd", NULL, "pidd" },
		{ "++pid", NULL, "+pid" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct column_list list = { NULL, 77, 0 };
		struct strbuf names = STRBUF_INIT;
		char *bad = NULL;
		int r = column_list_parse(&process_columns, "pid,rss_bytes", rows[i].spec,
					  &list, &bad);

		assert_row(r == (rows[i].names ? 0 : -EINVAL), rows[i].spec);
		if (r < 0) {
			assert_string_equal(bad, rows[i].bad);
			assert_int_equal(list.count, 77);
			free(bad);
			continue;
		}
		for (size_t c = 0; c < list.count; c++)
			strbuf_addf(&names, "%s%s", c ? "," : "", list.items[c]->name);
		assert_string_equal(strbuf_text(&names), rows[i].names);
		strbuf_release(&names);
		column_list_release(&list);
	}
}

/* All members of a row exist, but none of their values are known. */
static void every_column_works_for_an_unknown_process(void **state)
{
	struct snapshot snapshot;
	struct usage usage;
	const struct process_row row = { &snapshot, &usage };

	(void)state;
	snapshot_init(&snapshot);
	usage_init(&usage);
	for (size_t i = 0; i < process_columns.count; i++) {
		const struct column *c = &process_columns.columns[i];
		struct value value = { 0 };

		c->get(&row, c->arg, &value);
		if (c->kind == VALUE_BYTES && strcmp(c->name, "size_bytes") != 0)
			assert_row(!value.is_known, c->name);
	}
}

static int compare(const struct sort_key *key, uint64_t a_bytes, uint64_t b_bytes)
{
	struct usage a, b;
	const struct process_row row_a = { NULL, &a }, row_b = { NULL, &b };

	usage_init(&a);
	usage_init(&b);
	a.total.bytes[SMAPS_RSS] = a_bytes;
	b.total.bytes[SMAPS_RSS] = b_bytes;
	return sort_key_compare(key, &row_a, &row_b);
}

static void unknown_values_sort_last_in_both_directions(void **state)
{
	static const char *const specs[] = { "rss_bytes", "-rss_bytes" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(specs); i++) {
		struct sort_key key;

		assert_int_equal(sort_key_parse(&process_columns, specs[i], &key), 0);
		assert_int_equal(key.is_descending, i == 0);
		assert_true(compare(&key, 1, BYTES_UNKNOWN) < 0);
		assert_true(compare(&key, BYTES_UNKNOWN, 1) > 0);
		assert_true(compare(&key, BYTES_UNKNOWN, BYTES_UNKNOWN) == 0);
		assert_true(compare(&key, 5, 5) == 0);
		assert_true(compare(&key, 1, UINT64_MAX - 1) * (i == 0 ? -1 : 1) < 0);
	}
}

static void text_is_sorted_bytewise(void **state)
{
	struct usage a, b;
	const struct process_row row_a = { NULL, &a }, row_b = { NULL, &b };
	struct sort_key key;

	(void)state;
	usage_init(&a);
	usage_init(&b);
	strcpy(a.process.comm, "ab");
	strcpy(b.process.comm, "abc");
	assert_int_equal(sort_key_parse(&process_columns, "comm", &key), 0);
	assert_true(sort_key_compare(&key, &row_a, &row_b) < 0);
	strcpy(a.process.comm, "\xff");
	assert_true(sort_key_compare(&key, &row_a, &row_b) > 0);
	assert_int_equal(sort_key_parse(&process_columns, "-comm", &key), 0);
	assert_true(sort_key_compare(&key, &row_a, &row_b) < 0);
	assert_int_equal(sort_key_parse(&process_columns, "", &key), -EINVAL);
	assert_int_equal(sort_key_parse(&process_columns, "--comm", &key), -EINVAL);
	assert_int_equal(sort_key_parse(&process_columns, "comm,pid", &key), -EINVAL);
}

static void get_change(const void *row, int arg, struct value *ret)
{
	(void)arg;
	ret->is_known = true;
	ret->number = (uint64_t) * (const int64_t *)row;
}

static void a_decrease_sorts_below_an_increase(void **state)
{
	static const struct column change = { "change", NULL, "", VALUE_CHANGE,
					      true,	0,    0,  get_change };
	static const int64_t in_order[] = { INT64_MIN, -4096, -1, 0, 1, 4096, INT64_MAX };
	const struct sort_key rising = { &change, false }, falling = { &change, true };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(in_order); i++) {
		for (size_t k = 0; k < ARRAY_SIZE(in_order); k++) {
			int expected = (i > k) - (i < k);

			assert_int_equal(
				sort_key_compare(&rising, &in_order[i], &in_order[k]),
				expected);
			assert_int_equal(
				sort_key_compare(&falling, &in_order[i], &in_order[k]),
				-expected);
		}
	}
}

static void setters_leave_unknown_values_unknown(void **state)
{
	static const char buf[] = "abc";
	struct value value = { 0 };

	(void)state;
	value_set_amount(&value, BYTES_UNKNOWN);
	value_set_text(&value, NULL);
	assert_false(value.is_known);
	value_set_amount(&value, BYTES_UNKNOWN - 1);
	assert_true(value.is_known);
	assert_int_equal(value.number, BYTES_UNKNOWN - 1);

	/* a change of -1 has the bits of BYTES_UNKNOWN */
	value = (struct value){ 0 };
	value_set_number(&value, (uint64_t)-1);
	assert_true(value.is_known);
	assert_int_equal(value.number, (uint64_t)-1);

	value = (struct value){ 0 };
	value_set_text_part(&value, buf, 2);
	assert_true(value.is_known);
	assert_int_equal(value.text_length, 2);
	value_set_text(&value, buf);
	assert_int_equal(value.text_length, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(setters_leave_unknown_values_unknown),
		cmocka_unit_test(column_names_are_unique_and_snake_case),
		cmocka_unit_test(column_names_end_with_the_unit),
		cmocka_unit_test(short_names_and_headings_are_unique),
		cmocka_unit_test(every_column_has_help_and_a_getter),
		cmocka_unit_test(default_lists_contain_only_columns),
		cmocka_unit_test(the_default_csv_columns_never_change),
		cmocka_unit_test(column_lists_are_parsed_and_checked),
		cmocka_unit_test(every_column_works_for_an_unknown_process),
		cmocka_unit_test(unknown_values_sort_last_in_both_directions),
		cmocka_unit_test(a_decrease_sorts_below_an_increase),
		cmocka_unit_test(text_is_sorted_bytewise),
	};

	return cmocka_run_group_tests_name("column", tests, NULL, NULL);
}
