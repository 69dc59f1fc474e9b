/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "base/units.h"
#include "sample/process/group_processes.h"
#include "ui/state.h"

/*
 * Interval in ns at which memstate reads the named cgroup while another view is shown, to
 * follow the cgroup's growth.
 */
#define ASIDE_NS (5 * NS_PER_S)

void ui_begin_group(struct ui *ui)
{
	const struct cgroup_target recorded = { .name = NULL };

	/* open the cgroup of the recording, if any, so that Tab switches to its view */
	if (ui->options->replay)
		(void)data_group_open(&ui->data, &recorded);
	if (!ui->options->group)
		return;
	(void)data_group_open(&ui->data, ui->options->group);
	ui->view = VIEW_CGROUP;
	ui->view_before_group = VIEW_CGROUP;
}

static const char *error_text(int error)
{
	switch (error) {
	case -EOPNOTSUPP: return "no memory controller is visible";
	case -EXDEV: return "it is not in this namespace";
	case -ENOENT: return "the recording has none";
	case -ESRCH: return "the process has exited";
	default: return strerror(-error);
	}
}

/* Open the cgroup of the selected process, or of the process under the cursor. */
static void open_group(struct ui *ui)
{
	const struct usage *u = ui->view == VIEW_PROCESSES
					? processes_chosen(&ui->processes)
					: data_detail(&ui->data);
	struct cgroup_target target = { .pid = u ? u->process.pid : ui->data.detail_pid };
	int r = data_group_open(&ui->data, &target);

	if (r < 0) {
		ui_show_message(ui, "the cgroup of the process cannot be read: %s",
				error_text(r));
		return;
	}
	ui->group = (struct group_view){ .data = ui->group.data,
					 .exact_bytes = ui->group.exact_bytes,
					 .order = ui->group.order,
					 .order_capacity = ui->group.order_capacity };
	ui->view_before_group = ui->view;
	ui_set_view(ui, VIEW_CGROUP);
}

/*
 * Open the process under the cursor. The key for going back then returns to the
 * group view.
 */
static void open_process(struct ui *ui)
{
	const struct usage *u = group_view_chosen(&ui->group);

	if (!u)
		return;
	data_open(&ui->data, &u->process);
	if (ui->view_before_group == VIEW_PROCESS)
		ui->view_before_group = VIEW_PROCESSES;
	ui->is_from_group = true;
	ui_set_view(ui, VIEW_PROCESS);
}

bool ui_group_act(struct ui *ui, enum action action)
{
	if (action == ACTION_CGROUP) {
		open_group(ui);
		return true;
	}
	if (ui->view == VIEW_PROCESSES)
		ui->is_from_group = false;
	if (ui->view == VIEW_PROCESS && action == ACTION_BACK && ui->is_from_group) {
		ui->is_from_group = false;
		ui_set_view(ui, VIEW_CGROUP);
		return true;
	}
	if (ui->view != VIEW_CGROUP)
		return false;
	if (action == ACTION_OPEN)
		open_process(ui);
	else if (action == ACTION_BACK)
		ui_set_view(ui, ui->view_before_group);
	return action == ACTION_OPEN || action == ACTION_BACK;
}

unsigned int ui_group_context(const struct ui *ui)
{
	return IN_CGROUP | (ui->group.count > 0 ? WHEN_CHOSEN : 0) |
	       (ui->view_before_group != VIEW_CGROUP ? WHEN_BELOW : 0);
}

void ui_refresh_group(struct ui *ui, bool is_shown, uint64_t now_ns)
{
	const struct data_group *g = &ui->data.group;

	if (!is_shown && (!ui->options->group || now_ns < g->taken_ns + ASIDE_NS))
		return;
	data_group_refresh(&ui->data);
	group_view_update(&ui->group);
}
