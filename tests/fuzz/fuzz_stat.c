/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The input is parsed as /proc/PID/stat. */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "fuzz.h"
#include "proc/process/stat.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct process p, before;
	int r;

	memset(&p, 0x55, sizeof(p));
	before = p;
	r = proc_stat_parse(text, size, &p);
	if (r < 0) {
		CHECK(r == -EBADMSG);
		CHECK(memcmp(&p, &before, sizeof(p)) == 0);
		return 0;
	}
	CHECK(p.pid > 0 && p.ppid >= 0);
	CHECK(strnlen(p.comm, sizeof(p.comm)) < sizeof(p.comm));
	CHECK(memmem(text, size, p.comm, strlen(p.comm)));
	CHECK(memchr(text, p.state, size));
	CHECK((p.state >= 'A' && p.state <= 'Z') || (p.state >= 'a' && p.state <= 'z'));
	return 0;
}
