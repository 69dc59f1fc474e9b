/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/borrow/x86_code.h"

#include <string.h>

#include "probe/uprobe/slide.h"
#include "../../support/unit.h"

#define CODE(...) \
	(const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ })

/* Instructions and their text as objdump prints it. */
static const struct {
	const uint8_t *code;
	size_t length;
	const char *text;
} instructions[] = {
	{ CODE(0x48, 0x85, 0xff), "test %rdi,%rdi" },
	{ CODE(0x41, 0x54), "push %r12" },
	{ CODE(0xf3, 0x0f, 0x1e, 0xfa), "endbr64" },
	{ CODE(0x80, 0x3d, 0x01, 0x02, 0x14, 0x00, 0x00), "cmpb $0x0,0x140201(%rip)" },
	{ CODE(0x48, 0x83, 0xec, 0x18), "sub $0x18,%rsp" },
	{ CODE(0x48, 0x81, 0xec, 0x98, 0x00, 0x00, 0x00), "sub $0x98,%rsp" },
	{ CODE(0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0x00, 0x00, 0x00),
	  "mov %fs:0x28,%rax" },
	{ CODE(0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8), "movabs $0x807060504030201,%rax" },
	{ CODE(0x66, 0xb8, 1, 2), "mov $0x201,%ax" },
	{ CODE(0x48, 0x8d, 0x44, 0x24, 0x08), "lea 0x8(%rsp),%rax" },
	{ CODE(0x48, 0x8d, 0x04, 0xed, 0, 0, 0, 0), "lea 0x0(,%rbp,8),%rax" },
	{ CODE(0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0), "cs nopw 0x0(%rax,%rax,1)" },
	{ CODE(0xf6, 0x47, 0xf8, 0x02), "testb $0x2,-0x8(%rdi)" },
	{ CODE(0xf7, 0xd0), "not %eax" },
	{ CODE(0xf7, 0xc0, 1, 2, 3, 4), "test $0x4030201,%eax" },
	{ CODE(0xc5, 0xf8, 0x77), "vzeroupper" },
	{ CODE(0xc4, 0xe2, 0xf9, 0xf7, 0xc1), "shlx %rax,%rcx,%rax" },
	{ CODE(0xc4, 0xe3, 0x7d, 0x39, 0xc1, 0x01), "vextracti128 $0x1,%ymm0,%xmm1" },
	{ CODE(0x62, 0xf1, 0xfe, 0x48, 0x6f, 0x06), "vmovdqu64 (%rsi),%zmm0" },
	{ CODE(0x66, 0x0f, 0x3a, 0x0f, 0xc1, 0x08), "palignr $0x8,%xmm1,%xmm0" },
	{ CODE(0xf0, 0x48, 0x0f, 0xb1, 0x0f), "lock cmpxchg %rcx,(%rdi)" },
	{ CODE(0x0f, 0x05), "syscall" },
	{ CODE(0xc8, 1, 2, 3), "enter $0x201,$0x3" },
	{ CODE(0xe8, 1, 2, 3, 4), "call" },
	{ CODE(0x0f, 0x84, 1, 2, 3, 4), "je" },
	{ CODE(0xff, 0x25, 1, 2, 3, 4), "jmp *0x4030201(%rip)" },
};

static void instructions_have_lengths_and_truncated_ones_are_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(instructions); i++) {
		struct x86_instruction insn = { .length = 77 };
		uint8_t code[32];

		memset(code, 0x90, sizeof(code));
		memcpy(code, instructions[i].code, instructions[i].length);
		assert_row(x86_decode(code, sizeof(code), &insn), instructions[i].text);
		assert_row(insn.length == instructions[i].length, instructions[i].text);
		for (size_t cut = 0; cut < instructions[i].length; cut++)
			assert_row(!x86_decode(code, cut, &insn), instructions[i].text);
	}
}

static void instructions_invalid_in_64_bit_mode_are_refused(void **state)
{
	static const uint8_t codes[] = { 0x06, 0x0e, 0x1f, 0x27, 0x60,
					 0x82, 0x9a, 0xce, 0xd6, 0xea };

	(void)state;
	for (size_t i = 0; i < sizeof(codes); i++) {
		const uint8_t code[16] = { codes[i] };
		struct x86_instruction insn;

		assert_false(x86_decode(code, sizeof(code), &insn));
	}
}

static const struct {
	const uint8_t *code;
	size_t length;
	struct x86_branch branch;
} branches[] = {
	{ CODE(0xe8, 0xfb, 0xff, 0xff, 0xff), { X86_CALL, 0, false, 5, -5 } },
	{ CODE(0xe9, 0x10, 0, 0, 0), { X86_JUMP, 0, false, 5, 16 } },
	{ CODE(0xeb, 0xfe), { X86_JUMP, 0, false, 2, -2 } },
	{ CODE(0x75, 0x7f), { X86_JUMP_IF, 5, false, 2, 127 } },
	{ CODE(0x0f, 0x84, 0, 1, 0, 0), { X86_JUMP_IF, 4, false, 6, 256 } },
	{ CODE(0xff, 0x15, 0, 1, 0, 0), { X86_CALL, 0, true, 6, 256 } },
};

