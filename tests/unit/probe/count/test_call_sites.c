/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/count/call_sites.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "../../support/made_program.h"
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

/* The made programs define only mi_malloc, far behind their code. */
#	define CODE_VADDR MADE_CONTENTS_OFFSET
#	define MALLOC_VADDR (CODE_VADDR + 0x05000000)
#	define CALL_BYTES 5
#	define SITES_MANY 4000
#	define PIECE_BYTES 65536

static struct made_program program_with(const void *contents, size_t length,
					uint32_t flags)
{
	return (struct made_program){
		.symbols_type = SHT_SYMTAB,
		.symbols = { { "mi_malloc", MALLOC_VADDR, 1 },
			     { "program", CODE_VADDR, length } },
		.parts = { made_program_part(CODE_VADDR, length, flags) },
		.part_count = 1,
		.contents = contents,
		.length = length,
	};
}

static int read_sites(const struct made_program *program, struct call_sites *ret)
{
	int fd = made_program_open(program);
	int r = call_sites_read(fd, ret);

	close(fd);
	return r;
}

/* Write a call of mi_malloc at this offset of the code. */
static void write_call(uint8_t *code, size_t at)
{
	uint32_t distance = (uint32_t)(MALLOC_VADDR - (CODE_VADDR + at + CALL_BYTES));

	code[at] = 0xe8;
	memcpy(code + at + 1, &distance, sizeof(distance));
}

/* Return code that consists of calls of mi_malloc. */
static uint8_t *make_calls(size_t count)
{
	uint8_t *code = xmalloc(count * CALL_BYTES);

	for (size_t i = 0; i < count; i++)
		write_call(code, i * CALL_BYTES);
	return code;
}

static void a_function_with_many_calls_is_read_once(void **state)
{
	struct call_sites sites = CALL_SITES_INIT;
	uint8_t *code = make_calls(SITES_MANY);
	struct made_program program =
		program_with(code, SITES_MANY * CALL_BYTES, PF_X | PF_R);
	uint64_t before = made_program_io("rchar"), read_bytes;

	(void)state;
	assert_int_equal(read_sites(&program, &sites), 0);
	read_bytes = made_program_io("rchar") - before;
	assert_int_equal(sites.count, SITES_MANY);
	for (size_t i = 0; i < SITES_MANY; i++)
		assert_int_equal(sites.items[i].vaddr, CODE_VADDR + i * CALL_BYTES + 1);
	assert_in_range(read_bytes, SITES_MANY * CALL_BYTES,
			100 * SITES_MANY * CALL_BYTES);
	call_sites_release(&sites);
	free(code);
}

static void too_many_calls_are_refused(void **state)
{
	struct call_sites sites = CALL_SITES_INIT;
	uint8_t *code = make_calls(CALL_SITES_MAX + 1);
	struct made_program program =
		program_with(code, (CALL_SITES_MAX + 1) * CALL_BYTES, PF_X | PF_R);

	(void)state;
	assert_int_equal(read_sites(&program, &sites), -E2BIG);
	assert_int_equal(sites.count, 0);
	program.length -= CALL_BYTES;
	program.parts[0].p_filesz -= CALL_BYTES;
	assert_int_equal(read_sites(&program, &sites), 0);
	assert_int_equal(sites.count, CALL_SITES_MAX);
	call_sites_release(&sites);
	free(code);
}

static void calls_within_the_allocator_are_limited_too(void **state)
{
	const size_t count = 8 * CALL_SITES_MAX + 1;
	struct call_sites sites = CALL_SITES_INIT;
	uint8_t *code = make_calls(count);
	struct made_program program = program_with(code, count * CALL_BYTES, PF_X | PF_R);

	(void)state;
	program.symbols[1].name = "mi_malloc.cold";
	assert_int_equal(read_sites(&program, &sites), -E2BIG);
	program.length -= CALL_BYTES;
	program.parts[0].p_filesz -= CALL_BYTES;
	assert_int_equal(read_sites(&program, &sites), 0);
	assert_int_equal(sites.count, 0);
	call_sites_release(&sites);
	free(code);
}

