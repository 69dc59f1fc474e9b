/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/profile/scale_report.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "render/profile/count_report.h"

const char scale_csv_default[] =
	"size,run,program,allocation_calls,requested_bytes,"
	"temporary_blocks,live_blocks,live_bytes,peak_live_bytes,"
	"peak_rss_bytes";

const enum counted_figure scaled_figures[SCALED_FIGURE_COUNT] = {
	COUNTED_ALLOCATIONS,
	COUNTED_REQUESTED,
	COUNTED_PEAK_RSS,
};

static const struct {
	const char *name; /* in JSON */
	const char *text;
} outcomes[SCALE_OUTCOME_COUNT_] = {
	[SCALE_FITTED] = { "fitted", NULL },
	[SCALE_CONSTANT] = { "constant", NULL },
	[SCALE_TOO_FEW] = { "too_few",
			    "it takes 4 sizes or more in which the figure is known" },
	[SCALE_TOO_NEAR] = { "too_near",
			     "the largest size is to be 4 times the smallest, or more" },
	[SCALE_START_UP] = { "start_up",
			     "what does not depend on the size is nearly all of it: take larger sizes" },
	[SCALE_UNCERTAIN] = { "uncertain",
			      "no power of the size fits well, or many do: take more sizes" },
};

const char *scale_outcome_text(enum scale_outcome outcome)
{
	return outcomes[outcome].text;
}

static void add_sizes(struct strbuf *out, const struct scale_report *report)
{
	strbuf_addf(out, "%16s %16s %16s %16s\n", "SIZE", "ALLOCATIONS", "REQUESTED",
		    "PEAK RSS");
	for (size_t i = 0; i < report->count; i++) {
		const struct scale_size *size = &report->sizes[i];

		strbuf_addf(out, "%16" PRIu64, size->size);
		for (size_t f = 0; f < SCALED_FIGURE_COUNT; f++) {
			char buf[UNITS_TEXT_SIZE];

			units_format_thousandths(
				size->stats.figures[scaled_figures[f]].median, buf);
			strbuf_addf(out, " %16s", buf);
		}
		strbuf_add_char(out, '\n');
	}
}

static void add_fit(struct strbuf *out, const struct scale_report *report, size_t f)
{
	const char *label = counted_figures[scaled_figures[f]].label;
	const struct scale_fit *fit = &report->fits[f];

	strbuf_addf(out, "%-16s ", label + strspn(label, " "));
	if (fit->outcome == SCALE_CONSTANT)
		strbuf_add_text(out, "O(1)       the same for each size\n");
	else if (fit->outcome == SCALE_FITTED)
		strbuf_addf(out, "O(n^%.2f)  %.2f to %.2f, %s %.4f, start-up %.0f\n",
			    fit->exponent, fit->low, fit->high,
			    report->ascii ? "R^2" : "R²", fit->r_squared, fit->constant);
	else
		strbuf_addf(out, "unknown    %s\n", outcomes[fit->outcome].text);
}

void scale_report_add_text(struct strbuf *out, const struct scale_report *report)
{
	const struct count_runs *runs = &report->sizes[0].runs;
	const char *name = runs->items[0].program.name;

	text_add_printable(out, report->command, strlen(report->command), report->ascii);
	strbuf_add_text(out, ": of ");
	text_add_printable(out, name, strlen(name), report->ascii);
	strbuf_addf(out, ", %zu run%s of each size\n\n", runs->count,
		    runs->count == 1 ? "" : "s");
	add_sizes(out, report);
	strbuf_add_char(out, '\n');
	for (size_t f = 0; f < SCALED_FIGURE_COUNT; f++)
		add_fit(out, report, f);
}

static struct count_row row_of(const struct count_run *run)
{
	return (struct count_row){ &run->program, run->unix_ms, run->elapsed_ns, run };
}

void scale_report_add_csv(struct strbuf *out, const struct scale_report *report,
			  const struct column_list *columns)
{
	for (size_t i = 0; i < report->count; i++)
		for (size_t r = 0; r < report->sizes[i].runs.count; r++) {
			const struct count_row row =
				row_of(&report->sizes[i].runs.items[r]);

			csv_add_row(out, columns, &row);
		}
}

static void add_json_fit(struct strbuf *out, const struct scale_report *report, size_t f)
{
	const struct scale_fit *fit = &report->fits[f];

	strbuf_addf(out, "%s{\"figure\":\"%s\",\"outcome\":\"%s\"", f > 0 ? "," : "",
		    counted_figures[scaled_figures[f]].name, outcomes[fit->outcome].name);
	if (fit->outcome == SCALE_FITTED || fit->outcome == SCALE_CONSTANT)
		strbuf_addf(out, ",\"exponent\":%.4f,\"low\":%.4f,\"high\":%.4f",
			    fit->exponent, fit->low, fit->high);
	else
		strbuf_add_text(out, ",\"exponent\":null,\"low\":null,\"high\":null");
	if (fit->outcome == SCALE_FITTED)
		strbuf_addf(out, ",\"r_squared\":%.6f,\"constant\":%.3f,\"factor\":%.6g}",
			    fit->r_squared, fit->constant, fit->factor);
	else
		strbuf_add_text(out,
				",\"r_squared\":null,\"constant\":null,\"factor\":null}");
}

void scale_report_add_json(struct strbuf *out, const struct scale_report *report,
			   const struct column_list *columns)
{
	bool is_first = true;

	strbuf_addf(out, "{\"memstate\":{\"version\":\"%s\",\"schema\":1},\"command\":",
		    PACKAGE_VERSION);
	json_add_string(out, report->command, strlen(report->command));
	strbuf_add_text(out, ",\"growth\":[");
	for (size_t f = 0; f < SCALED_FIGURE_COUNT; f++)
		add_json_fit(out, report, f);
	strbuf_add_text(out, "],\"runs\":[");
	for (size_t i = 0; i < report->count; i++)
		for (size_t r = 0; r < report->sizes[i].runs.count; r++) {
			const struct count_row row =
				row_of(&report->sizes[i].runs.items[r]);

			if (!is_first)
				strbuf_add_char(out, ',');
			is_first = false;
			json_add_row(out, columns, &row);
		}
	strbuf_add_text(out, "]}\n");
}
