/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * settings - the settings of the interactive screen that memstate keeps between runs, as
 * the strings in the settings file. The screen validates these strings, because only the
 * screen has the list of its columns.
 */
#ifndef MS_MODEL_SETTINGS_H
#define MS_MODEL_SETTINGS_H

enum theme {
	THEME_AUTO, /* dark, light or mono, chosen to suit the terminal */
	THEME_DARK,
	THEME_LIGHT,
	THEME_MONO,
	THEME_COUNT_,
};

extern const char *const theme_names[THEME_COUNT_];

/* Find the theme with this name. Return 0 or -EINVAL. */
int theme_find(const char *name, enum theme *ret);

enum setting {
	SETTING_COLUMNS,  /* list of columns, in the syntax of -o */
	SETTING_SORT,	  /* sort order, in the syntax of -s */
	SETTING_TREE,	  /* show processes as a tree: "yes" or "no" */
	SETTING_THEME,	  /* name of a colour theme, as in theme_names */
	SETTING_INTERVAL, /* interval, in the syntax of -i */
	SETTING_COUNT_,
};

extern const char *const setting_names[SETTING_COUNT_];

struct settings {
	char *texts[SETTING_COUNT_]; /* NULL if not set */
};

/* Remove every setting that has the same value in `before`. */
void settings_keep_changes(struct settings *settings, const struct settings *before);

void settings_release(struct settings *settings);

#endif
