/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The input is a limits file: it is parsed, changed, extended, written, and parsed again.
 */
#include "config.h"

#include <string.h>

#include "fuzz.h"
#include "store/profile/limits_file.h"

static void check_same(const struct limits_file *file)
{
	struct strbuf text = STRBUF_INIT, why = STRBUF_INIT;
	struct limits_file again;

	limits_file_format(file, &text);
	CHECK(limits_file_parse(strbuf_text(&text), text.length, &again, &why) == 0);
	CHECK(again.count == file->count);
	for (size_t i = 0; i < file->count; i++) {
		CHECK(strcmp(again.lines[i].text, file->lines[i].text) == 0);
		CHECK(again.lines[i].is_limit == file->lines[i].is_limit);
		if (!again.lines[i].is_limit)
			continue;
		CHECK(again.lines[i].limit.value_thousandths ==
		      file->lines[i].limit.value_thousandths);
		CHECK(again.lines[i].limit.tolerance_thousandths ==
		      file->lines[i].limit.tolerance_thousandths);
	}
	limits_file_release(&again);
	strbuf_release(&text);
	strbuf_release(&why);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct count_limit more = { .figure = COUNTED_PEAK_RSS,
					  .value_thousandths = 1500 };
	struct strbuf why = STRBUF_INIT;
	struct limits_file file;
	size_t begin, end;

	if (size > 20000)
		return 0; /* each test is searched for among all earlier ones */
	if (limits_file_parse((const char *)data, size, &file, &why) < 0) {
		CHECK(why.length > 0);
		strbuf_release(&why);
		return 0;
	}
	check_same(&file);
	for (size_t i = 0; i < file.count; i++)
		if (file.lines[i].is_limit) {
			file.lines[i].limit.value_thousandths += 1001;
			limits_line_set(&file.lines[i]);
		}
	if (limits_file_find(&file, "new", &begin, &end) < 0)
		limits_file_add(&file, "new", &more);
	CHECK(limits_file_find(&file, "new", &begin, &end) == 0);
	check_same(&file);
	limits_file_release(&file);
	strbuf_release(&why);
	return 0;
}
