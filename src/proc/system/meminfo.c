/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/system/meminfo.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/key_lines.h"
#include "base/units.h"

#define KEY_SIZE 64

/* The format of a line is "MemTotal: 2097148 kB". */
int proc_meminfo_parse(const char *text, const char *key, uint64_t *ret_bytes)
{
	char start[KEY_SIZE];
	const char *value;
	uint64_t kib;

	snprintf(start, sizeof(start), "%s:", key);
	value = key_lines_find(text, start);
	if (!value)
		return -ENODATA;
	value += strspn(value, "0123456789");
	if (strncmp(value, " kB", 3) != 0 || (value[3] != '\n' && value[3] != '\0') ||
	    !key_lines_find_u64(text, start, &kib))
		return -EBADMSG;
	return units_bytes_from_kib(kib, ret_bytes) < 0 ? -EBADMSG : 0;
}

int proc_meminfo_read(const struct procfs *fs, const char *key, uint64_t *ret_bytes)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	int r;

	r = procfs_read_path(fs, "meminfo", UINT16_MAX, &text);
	if (r < 0)
		return r;
	return proc_meminfo_parse(strbuf_text(&text), key, ret_bytes);
}
