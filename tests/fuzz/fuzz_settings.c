/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The input is a settings file: it is parsed, all settings are changed, and the result is
 * parsed again. No line other than those of settings may be lost.
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "fuzz.h"
#include "store/settings/text.h"

/* Set the settings to their own values: the text stays the same, apart from its end. */
static void check_unchanged(const struct strbuf *text, const struct settings *settings)
{
	static const bool none[SETTING_COUNT_];
	struct strbuf same = STRBUF_INIT;

	settings_text_change(text, settings, none, &same);
	CHECK(text->length == 0 || (same.length >= text->length &&
				    memcmp(same.text, text->text, text->length) == 0));
	strbuf_release(&same);
}

static void check_changed(const struct strbuf *text, bool is_rejected)
{
	static const struct settings changes = { { (char *)"a,b", (char *)"-a",
						   (char *)"yes", (char *)"dark",
						   (char *)"2s" } };
	bool rejected[SETTING_COUNT_];
	struct strbuf changed = STRBUF_INIT;
	struct settings got;
	size_t bad_line;

	for (int i = 0; i < SETTING_COUNT_; i++)
		rejected[i] = is_rejected;
	settings_text_change(text, &changes, rejected, &changed);
	CHECK(settings_text_parse(&changed, &got, &bad_line) == 0);
	for (int i = 0; i < SETTING_COUNT_; i++)
		CHECK(got.texts[i] && strcmp(got.texts[i], changes.texts[i]) == 0);
	settings_release(&got);
	strbuf_release(&changed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct strbuf text = STRBUF_INIT;
	struct settings settings;
	size_t bad_line = 0;
	int r;

	strbuf_add(&text, data, size);
	r = settings_text_parse(&text, &settings, &bad_line);
	CHECK(r == 0 || r == -EBADMSG || r == -EPROTONOSUPPORT);
	if (r == 0) {
		CHECK(bad_line <= size);
		check_unchanged(&text, &settings);
		check_changed(&text, false);
		check_changed(&text, true);
		settings_release(&settings);
	}
	strbuf_release(&text);
	return 0;
}
