/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of keys, for check-manpage.sh: "F1, h, ?", a tab, what it does. */
#include "config.h"

#include "ui/keymap.h"

#include <stdio.h>

int main(void)
{
	char name[KEY_NAME_SIZE];

	for (size_t i = 0; i < key_row_count; i++) {
		const struct key_row *row = &key_rows[i];

		for (size_t k = 0; k < KEYS_PER_ROW && row->keys[k] != KEY_NONE; k++)
			printf("%s%s", k > 0 ? ", " : "", keymap_format_key(row->keys[k], name));
		printf("\t%s\n", row->help);
	}
	return 0;
}
