/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The reply of the process that reads debug information. A hostile file may have
 * taken over libdw there, so the reply is untrusted. The parser is static, so this
 * target includes its source.
 */
#include "config.h"

#include "tracee/symbols/symbolize.c" /* read_records() */

#include "fuzz.h"

#define FILES 3
#define VADDRS 4

static void check_found(void *context, size_t file, size_t vaddr,
			const struct code_frame *frames, size_t count)
{
	unsigned int *found = context;

	CHECK(file < FILES && vaddr < VADDRS && count > 0 && count <= DWARF_FRAMES_MAX);
	CHECK(!(found[file] & 1U << vaddr));
	found[file] |= 1U << vaddr;
	for (size_t i = 0; i < count; i++) {
		CHECK(!frames[i].function || strlen(frames[i].function) <= TEXT_MAX);
		CHECK(!frames[i].file || strlen(frames[i].file) <= TEXT_MAX);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint64_t vaddrs[VADDRS] = { 16, 32, 48, 64 };
	const struct symbolize_file file = { .path = "x",
					     .vaddrs = vaddrs,
					     .count = VADDRS };
	const struct symbolize_file files[FILES] = { file, file, file };
	bool flags[FILES][VADDRS] = { { false } },
	     *is_reported[FILES] = { flags[0], flags[1], flags[2] };
	unsigned int found[FILES] = { 0 };
	struct task task = { .files = files,
			     .count = FILES,
			     .is_reported = is_reported,
			     .found = check_found,
			     .context = found };
	struct strbuf in = STRBUF_INIT;
	size_t half = size / 2;

	/* in two parts, as a pipe may deliver them */
	strbuf_add(&in, data, half);
	read_records(&task, &in);
	strbuf_add(&in, data + half, size - half);
	read_records(&task, &in);
	CHECK(task.next <= FILES && in.length <= size);
	strbuf_release(&in);
	return 0;
}
