/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The input is a /tmp/perf-PID.map file. */
#include "config.h"

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "jit_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct jit_frames frames;

	jit_make(&frames);
	jit_frames_parse_map(&frames, (const char *)data, size);
	jit_check(&frames, data, size);
	jit_frames_release(&frames);

	/* the last entry wins, whatever comes before it */
	strbuf_add(&text, (const char *)data, size);
	strbuf_add_text(&text, "\n0 ffffffffffffffff last one");
	jit_make(&frames);
	jit_frames_parse_map(&frames, text.text, text.length);
	for (size_t i = 0; i + 1 < JIT_ADDRESS_COUNT; i++)
		CHECK(strcmp(frames.items[i].name, "last one") == 0);
	jit_frames_release(&frames);
	return 0;
}
