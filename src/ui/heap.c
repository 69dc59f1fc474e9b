/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/units.h"
#include "ui/state.h"

void ui_read_heap(struct ui *ui, unsigned int wishes)
{
	data_heap_read(&ui->data, HEAP_AWAITED | HEAP_DETAIL | wishes);
}

/* Read the heap, after asking for permission to stop the process if necessary. */
static void ask_for_heap(struct ui *ui, unsigned int wishes)
{
	if (data_heap_is_allowed(&ui->data)) {
		ui_read_heap(ui, wishes);
		return;
	}
	prompt_open(ui, PROMPT_STOP);
	ui->prompt.wishes = wishes;
}

/*
 * Query the allocator. The query injects a helper into the process, so memstate asks for
 * permission even if the user named the process.
 */
static void ask_for_helper(struct ui *ui)
{
	if (data_heap_is_asked(&ui->data))
		ui_read_heap(ui, 0);
	else
		prompt_open(ui, PROMPT_HELPER);
}

/* Return true if the heap or its details have not been read yet. */
static bool is_half_known(const struct ui *ui)
{
	const struct heap_findings *f = data_heap_findings(&ui->data);

	return !f || (heap_findings_are_known(f) && !f->has_detail);
}

void ui_show_heap(struct ui *ui)
{
	if (is_half_known(ui))
		ui_read_heap(ui, 0);
}

static void open_heap(struct ui *ui)
{
	ui_set_view(ui, VIEW_HEAP);
	if (!data_heap_findings(&ui->data) && !ui->data.heap.is_awaited)
		ask_for_heap(ui, 0);
}

bool ui_heap_act(struct ui *ui, enum action action)
{
	switch ((int)action) {
	case ACTION_HEAP: open_heap(ui); return true;
	case ACTION_READ: ask_for_heap(ui, 0); return true;
	case ACTION_LEAKS: ask_for_heap(ui, HEAP_LEAKS); return true;
	case ACTION_ASK: ask_for_helper(ui); return true;
	case ACTION_STOP_WAITING: data_heap_cancel(&ui->data); return true;
	default: return false;
	}
}

bool ui_poll(struct ui *ui)
{
	bool was_for_leaks = ui->data.heap.reading_wishes & HEAP_LEAKS;

	if (!data_heap_poll(&ui->data))
		return false;
	if (was_for_leaks && !ui->data.heap.is_reading)
		heap_view_go_to_top(&ui->heap);
	ui_update_view(ui);
	return true;
}

int ui_wake_fd(const struct ui *ui)
{
	return data_heap_fd(&ui->data);
}

uint64_t ui_redraw_interval_ns(const struct ui *ui)
{
	return ui->view == VIEW_HEAP && ui->data.heap.is_awaited ? 100 * NS_PER_MS
								 : NS_PER_S;
}
