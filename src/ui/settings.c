/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <inttypes.h>

#include "base/units.h"
#include "base/xalloc.h"
#include "ui/state.h"

/* Format an interval exactly, unlike units_format_duration(), which rounds. */
static void add_interval(uint64_t ns, struct strbuf *out)
{
	if (ns % NS_PER_S == 0)
		strbuf_addf(out, "%" PRIu64 "s", ns / NS_PER_S);
	else if (ns % NS_PER_MS == 0)
		strbuf_addf(out, "%" PRIu64 "ms", ns / NS_PER_MS);
	else
		strbuf_addf(out, "%" PRIu64 "us", ns / NS_PER_US);
}

struct settings ui_settings(const struct ui *ui)
{
	struct strbuf columns = STRBUF_INIT, sort = STRBUF_INIT, interval = STRBUF_INIT;

	column_list_format(&ui->processes.grid.columns, &columns);
	sort_key_format(&ui->processes.grid.sort, &sort);
	add_interval(ui->interval_ns, &interval);
	return (struct settings){ {
		[SETTING_COLUMNS] = strbuf_take(&columns),
		[SETTING_SORT] = strbuf_take(&sort),
		[SETTING_TREE] = xstrdup(ui->processes.is_tree ? "yes" : "no"),
		[SETTING_THEME] = xstrdup(theme_names[ui->theme]),
		[SETTING_INTERVAL] = strbuf_take(&interval),
	} };
}
