/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "ui/state.h"

#define PROMPT_LENGTH_MAX 1000
#define USERS_WIDTH 120

bool prompt_is_question(const struct prompt *prompt)
{
	return prompt->kind == PROMPT_STOP || prompt->kind == PROMPT_HELPER ||
	       prompt->kind == PROMPT_SEND;
}

void prompt_release(struct prompt *prompt)
{
	strbuf_release(&prompt->text);
	free(prompt->before);
	*prompt = (struct prompt){ .kind = PROMPT_NONE };
}

/*
 * Return the filter, search text or user name that changes while the user types, or NULL
 * if the prompt changes none of them.
 */
static struct strbuf *subject_of(struct ui *ui)
{
	struct selection *selection = ui_selection(ui);

	if (ui->prompt.kind == PROMPT_USER)
		return &ui->processes.user;
	if (!selection ||
	    (ui->prompt.kind != PROMPT_SEARCH && ui->prompt.kind != PROMPT_FILTER))
		return NULL;
	return ui->prompt.kind == PROMPT_SEARCH ? &selection->search : &selection->filter;
}

static void set_text(struct strbuf *sb, const char *text)
{
	strbuf_clear(sb);
	strbuf_add_text(sb, text);
}

static void suggest_name(const struct ui *ui, struct strbuf *name)
{
	static const char *const kinds[VIEW_COUNT_] = {
		[VIEW_PROCESSES] = "processes", [VIEW_PROCESS] = "report",
		[VIEW_MAPPINGS] = "mappings",	[VIEW_HEAP] = "heap",
		[VIEW_CGROUP] = "group",
	};

	if (ui->view == VIEW_PROCESSES || ui->view == VIEW_CGROUP)
		strbuf_addf(name, "memstate-%s.txt", kinds[ui->view]);
	else
		strbuf_addf(name, "memstate-%d-%s.txt", ui->data.detail_pid,
			    kinds[ui->view]);
}

/* Suggest the user of the process under the cursor, and list all users. */
static void suggest_user(struct ui *ui)
{
	_cleanup_strbuf_ struct strbuf users = STRBUF_INIT;

	if (ui->prompt.before[0] != '\0')
		set_text(&ui->prompt.text, ui->prompt.before);
	else
		processes_add_chosen_user(&ui->processes, &ui->prompt.text);
	ui->prompt.is_suggestion = true;
	processes_add_users(&ui->processes, USERS_WIDTH, &users);
	ui_show_message(ui, "(%s)", strbuf_text(&users));
}

void prompt_open(struct ui *ui, enum prompt_kind kind)
{
	struct strbuf *subject;

	prompt_release(&ui->prompt);
	ui->prompt.kind = kind;
	subject = subject_of(ui);
	ui->prompt.before = xstrdup(subject ? strbuf_text(subject) : "");
	if (kind == PROMPT_FILTER)
		set_text(&ui->prompt.text, ui->prompt.before);
	if (kind == PROMPT_USER)
		suggest_user(ui);
	if (kind == PROMPT_SAVE)
		suggest_name(ui, &ui->prompt.text);
}

/*
 * Apply the text typed so far, because search and filter show their results after
 * each key.
 */
static void apply(struct ui *ui)
{
	struct strbuf *subject = subject_of(ui);

	ui->prompt.is_confirmed = false;
	if (!subject)
		return;
	set_text(subject, strbuf_text(&ui->prompt.text));
	if (ui->prompt.kind == PROMPT_FILTER || ui->prompt.kind == PROMPT_USER)
		ui_update_view(ui);
	else if (ui->prompt.text.length > 0 && !ui_search(ui, 0))
		ui_show_message(ui, "not found");
}

static void cancel(struct ui *ui)
{
	struct strbuf *subject = subject_of(ui);

	if (subject)
		set_text(subject, ui->prompt.before);
	prompt_release(&ui->prompt);
	ui_update_view(ui);
}

static void save(struct ui *ui)
{
	const char *path = strbuf_text(&ui->prompt.text);
	int r;

	if (path[0] == '\0') {
		prompt_release(&ui->prompt);
		return;
	}
	if (!ui->prompt.is_confirmed && access(path, F_OK) == 0) {
		ui->prompt.is_confirmed = true;
		ui_show_message(ui, "the file exists: press Enter again to overwrite it");
		return;
	}
	r = save_view(ui, path);
	if (r < 0)
		ui_show_message(ui, "not saved: %s: %s", path, strerror(-r));
	else
		ui_show_message(ui, "saved: %s", path);
	prompt_release(&ui->prompt);
}

static void accept(struct ui *ui)
{
	enum prompt_kind kind = ui->prompt.kind;
	unsigned int wishes = ui->prompt.wishes;

	switch ((int)kind) {
	case PROMPT_SAVE: save(ui); return;
	case PROMPT_SIGNAL: ui_choose_signal(ui); return;
	case PROMPT_SEND:
	case PROMPT_SEND_AGAIN: ui_confirm_signal(ui); return;
	}
	if (kind == PROMPT_MOMENT && ui->prompt.text.length > 0 &&
	    !ui_replay_go_to(ui, ui->prompt.text.text)) {
		ui_show_message(ui, "not a time; use 08:15:30, +90s or -5m");
		return;
	}
	/* a suggested user name takes effect only after Enter */
	if (kind == PROMPT_USER) {
		set_text(&ui->processes.user, strbuf_text(&ui->prompt.text));
		ui->wants_refresh = true;
		ui_update_view(ui);
	}
	prompt_release(&ui->prompt);
	if (kind != PROMPT_STOP && kind != PROMPT_HELPER)
		return;
	data_heap_allow(&ui->data);
	if (kind == PROMPT_HELPER)
		data_heap_ask(&ui->data);
	ui_read_heap(ui, wishes);
}

static void erase(struct ui *ui)
{
	struct strbuf *text = &ui->prompt.text;
	size_t length = text->length;

	ui->prompt.is_suggestion = false;
	/* move back to the first byte of the last UTF-8 character */
	while (length > 0 && ((unsigned char)text->text[--length] & 0xc0) == 0x80)
		;
	strbuf_truncate(text, length);
	apply(ui);
}

static void type(struct ui *ui, uint32_t key)
{
	struct strbuf *text = &ui->prompt.text;

	if (prompt_is_question(&ui->prompt) || key < ' ' || key >= KEY_ARROW_UP ||
	    text->length >= PROMPT_LENGTH_MAX)
		return;
	if (ui->prompt.is_suggestion)
		strbuf_clear(text);
	ui->prompt.is_suggestion = false;
	canvas_add_character(text, key);
	apply(ui);
}

void prompt_key(struct ui *ui, uint32_t key)
{
	enum action action = keymap_find(key, ui_context(ui));

	switch ((int)action) {
	case ACTION_ACCEPT: accept(ui); break;
	case ACTION_CANCEL: cancel(ui); break;
	case ACTION_ERASE: erase(ui); break;
	case ACTION_ERASE_ALL:
		strbuf_clear(&ui->prompt.text);
		apply(ui);
		break;
	case ACTION_NEXT_MATCH: ui_search(ui, 1); break;
	case ACTION_REDRAW: ui->wants_redraw = true; break;
	case ACTION_QUIT: ui->has_quit = true; break;
	default: type(ui, key); break;
	}
}
