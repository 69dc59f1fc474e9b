/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/borrow/own_number.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/key_lines.h"
#include "base/num.h"
#include "probe/borrow/borrow.h"

/* Return the last number of "NSpid:\t1234\t12". */
uint32_t own_number_read(int process_fd, const char *dir)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	char path[300];
	const char *line, *end;

	snprintf(path, sizeof(path), "%s/status", dir);
	if (io_read_file_at(process_fd, path, KEY_LINES_BYTES_MAX, &text) < 0)
		return 0;
	line = key_lines_find(strbuf_text(&text), "NSpid:");
	end = line ? line + strcspn(line, "\n") : NULL;
	while (end && end > line && end[-1] != '\t')
		end--;
	return end ? (uint32_t)strtoul(end, NULL, 10) : 0;
}

int own_number_find_thread(int process_fd, uint32_t own_number)
{
	_cleanup_closedir_ DIR *tasks = borrow_open_tasks(process_fd);
	struct dirent *entry;
	char dir[300];
	int tid;

	while (tasks && (entry = readdir(tasks))) {
		snprintf(dir, sizeof(dir), "task/%s", entry->d_name);
		if (num_parse_pid(entry->d_name, &tid) == 0 &&
		    own_number_read(process_fd, dir) == own_number)
			return tid;
	}
	return 0;
}
