/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/units.h"
#include "ui/ui.h"

void ui_read_heap(struct ui *ui)
{
	data_heap_read(&ui->data, HEAP_AWAITED | HEAP_DETAIL);
}

/* Unless somebody has said so already: may it be stopped? */
void ui_ask_for_heap(struct ui *ui)
{
	if (data_heap_is_allowed(&ui->data))
		ui_read_heap(ui);
	else
		prompt_open(ui, PROMPT_STOP);
}

/* Of what is known there may be more to know. */
static bool is_half_known(const struct ui *ui)
{
	const struct heap_findings *f = data_heap_findings(&ui->data);

	return !f || (heap_findings_are_known(f) && !f->has_detail);
}

void ui_show_heap(struct ui *ui)
{
	if (is_half_known(ui))
		ui_read_heap(ui);
}

void ui_open_heap(struct ui *ui)
{
	ui_set_view(ui, VIEW_HEAP);
	if (!data_heap_findings(&ui->data) && !ui->data.heap.is_awaited)
		ui_ask_for_heap(ui);
}

bool ui_poll(struct ui *ui)
{
	if (!data_heap_poll(&ui->data))
		return false;
	ui_update_view(ui);
	return true;
}

int ui_wake_fd(const struct ui *ui)
{
	return data_heap_fd(&ui->data);
}

uint64_t ui_redraw_interval_ns(const struct ui *ui)
{
	return ui->view == VIEW_HEAP && ui->data.heap.is_reading ? 100 * NS_PER_MS : NS_PER_S;
}