/* Calls at the end of the code, and around the borders of the pieces that are read. */
static void calls_at_any_offset_are_found(void **state)
{
	static uint8_t code[PIECE_BYTES + 16];

	(void)state;
	for (size_t at = PIECE_BYTES - 8; at <= sizeof(code) - CALL_BYTES; at++) {
		struct made_program program =
			program_with(code, sizeof(code), PF_X | PF_R);
		struct call_sites sites = CALL_SITES_INIT;

		memset(code, 0x90, sizeof(code)); /* nop */
		write_call(code, at);
		assert_int_equal(read_sites(&program, &sites), 0);
		assert_int_equal(sites.count, 1);
		assert_int_equal(sites.items[0].vaddr, CODE_VADDR + at + 1);
		call_sites_release(&sites);
	}
}

static void a_call_that_the_end_of_the_code_cuts_is_none(void **state)
{
	uint8_t *code = make_calls(2);
	struct made_program program = program_with(code, 2 * CALL_BYTES, PF_X | PF_R);
	struct call_sites sites = CALL_SITES_INIT;

	(void)state;
	program.parts[0].p_filesz--;
	assert_int_equal(read_sites(&program, &sites), 0);
	assert_int_equal(sites.count, 1);
	call_sites_release(&sites);
	free(code);
}

/*
 * The bytes of a call that begins within an instruction, and ends within another one
 * with a constant of 4 bytes.
 */
static void bytes_within_instructions_are_no_call(void **state)
{
	static const uint8_t code[] = {
		0xb8, 0xe8, 0xfa, 0xff, 0xff, /* mov $..., %eax */
		0x05, 0x00, 0x00, 0x00, 0x00, /* add $0, %eax */
		0xc3,
	};
	struct made_program program = program_with(code, sizeof(code), PF_X | PF_R);
	struct call_sites sites = CALL_SITES_INIT;
	int32_t distance;

	(void)state;
	memcpy(&distance, code + 2, sizeof(distance));
	program.symbols[0].vaddr = (uint64_t)(CODE_VADDR + 1 + CALL_BYTES + distance);
	assert_int_equal(read_sites(&program, &sites), 0);
	assert_int_equal(sites.function_vaddrs[name_of("mi_malloc")],
			 program.symbols[0].vaddr);
	assert_int_equal(sites.count, 0);
	call_sites_release(&sites);
}

static void code_without_end_is_refused(void **state)
{
	static const uint8_t code[] = { 0xc3 };
	struct made_program program = program_with(code, sizeof(code), PF_X | PF_R);
	struct call_sites sites = CALL_SITES_INIT;

	(void)state;
	program.parts[0].p_filesz = UINT64_C(1) << 40;
	program.file_bytes = program.parts[0].p_filesz + MADE_CONTENTS_OFFSET;
	assert_int_equal(read_sites(&program, &sites), -E2BIG);
}

static void a_signal_ends_the_search(void **state)
{
	uint8_t *code = make_calls(1);
	struct made_program program = program_with(code, CALL_BYTES, PF_X | PF_R);
	struct call_sites sites = CALL_SITES_INIT;
	sigset_t blocked;
	int number;

	(void)state;
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGTERM);
	assert_int_equal(sigprocmask(SIG_BLOCK, &blocked, NULL), 0);
	assert_int_equal(raise(SIGTERM), 0);
	assert_int_equal(read_sites(&program, &sites), -EINTR);
	assert_int_equal(sigwait(&blocked, &number), 0);
	assert_int_equal(sigprocmask(SIG_UNBLOCK, &blocked, NULL), 0);
	assert_int_equal(read_sites(&program, &sites), 0);
	assert_int_equal(sites.count, 1);
	call_sites_release(&sites);
	free(code);
}

#	define SLOT_COUNT 200

/* Return a program whose data are the given slots. */
static struct made_program program_with_slots(const uint64_t *slots, size_t count,
					      const uint64_t *relr, size_t relr_count)
{
	struct made_program program =
		program_with(slots, count * sizeof(*slots), PF_R | PF_W);

	program.relr = relr;
	program.relr_count = relr_count;
	return program;
}

