/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/session/next.h"

#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "render/table/conclusion.h"

void next_begin(struct next *next, const struct session *session)
{
	const struct options *o = session->options;
	bool is_now = !session->replay && !o->command;

	*next = (struct next){ .best = CONCLUSION_INIT };
	if (strcmp(o->procfs_root, "/proc") != 0) {
		strbuf_add_text(&next->place_options, " --procfs ");
		text_add_shell_word(&next->place_options, o->procfs_root);
	}
	next->place = (struct next_place){
		.is_live = session->fs.is_live && is_now,
		.is_capture = !session->fs.is_live && is_now,
		.options = strbuf_text(&next->place_options),
	};
}

void next_end(struct next *next)
{
	strbuf_release(&next->place_options);
	conclusion_release(&next->best);
}

void next_offer(struct next *next, const struct conclusion *conclusion, uint64_t rank)
{
	rank = bytes_known(rank) ? rank : 0;
	if (conclusion->next.length == 0 ||
	    (next->best.next.length > 0 && rank <= next->best_rank))
		return;
	conclusion_set_next(&next->best, "%s", conclusion->next.text);
	next->best_rank = rank;
}

void next_add(const struct next *next, struct strbuf *out)
{
	conclusion_add_next(out, &next->best);
}

void next_add_command(struct strbuf *out, char *const *command)
{
	for (; *command; command++) {
		strbuf_add_char(out, ' ');
		text_add_shell_word(out, *command);
	}
}