static void branch_targets_are_decoded(void **state)
{
	struct x86_branch branch;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(branches); i++) {
		const struct x86_branch *wanted = &branches[i].branch;

		assert_true(
			x86_branch_read(branches[i].code, branches[i].length, &branch));
		assert_int_equal(branch.kind, wanted->kind);
		assert_int_equal(branch.condition, wanted->condition);
		assert_int_equal(branch.is_indirect, wanted->is_indirect);
		assert_int_equal(branch.length, wanted->length);
		assert_true(branch.distance_bytes == wanted->distance_bytes);
		assert_false(x86_branch_read(branches[i].code, branches[i].length - 1,
					     &branch));
	}
	assert_false(x86_branch_read(CODE(0xff, 0xe0), &branch));
}

static void a_branch_opcode_inside_an_instruction_is_ignored(void **state)
{
	/* a movabs whose operand contains e8 01 00 00 00, then a call */
	static const uint8_t code[] = { 0x48, 0xb8, 0xe8, 1, 0, 0, 0, 0,
					0,    0,    0xe8, 9, 0, 0, 0 };
	struct x86_branch branch;
	size_t at = 0;

	(void)state;
	assert_true(x86_branch_next(code, sizeof(code), &at, &branch));
	assert_int_equal(at, 10);
	assert_int_equal(branch.distance_bytes, 9);
	at += branch.length;
	assert_false(x86_branch_next(code, sizeof(code), &at, &branch));
}

/* Functions, and the offset at which each one's breakpoint goes. */
static const struct {
	const uint8_t *code;
	size_t length;
	size_t offset, pushed;
	bool is_stepped;
	const char *why;
} slides[] = {
	{ CODE(0x41, 0x54, 0x55), 0, 0, false, "malloc: push" },
	{ CODE(0x48, 0x85, 0xff, 0x0f, 0x84, 0xbf, 0, 0, 0), 3, 0, false,
	  "free: test, je" },
	{ CODE(0x80, 0x3d, 1, 2, 3, 0, 0, 0x74, 0x07), 7, 0, false,
	  "memalign: cmpb, je" },
	{ CODE(0xf3, 0x0f, 0x1e, 0xfa, 0x41, 0x54), 4, 0, false, "endbr64, push" },
	{ CODE(0x48, 0x83, 0xec, 0x18, 0xe9, 0, 0, 0, 0), 4, 24, false,
	  "sub of the stack, jmp" },
	{ CODE(0x48, 0x89, 0xd7, 0x55), 0, 0, true, "mov to %rdi: an argument is lost" },
	{ CODE(0x48, 0x31, 0xf6, 0x55), 0, 0, true, "xor of %rsi" },
	{ CODE(0x48, 0x8d, 0x64, 0x24, 0xf8, 0x55), 0, 0, true, "lea to %rsp" },
	{ CODE(0x48, 0xf7, 0xe2, 0x55), 0, 0, true, "mul, which writes %rdx" },
	{ CODE(0xc3), 0, 0, true, "ret" },
	{ CODE(0x48, 0x85, 0xff, 0x55, 0x90, 0xeb, 0xfc), 0, 0, true,
	  "a jump back to the push" },
	{ CODE(0x48, 0x85, 0xff, 0x55, 0x90, 0xeb, 0xf9), 3, 0, false,
	  "a jump back to the start" },
	{ CODE(0x48, 0x85, 0xff), 0, 0, true, "nothing behind" },
	{ (const uint8_t *)"", 0, 0, 0, true, "nothing" },
};

static void a_breakpoint_is_placed_where_arguments_are_intact(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(slides); i++) {
		struct count_slide slide = { 7, 7, false };

		count_slide_find(slides[i].code, slides[i].length, &slide);
		assert_row(slide.offset_bytes == slides[i].offset, slides[i].why);
		assert_row(slide.pushed_bytes == slides[i].pushed, slides[i].why);
		assert_row(slide.is_stepped == slides[i].is_stepped, slides[i].why);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			instructions_have_lengths_and_truncated_ones_are_refused),
		cmocka_unit_test(instructions_invalid_in_64_bit_mode_are_refused),
		cmocka_unit_test(branch_targets_are_decoded),
		cmocka_unit_test(a_branch_opcode_inside_an_instruction_is_ignored),
		cmocka_unit_test(a_breakpoint_is_placed_where_arguments_are_intact),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