static void packed_slots_are_found(void **state)
{
	static const size_t expected[] = { 0, 1, 3, 63, 64, 66, 126, 190, 199 };
	static const uint64_t relr[] = {
		CODE_VADDR,
		1 | UINT64_C(1) << 1 | UINT64_C(1) << 3 | UINT64_C(1) << 63,
		1 | UINT64_C(1) << 1 | UINT64_C(1) << 3 | UINT64_C(1) << 63,
		CODE_VADDR + 8 * 190,
		1 | UINT64_C(1) << 9,
	};
	uint64_t slots[SLOT_COUNT] = { 0 };
	struct made_program program =
		program_with_slots(slots, SLOT_COUNT, relr, ARRAY_SIZE(relr));
	struct call_sites sites = CALL_SITES_INIT;

	(void)state;
	/* slots without a bit in relr do not count, whatever they contain */
	for (size_t i = 0; i < SLOT_COUNT; i++)
		slots[i] = MALLOC_VADDR;
	assert_int_equal(read_sites(&program, &sites), 0);
	assert_int_equal(sites.count, ARRAY_SIZE(expected));
	for (size_t i = 0; i < sites.count; i++) {
		assert_int_equal(sites.items[i].vaddr, CODE_VADDR + 8 * expected[i]);
		assert_true(sites.items[i].is_slot);
	}
	call_sites_release(&sites);
}

static void false_packed_slots_are_refused(void **state)
{
	static const struct {
		uint64_t relr[3];
		const char *why;
	} rows[] = {
		{ { CODE_VADDR + 8, CODE_VADDR, CODE_VADDR + 16 }, "descending" },
		{ { CODE_VADDR, CODE_VADDR, CODE_VADDR }, "repeated" },
		{ { CODE_VADDR, 3, CODE_VADDR + 8 }, "repeated after a bitmap" },
		{ { CODE_VADDR + 8 * SLOT_COUNT, 1, 1 }, "behind the data" },
		{ { CODE_VADDR + 8 * (SLOT_COUNT - 1), 3, 1 }, "a bit behind the data" },
	};
	uint64_t slots[SLOT_COUNT] = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct made_program program = program_with_slots(
			slots, SLOT_COUNT, rows[i].relr, ARRAY_SIZE(rows[i].relr));
		struct call_sites sites = CALL_SITES_INIT;

		program.file_bytes =
			MADE_CONTENTS_OFFSET + sizeof(slots) + sizeof(rows[i].relr);
		assert_row(read_sites(&program, &sites) == -EOPNOTSUPP, rows[i].why);
	}
}

static void packed_slots_are_limited_and_read_in_pieces(void **state)
{
	static uint64_t slots[63 * 600], relr[1 + 600];
	struct made_program program =
		program_with_slots(slots, ARRAY_SIZE(slots), relr, ARRAY_SIZE(relr) - 1);
	struct call_sites sites = CALL_SITES_INIT;
	uint64_t before, read_count;

	(void)state;
	relr[0] = CODE_VADDR;
	memset(relr + 1, 0xff, sizeof(relr) - sizeof(relr[0]));
	before = made_program_io("syscr");
	assert_int_equal(read_sites(&program, &sites), 0);
	read_count = made_program_io("syscr") - before;
	assert_int_equal(sites.count, 0);
	assert_in_range(read_count, 1, ARRAY_SIZE(slots) / 100);
	for (size_t i = 0; i < ARRAY_SIZE(slots); i++)
		slots[i] = MALLOC_VADDR;
	assert_int_equal(read_sites(&program, &sites), -E2BIG);
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
#ifdef __x86_64__
		cmocka_unit_test(a_function_with_many_calls_is_read_once),
		cmocka_unit_test(too_many_calls_are_refused),
		cmocka_unit_test(calls_within_the_allocator_are_limited_too),
		cmocka_unit_test(calls_at_any_offset_are_found),
		cmocka_unit_test(a_call_that_the_end_of_the_code_cuts_is_none),
		cmocka_unit_test(bytes_within_instructions_are_no_call),
		cmocka_unit_test(code_without_end_is_refused),
		cmocka_unit_test(a_signal_ends_the_search),
		cmocka_unit_test(packed_slots_are_found),
		cmocka_unit_test(false_packed_slots_are_refused),
		cmocka_unit_test(packed_slots_are_limited_and_read_in_pieces),
#endif
		cmocka_unit_test(what_is_no_program_has_no_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
