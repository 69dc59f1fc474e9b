/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/count/call_sites.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "../../support/unit.h"

#ifdef __x86_64__

/* An allocator that is linked into this program, and calls of it that are written out. */
void *mi_malloc(size_t bytes);
void *mi_zalloc(size_t bytes);
void mi_free(void *p);
__asm__(".text\n"
	".macro function name\n"
	".globl \\name\n"
	".type \\name, @function\n"
	"\\name:\n"
	".endm\n"
	"function mi_malloc\n"
	"mov $16, %eax\n"
	"ret\n"
	".size mi_malloc, . - mi_malloc\n"
	"function mi_zalloc\n"
	"call mi_malloc\n" /* within the allocator */
	"ret\n"
	".size mi_zalloc, . - mi_zalloc\n"
	"function mi_free\n"
	"ret\n"
	".size mi_free, . - mi_free\n"
	/* a program: a call, a call with a prefix, jumps, bytes that look like a call */
	"function program_code\n"
	"call mi_malloc\n"
	"site_1:\n"
	"addr32 call mi_zalloc\n"
	"site_2:\n"
	"test %eax, %eax\n"
	".byte 0x0f, 0x84\n"
	".long mi_free - . - 4\n"
	"site_3:\n"
	".byte 0x48, 0xb8, 0xe8\n" /* mov $..., %rax */
	".long mi_malloc - . - 4\n"
	".byte 0, 0, 0\n"
	".byte 0xe9\n"
	".long mi_free - . - 4\n"
	"site_4:\n"
	".size program_code, . - program_code\n"
	"function mi_free.cold\n"
	"call mi_malloc\n" /* within the allocator, where rare code is */
	"ret\n"
	".size mi_free.cold, . - mi_free.cold\n"
	".globl site_1, site_2, site_3, site_4\n"
	".previous\n");

extern const uint8_t site_1[], site_2[], site_3[], site_4[];

static size_t name_of(const char *name)
{
	for (size_t i = 0; i < COUNTED_NAME_COUNT; i++)
		if (strcmp(counted_names[i].name, name) == 0)
			return i;
	fail_msg("%s is no name", name);
	return 0;
}

static void only_calls_of_the_program_are_found(void **state)
{
	const struct {
		const uint8_t *end;
		const char *name;
	} expected[] = { { site_1, "mi_malloc" },
			 { site_2, "mi_zalloc" },
			 { site_3, "mi_free" },
			 { site_4, "mi_free" } };
	struct call_sites sites = CALL_SITES_INIT;
	int fd = open("/proc/self/exe", O_RDONLY);
	uint64_t base;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(call_sites_read(fd, &sites), 0);
	base = (uintptr_t)mi_malloc - sites.function_vaddrs[name_of("mi_malloc")];
	assert_int_equal(base + sites.function_vaddrs[name_of("mi_zalloc")],
			 (uintptr_t)mi_zalloc);
	assert_int_equal(sites.function_vaddrs[name_of("tc_malloc")], 0);
	assert_int_equal(sites.count, 4);
	for (size_t i = 0; i < sites.count; i++) {
		assert_int_equal(base + sites.items[i].vaddr,
				 (uintptr_t)expected[i].end - 4);
		assert_int_equal(sites.items[i].name, name_of(expected[i].name));
	}
	call_sites_release(&sites);
	close(fd);
}

#else

static void only_calls_of_the_program_are_found(void **state)
{
	(void)state;
	skip();
}

#endif

static void what_is_no_program_has_no_calls(void **state)
{
	struct call_sites sites = CALL_SITES_INIT;
	int fd = open("/dev/null", O_RDONLY);

	(void)state;
	assert_int_equal(call_sites_read(fd, &sites), 0);
	assert_int_equal(sites.count, 0);
	call_sites_release(&sites);
	close(fd);
}

static void each_additional_name_is_found_and_no_other(void **state)
{
	static const char *const others[] = {
		"",	    "m",   "malloc", "mi_",	    "mi_fre",
		"mi_frees", "zzz", "_Znwm",  "tc_malloc_x",
	};
	struct counted_order order;

	(void)state;
	counted_order_init(&order);
	for (size_t i = COUNTED_STANDARD_COUNT; i < COUNTED_NAME_COUNT; i++)
		assert_int_equal(counted_order_find(&order, counted_names[i].name,
						    strlen(counted_names[i].name)),
				 i);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		assert_int_equal(counted_order_find(&order, others[i], strlen(others[i])),
				 COUNTED_NAME_COUNT);
	/* only the given length counts, because symbols have suffixes such as ".cold" */
	assert_string_equal(
		counted_names[counted_order_find(&order, "mi_free.cold", 7)].name,
		"mi_free");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_calls_of_the_program_are_found),
		cmocka_unit_test(each_additional_name_is_found_and_no_other),
		cmocka_unit_test(what_is_no_program_has_no_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
