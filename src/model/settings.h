/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * settings - the settings of the interactive screen that are kept between runs, as
 * texts of the settings file. The screen checks the texts, because only it knows its
 * columns.
 */
#ifndef MS_MODEL_SETTINGS_H
#define MS_MODEL_SETTINGS_H

enum theme {
	THEME_AUTO, /* dark, light or mono, depending on the terminal */
	THEME_DARK,
	THEME_LIGHT,
	THEME_MONO,
	THEME_COUNT_,
};

extern const char *const theme_names[THEME_COUNT_];

/* Find the theme with this name. Returns 0 or -EINVAL. */
int theme_find(const char *name, enum theme *ret);

enum setting {
	SETTING_COLUMNS,  /* list of columns, in the syntax of -o */
	SETTING_SORT,	  /* sort order, in the syntax of -s */
	SETTING_TREE,	  /* "yes" or "no" */
	SETTING_THEME,	  /* one of theme_names */
	SETTING_INTERVAL, /* in the syntax of -i */
	SETTING_COUNT_,
};

extern const char *const setting_names[SETTING_COUNT_];

struct settings {
	char *texts[SETTING_COUNT_]; /* NULL: not set */
};

/* Remove the settings whose texts are the same in `before`. */
void settings_keep_changes(struct settings *settings, const struct settings *before);

void settings_release(struct settings *settings);

#endif
