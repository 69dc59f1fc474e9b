/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz what the exporter parses: the headers Accept and Accept-Encoding, the web file,
 * and the names of groups, whose labels must be valid.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/xalloc.h"
#include "classify/exporter/group_name.h"
#include "render/exporter/exposition.h"
#include "render/exporter/negotiate.h"
#include "store/exporter/web_file.h"

#include "fuzz.h"

/* Two numbers of 20 digits and a colon. Other values are part of the file. */
#define RATE_LENGTH_MAX 41

static void check_web_file(const char *text, size_t length)
{
	struct strbuf problem = STRBUF_INIT;
	struct web_file file = WEB_FILE_INIT;
	int r = web_file_parse(text, length, "/nonexistent", &file, &problem);

	/* a refused file has a reason, and a good one has none */
	if ((r < 0) != (problem.length > 0))
		abort();
	for (int i = 0; i < WEB_SETTING_COUNT_; i++) {
		const char *value = NULL;

		while ((value = web_settings_next(strbuf_text(&file.settings),
						  file.settings.length,
						  (enum web_setting)i, value)))
			if (strlen(value) >
			    (i == WEB_RATE_LIMIT ? RATE_LENGTH_MAX : length))
				abort();
	}
	web_file_release(&file);
	strbuf_release(&problem);
}

static void check_name(const char *text)
{
	struct group_name name = { .group = NULL };
	struct strbuf labels = STRBUF_INIT;
	uint32_t code_point;
	size_t escapes = 0;

	group_name_set_word(&name, text);
	if (strlen(name.group) > GROUP_NAME_LENGTH_MAX)
		abort();
	exposition_add_label(&labels, "group", name.group);
	for (size_t i = 0; i < labels.length;) {
		size_t length =
			text_utf8_next(labels.text + i, labels.length - i, &code_point);

		if (length == 0 || text_is_control(code_point))
			abort();
		escapes += code_point == '\\';
		i += length;
	}
	/* each backslash has a partner: another backslash or a quote */
	if (escapes > 0 && labels.text[labels.length - 1] != '"')
		abort();
	if (group_name_find_cgroup(GROUPING_AUTO, text) > strlen(text))
		abort();
	strbuf_release(&labels);
	group_name_release(&name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = xstrndup((const char *)data, size);

	(void)negotiate_format(text);
	(void)negotiate_gzip(text);
	check_web_file((const char *)data, size);
	check_name(text);
	free(text);
	return 0;
}
