/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Print the table of keys for check-manpage.sh: view, tab, "F1, h, ?", tab, effect. */
#include "config.h"

#include "ui/screen/keymap.h"

#include <stdio.h>

static void print_row(const struct key_row *row)
{
	char name[KEY_NAME_SIZE];

	for (size_t k = 0; k < KEYS_PER_ROW && row->keys[k] != KEY_NONE; k++)
		printf("%s%s", k > 0 ? ", " : "", keymap_format_key(row->keys[k], name));
	printf("\t%s\n", row->help);
}

int main(void)
{
	for (size_t s = 0; s < key_section_count; s++)
		for (size_t i = 0; i < key_row_count; i++)
			if (key_row_is_of(&key_rows[i], &key_sections[s])) {
				printf("%s\t", key_sections[s].title);
				print_row(&key_rows[i]);
			}
	return 0;
}
