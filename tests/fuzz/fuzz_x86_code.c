/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The input is arbitrary bytes that are decoded as x86-64 code. */
#include "config.h"

#include "fuzz.h"
#include "probe/borrow/x86_code.h"

/* The length of the longest x86-64 instruction. */
#define LENGTH_MAX 15

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct x86_instruction instruction;
	struct x86_branch branch;

	for (size_t at = 0; at < size; at++) {
		size_t left = size - at;

		if (x86_decode(data + at, left, &instruction)) {
			CHECK(instruction.length > 0 && instruction.length <= LENGTH_MAX);
			CHECK(instruction.length <= left);
			CHECK(instruction.opcode_offset < instruction.length);
			CHECK(instruction.immediate_bytes < instruction.length);
		}
		if (x86_branch_read(data + at, left, &branch)) {
			CHECK(branch.length > 0 && branch.length <= left);
			CHECK(x86_decode(data + at, left, &instruction));
			CHECK(branch.length == instruction.length);
		}
	}
	for (size_t at = 0; at < size;) {
		size_t before = at;

		if (!x86_branch_next(data, size, &at, &branch))
			break;
		CHECK(at >= before && branch.length > 0 && branch.length <= size - at);
		at += branch.length;
	}
	return 0;
}
