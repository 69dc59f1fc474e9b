/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/proc_meminfo.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/units.h"
#include "base/xalloc.h"

/* "       2097148 kB" */
static int parse_amount(char *value, uint64_t *ret_bytes)
{
	char *unit;
	uint64_t kib;

	value += strspn(value, " ");
	unit = strchr(value, ' ');
	if (!unit || strcmp(unit, " kB") != 0)
		return -EBADMSG;
	*unit = '\0';
	if (num_parse_u64(value, &kib) < 0 || units_bytes_from_kib(kib, ret_bytes) < 0)
		return -EBADMSG;
	return 0;
}

int proc_meminfo_parse(const char *text, const char *key, uint64_t *ret_bytes)
{
	size_t length = strlen(key);

	for (const char *line = text; *line; line += strspn(line, "\n")) {
		size_t size = strcspn(line, "\n");

		if (strncmp(line, key, length) == 0 && line[length] == ':') {
			char *value = xstrndup(line + length + 1, size - length - 1);
			int r = parse_amount(value, ret_bytes);

			free(value);
			return r;
		}
		line += size;
	}
	return -ENODATA;
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
