/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/core/terminal.h"

#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/num.h"

static int terminal_width(void)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	uint64_t number;

	if (columns && num_parse_u64(columns, &number) == 0 && number >= 20 &&
	    number <= 10000)
		return (int)number;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 20)
		return size.ws_col;
	return 0;
}

void terminal_fit(struct table_options *ret)
{
	ret->max_width = terminal_width();
	ret->ascii = strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
}
