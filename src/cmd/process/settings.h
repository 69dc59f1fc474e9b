/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * settings - the settings that the screen remembers from one run to the next.
 * Command-line options have precedence, and are not remembered.
 */
#ifndef MS_CMD_PROCESS_SETTINGS_H
#define MS_CMD_PROCESS_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "model/settings.h"

struct options;
struct ui_options;

struct saved_settings {
	bool is_used;	    /* false: settings are neither read nor written */
	struct strbuf path; /* path of the settings file; empty: no home directory */
	struct settings settings;
	/* columns named in the settings, as a list for option -o */
	struct strbuf columns;
	/* true for each setting whose value is invalid */
	bool is_rejected[SETTING_COUNT_];
	struct strbuf notice; /* notice about the first problem; may be empty */
	bool has_interval;    /* true if the settings include the interval */
};

/*
 * Read the settings file, and set those members of *ui that the options do not set. *s
 * owns the strings, including a notice about an unusable file.
 */
void saved_settings_begin(struct saved_settings *s, const struct options *options,
			  struct ui_options *ui);

/*
 * Write the settings that the user changed on the screen. Print a message if
 * writing fails.
 */
void saved_settings_write(struct saved_settings *s, struct settings *changes);

void saved_settings_release(struct saved_settings *s);

#endif
