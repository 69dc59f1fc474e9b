/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/session/next.h"

#include <string.h>

#include "base/text.h"

void next_place_init(const struct session *session, struct strbuf *options,
		     struct next_place *ret)
{
	const char *root = session->options->procfs_root;

	if (strcmp(root, "/proc") != 0) {
		strbuf_add_text(options, " --procfs ");
		text_add_shell_word(options, root);
	}
	*ret = (struct next_place){
		.is_live = session->fs.is_live && !session->replay &&
			   !session->options->command,
		.is_capture = !session->fs.is_live && !session->replay,
		.options = strbuf_text(options),
	};
}

void next_add_command(struct strbuf *out, char *const *command)
{
	for (; *command; command++) {
		strbuf_add_char(out, ' ');
		text_add_shell_word(out, *command);
	}
}
