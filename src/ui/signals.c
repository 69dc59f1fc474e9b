/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ui/data/send_signal.h"
#include "ui/state.h"

#define INIT_PID 1

/*
 * Append the name of the process that will receive the signal, such as "database (100)".
 */
static void add_process(const struct prompt *prompt, struct strbuf *out)
{
	strbuf_addf(out, "%s (%d)", prompt->process.comm, prompt->process.pid);
}

void ui_ask_for_signal(struct ui *ui)
{
	const struct usage *u = ui->view == VIEW_PROCESSES
					? processes_chosen(&ui->processes)
					: data_detail(&ui->data);
	_cleanup_strbuf_ struct strbuf names = STRBUF_INIT;

	if (!u)
		return;
	prompt_open(ui, PROMPT_SIGNAL);
	ui->prompt.process = u->process;
	ui->prompt.is_suggestion = true;
	strbuf_add_text(&ui->prompt.text, "TERM");
	signal_add_names(&names);
	ui_show_message(ui, "(%s)", names.text);
}

void ui_choose_signal(struct ui *ui)
{
	struct process process = ui->prompt.process;
	const char *text = strbuf_text(&ui->prompt.text);
	int number;

	if (signal_parse(text, &number) < 0) {
		ui_show_message(ui, "unknown signal '%s'; use a name or a number", text);
		return;
	}
	prompt_open(ui, PROMPT_SEND);
	ui->prompt.process = process;
	ui->prompt.signal = number;
}

static void send_now(struct ui *ui)
{
	int r = send_signal(ui->options->procfs, &ui->prompt.process, ui->prompt.signal);
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT, process = STRBUF_INIT;

	signal_add_name(&name, ui->prompt.signal);
	add_process(&ui->prompt, &process);
	if (r == 0)
		ui_show_message(ui, "%s sent to %s", name.text, process.text);
	else
		ui_show_message(ui, "%s not sent to %s: %s", name.text, process.text,
				r == -ESRCH ? "the process has exited"
				: r == -EPERM
					? "not permitted; only its user and root may"
				: r == -ENOSYS ? "the kernel has no pidfd_send_signal()"
					       : strerror(-r));
	ui->wants_refresh = r == 0;
	prompt_release(&ui->prompt);
}

void ui_confirm_signal(struct ui *ui)
{
	struct prompt before = ui->prompt;
	char pid[16];

	if (before.kind == PROMPT_SEND &&
	    (before.process.pid == INIT_PID || before.process.pid == getpid())) {
		prompt_open(ui, PROMPT_SEND_AGAIN);
		ui->prompt.process = before.process;
		ui->prompt.signal = before.signal;
		return;
	}
	snprintf(pid, sizeof(pid), "%d", before.process.pid);
	if (before.kind == PROMPT_SEND_AGAIN &&
	    strcmp(strbuf_text(&ui->prompt.text), pid) != 0) {
		ui_show_message(ui, "not sent");
		prompt_release(&ui->prompt);
		return;
	}
	send_now(ui);
}

void ui_draw_signal_prompt(const struct ui *ui, struct pen *pen)
{
	const struct prompt *prompt = &ui->prompt;
	_cleanup_strbuf_ struct strbuf process = STRBUF_INIT, name = STRBUF_INIT;

	add_process(prompt, &process);
	signal_add_name(&name, prompt->signal);
	if (prompt->kind == PROMPT_SIGNAL) {
		pen_add(pen, "Signal for ");
		pen_add_foreign(pen, process.text, process.length);
		pen_add(pen, ": ");
	} else if (prompt->kind == PROMPT_SEND) {
		pen_addf(pen, "Send %s to ", name.text);
		pen_add_foreign(pen, process.text, process.length);
		pen_add(pen, "? y/n ");
	} else {
		pen_addf(pen, "Process %d is %s. Type its number to send %s: ",
			 prompt->process.pid,
			 prompt->process.pid == INIT_PID ? "init, which runs the system"
							 : "memstate itself",
			 name.text);
	}
}
