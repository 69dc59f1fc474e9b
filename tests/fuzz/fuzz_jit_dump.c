/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The input is a jit-PID.dump file. */
#include "config.h"

#include "jit_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jit_frames frames;

	jit_make(&frames);
	jit_frames_parse_dump(&frames, (const char *)data, size);
	jit_check(&frames, data, size);
	jit_frames_release(&frames);
	return 0;
}
