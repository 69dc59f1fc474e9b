/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/process/settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "cmd/core/message.h"
#include "cmd/core/options.h"
#include "render/table/column.h"
#include "store/settings/file.h"
#include "ui/data/options.h"

static const char *describe(int err)
{
	switch (err) {
	case -EPERM: return "owned by another user";
	case -EINVAL: return "not a regular file";
	case -EFBIG: return "too large";
	case -EBADMSG: return "not a text file";
	case -EPROTONOSUPPORT: return "for another version of memstate";
	case -EBUSY: return "its directory is locked by another process";
	default: return strerror(-err);
	}
}

/*
 * Report a problem in the settings file. Only the first problem is reported, because the
 * screen has room for one notice.
 */
static void note(struct saved_settings *s, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void note(struct saved_settings *s, const char *format, ...)
{
	va_list args;

	if (s->notice.length > 0)
		return;
	va_start(args, format);
	strbuf_add_text(&s->notice, "memstaterc: ");
	strbuf_vaddf(&s->notice, format, args);
	va_end(args);
}

static void reject(struct saved_settings *s, enum setting setting, const char *want)
{
	s->is_rejected[setting] = true;
	note(s, "%s: '%s' is not %s", setting_names[setting], s->settings.texts[setting],
	     want);
}

/*
 * Parse a list of columns, and append the names of all selected columns. +COL in the list
 * adds a column to the default columns. Return false if the list is invalid.
 */
static bool parse_columns(const char *text, struct strbuf *out)
{
	struct column_list list;
	char *bad = NULL;

	if (column_list_parse(&process_columns, process_columns.table_default, text,
			      &list, &bad) < 0) {
		free(bad);
		return false;
	}
	column_list_format(&list, out);
	column_list_release(&list);
	return true;
}

static bool is_sort(const char *text)
{
	struct sort_key key;

	return sort_key_parse(&process_columns, text, &key) == 0;
}

static bool parse_bool(const char *text, bool *ret)
{
	*ret = strcmp(text, "yes") == 0;
	return *ret || strcmp(text, "no") == 0;
}

static bool parse_interval(const char *text, uint64_t *ret_ns)
{
	uint64_t ns;

	if (units_parse_duration(text, &ns) < 0 || ns < NS_PER_MS)
		return false;
	*ret_ns = ns;
	return true;
}

/*
 * Apply the settings that no option overrides. Invalid values are rejected even if an
 * option overrides them.
 */
static void apply(struct saved_settings *s, const struct options *o,
		  struct ui_options *ui)
{
	char *const *texts = s->settings.texts;
	const char *no_color = getenv("NO_COLOR");
	enum theme theme = THEME_AUTO;
	uint64_t interval_ns = o->interval_ns;

	if (texts[SETTING_COLUMNS] && !parse_columns(texts[SETTING_COLUMNS], &s->columns))
		reject(s, SETTING_COLUMNS, "a list of columns");
	else if (texts[SETTING_COLUMNS])
		ui->columns = s->columns.text;
	if (texts[SETTING_SORT] && !is_sort(texts[SETTING_SORT]))
		reject(s, SETTING_SORT, "a column");
	else if (!o->sort)
		ui->sort = texts[SETTING_SORT];
	if (texts[SETTING_TREE] && !parse_bool(texts[SETTING_TREE], &ui->is_tree))
		reject(s, SETTING_TREE, "yes or no");
	if (texts[SETTING_THEME] && theme_find(texts[SETTING_THEME], &theme) < 0)
		reject(s, SETTING_THEME, "auto, dark, light or mono");
	else if (o->theme == THEME_AUTO && (!no_color || no_color[0] == '\0'))
		ui->theme = theme;
	if (texts[SETTING_INTERVAL] &&
	    !parse_interval(texts[SETTING_INTERVAL], &interval_ns))
		reject(s, SETTING_INTERVAL, "a time of at least 1ms");
	else if (!o->has_interval && s->has_interval)
		ui->interval_ns = interval_ns;
}

void saved_settings_begin(struct saved_settings *s, const struct options *o,
			  struct ui_options *ui)
{
	size_t bad_line = 0;
	int r;

	*s = (struct saved_settings){ .path = STRBUF_INIT,
				      .columns = STRBUF_INIT,
				      .notice = STRBUF_INIT };
	/* the interval of a recording does not depend on the settings of the screen */
	s->has_interval = !o->recording.record && !o->recording.replay;
	s->is_used = !o->no_config;
	if (o->no_config ||
	    !settings_file_find(getenv("XDG_CONFIG_HOME"), getenv("HOME"), &s->path))
		return;
	r = settings_file_read(s->path.text, &s->settings, &bad_line);
	if (r < 0)
		note(s, "not used: %s", describe(r));
	else if (bad_line > 0)
		note(s, "line %zu is neither a setting nor a comment", bad_line);
	apply(s, o, ui);
	if (s->notice.length > 0)
		ui->notice = s->notice.text;
}

static bool has_any(const struct settings *settings)
{
	for (int i = 0; i < SETTING_COUNT_; i++)
		if (settings->texts[i])
			return true;
	return false;
}

void saved_settings_write(struct saved_settings *s, struct settings *changes)
{
	int r;

	if (!s->has_interval) {
		free(changes->texts[SETTING_INTERVAL]);
		changes->texts[SETTING_INTERVAL] = NULL;
	}
	if (!s->is_used || !has_any(changes))
		return;
	if (s->path.length == 0) {
		message("settings not saved: neither XDG_CONFIG_HOME nor HOME is an "
			"absolute path");
		return;
	}
	r = settings_file_change(s->path.text, changes, s->is_rejected);
	if (r < 0)
		message("%s: settings not saved: %s", s->path.text, describe(r));
}

void saved_settings_release(struct saved_settings *s)
{
	strbuf_release(&s->path);
	strbuf_release(&s->columns);
	strbuf_release(&s->notice);
	settings_release(&s->settings);
}
