/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/process/runtime_config.h"

#include "base/units.h"
#include "classify/oom/runtime_files.h"

#define CONFIG_BYTES_MAX MIB

bool runtime_config_read(int root_fd, const struct foreign_reader *reader,
			 const struct runtime_environment *environment,
			 struct strbuf *out)
{
	struct runtime_files files;
	char word[RUNTIME_OPTION_SIZE];
	const char *name = NULL;

	runtime_files_find(environment, &files);
	for (size_t i = 0; i < files.count; i++) {
		_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

		if (foreign_file_read_for(reader, root_fd, files.items[i].path,
					  CONFIG_BYTES_MAX, &text) < 0)
			continue;
		if (runtime_file_parse(files.items[i].name, strbuf_text(&text), word))
			name = files.items[i].name;
	}
	if (name)
		strbuf_addf(out, "%s %s", name, word);
	return name;
}
