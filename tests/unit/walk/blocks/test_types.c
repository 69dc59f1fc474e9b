/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * C++ virtual tables in this process's memory: as compilers
 * make them, and malformed ones.
 */
#include "config.h"

#include "walk/blocks/types.h"

#include <string.h>

#include "../../support/self.h"
#include "../../support/unit.h"

/*
 * Itanium C++ ABI, 2.9.5: the words before a virtual table, and
 * the type_info they point to.
 */
struct info {
	const void *table; /* the table of the type_info's own class */
	const char *name;
};

struct table {
	int64_t offset_to_top;
	const struct info *info;
	const void *functions[2]; /* an object's first word points here */
};

/* The class __class_type_info, which describes classes without bases. */
static const struct info abi_info = { NULL, "N10__cxxabiv117__class_type_infoE" };
static const struct table abi_table = { 0, &abi_info, { NULL, NULL } };
static const struct info other_info = { NULL, "N10__cxxabzz17__class_type_infoE" };
static const struct table other_table = { 0, &other_info, { NULL, NULL } };

/*
 * Not static, so that they lie where compilers put tables and the
 * compiler cannot optimize them.
 */
extern struct info test_types_info;
extern struct table test_types_table;
struct info test_types_info = { .table = abi_table.functions };
struct table test_types_table = { .info = &test_types_info };

/* Assert the type of an object whose first word is `word`; NULL: it has no type. */
static void expect(struct self *self, uint64_t word, const char *name)
{
	struct types *types = types_new(NULL, &self->memory);
	uint32_t type = types_of_word(types, word);

	if (name) {
		assert_int_not_equal(type, 0);
		assert_string_equal(types_name(types, type), name);
		assert_int_equal(types_of_word(types, word), type);
	} else {
		assert_int_equal(type, 0);
	}
	assert_null(types_problem(types));
	types_free(types);
}

static uint64_t word(void)
{
	return (uintptr_t)test_types_table.functions;
}

static void reset(void)
{
	test_types_info = (struct info){ abi_table.functions, "N2ns5ShapeE" };
	test_types_table = (struct table){ .info = &test_types_info };
}

static void a_class_is_identified_by_its_type_info(void **state)
{
	static const struct {
		const char *name, *text, *raw;
	} rows[] = {
		{ "N2ns5ShapeE", "ns::Shape", "_ZTVN2ns5ShapeE" },
		{ "*N12_GLOBAL__N_16HiddenE", "(anonymous namespace)::Hidden",
		  "_ZTVN12_GLOBAL__N_16HiddenE" },
		{ "3Foo", "Foo", "_ZTV3Foo" },
		{ "St9bad_alloc", "std::bad_alloc", "_ZTVSt9bad_alloc" },
	};
	struct self self;

	(void)state;
	self_init(&self);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		reset();
		test_types_info.name = rows[i].name;
		expect(&self, word(), HAVE_LIBIBERTY ? rows[i].text : rows[i].raw);
	}
	self_release(&self);
}

static void malformed_virtual_tables_have_no_type(void **state)
{
	static char long_name[5000];
	struct self self;

	(void)state;
	self_init(&self);
	reset();
	expect(&self, word() + 8, NULL);
	expect(&self, word() - 8, NULL);
	expect(&self, word() + 4, NULL);
	expect(&self, 0, NULL);
	expect(&self, UINT64_MAX, NULL);
	expect(&self, UINT64_MAX - 7, NULL);
	expect(&self, (uintptr_t)&self & ~UINT64_C(7), NULL);
	test_types_table.offset_to_top = -16;
	expect(&self, word(), NULL);
	reset();
	test_types_table.info = NULL;
	expect(&self, word(), NULL);
	test_types_table.info = (const struct info *)word(); /* points to itself */
	expect(&self, word(), NULL);
	reset();
	test_types_info.table = other_table.functions;
	expect(&self, word(), NULL);
	test_types_info.table = test_types_table.functions; /* a cycle */
	expect(&self, word(), NULL);
	reset();
	test_types_info.name = NULL;
	expect(&self, word(), NULL);
	test_types_info.name = "";
	expect(&self, word(), NULL);
	test_types_info.name = "3Fo\n";
	expect(&self, word(), NULL);
	test_types_info.name = "hello";
	expect(&self, word(), NULL);
	memset(long_name, '1', sizeof(long_name) - 1);
	test_types_info.name = long_name;
	expect(&self, word(), NULL);
	self_release(&self);
}

static void types_with_the_same_name_are_one_type(void **state)
{
	static const struct info second_info = { abi_table.functions, "N2ns5ShapeE" };
	static const struct table second = { .info = &second_info };
	struct types *types;
	struct self self;

	(void)state;
	self_init(&self);
	reset();
	types = types_new(NULL, &self.memory);
	assert_int_equal(types_of_word(types, word()), 1);
	assert_int_equal(types_of_word(types, (uintptr_t)second.functions), 1);
	types_free(types);
	self_release(&self);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_class_is_identified_by_its_type_info),
		cmocka_unit_test(malformed_virtual_tables_have_no_type),
		cmocka_unit_test(types_with_the_same_name_are_one_type),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
