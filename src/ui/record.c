/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <string.h>

#include "sample/recording/recorder.h"
#include "ui/state.h"

uint64_t ui_record_due_ns(const struct ui *ui)
{
	const struct recorder *recorder = ui->options->recorder;

	return recorder && !recorder_has_ended(recorder) ? ui->record_due_ns : UINT64_MAX;
}

/*
 * Return the figures that the screen has already read in this interval, so that the
 * recorder need not read them again.
 */
static struct recorder_known find_known(const struct ui *ui, uint64_t now_ns)
{
	const struct usage *u = data_detail(&ui->data);
	struct recorder_known known = {
		.cgroup = ui->options->read_recorded_group(ui->options->context),
	};

	if (!u || u->error || u->source != SOURCE_SMAPS ||
	    u->taken_ns + ui->interval_ns / 2 < now_ns)
		return known;
	known.usage = u;
	known.mappings = &ui->data.mappings;
	return known;
}

void ui_record(struct ui *ui, uint64_t now_ns)
{
	struct recorder *recorder = ui->options->recorder;
	const struct recorder_known known = find_known(ui, now_ns);
	bool was_bad = recorder_error(recorder) < 0;
	int r = recorder_take(recorder, ui->options->targets, &known);
	uint64_t interval_ns =
		recorder_min_interval_ns(recorder, ui->options->max_share_per_mille);

	if (r < 0 && !was_bad)
		ui_show_message(ui, "not recorded: %s", strerror(-r));
	if (interval_ns < ui->interval_ns)
		interval_ns = ui->interval_ns;
	ui->record_due_ns += interval_ns;
	if (ui->record_due_ns <= now_ns || ui->record_due_ns > now_ns + interval_ns)
		ui->record_due_ns = now_ns + interval_ns;
}
