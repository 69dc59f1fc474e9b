/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "model/settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *const theme_names[THEME_COUNT_] = {
	[THEME_AUTO] = "auto",
	[THEME_DARK] = "dark",
	[THEME_LIGHT] = "light",
	[THEME_MONO] = "mono",
};

int theme_find(const char *name, enum theme *ret)
{
	for (int i = 0; i < THEME_COUNT_; i++)
		if (strcmp(theme_names[i], name) == 0) {
			*ret = (enum theme)i;
			return 0;
		}
	return -EINVAL;
}

const char *const setting_names[SETTING_COUNT_] = {
	[SETTING_COLUMNS] = "columns",	 [SETTING_SORT] = "sort",
	[SETTING_TREE] = "tree",	 [SETTING_THEME] = "theme",
	[SETTING_INTERVAL] = "interval",
};

void settings_keep_changes(struct settings *settings, const struct settings *before)
{
	for (int i = 0; i < SETTING_COUNT_; i++) {
		char *text = settings->texts[i];

		if (!text || !before->texts[i] || strcmp(text, before->texts[i]) != 0)
			continue;
		free(text);
		settings->texts[i] = NULL;
	}
}

void settings_release(struct settings *settings)
{
	for (int i = 0; i < SETTING_COUNT_; i++)
		free(settings->texts[i]);
	*settings = (struct settings){ { NULL } };
}
