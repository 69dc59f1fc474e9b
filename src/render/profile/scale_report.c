/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/profile/scale_report.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "render/profile/count_report.h"
#include "render/table/style.h"

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
			    "at least 4 sizes with a known figure are required" },
	[SCALE_TOO_NEAR] = { "too_near",
			     "the largest size must be at least 4 times the smallest" },
	[SCALE_START_UP] = { "start_up",
			     "nearly all of it is independent of the size; use larger "
			     "sizes" },
	[SCALE_UNCERTAIN] = { "uncertain",
			      "no power of the size fits well, or several do; use more "
			      "sizes" },
};

const char *scale_outcome_text(enum scale_outcome outcome)
{
	return outcomes[outcome].text;
}

static void add_sizes(struct strbuf *out, const struct scale_report *report)
{
	size_t begin = out->length;

	strbuf_addf(out, "%16s %16s %16s %16s\n", "SIZE", "ALLOCATIONS", "REQUESTED",
		    "PEAK RSS");
	style_mark_line(out, begin, STYLE_HEADING, report->options.colour);
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
			    report->options.ascii ? "R^2" : "R²", fit->r_squared,
			    fit->constant);
	else
		strbuf_addf(out, "unknown    %s\n", outcomes[fit->outcome].text);
}

void scale_report_add_text(struct strbuf *out, const struct scale_report *report)
{
	const struct count_runs *runs = &report->sizes[0].runs;
	const char *name = runs->items[0].program.name;

	text_add_printable(out, report->command, strlen(report->command),
			   report->options.ascii);
	strbuf_add_text(out, ": of ");
	text_add_printable(out, name, strlen(name), report->options.ascii);
	strbuf_addf(out, ", %zu run%s per size\n\n", runs->count,
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

/*
 * Append a number with `decimals` digits after the point, or null if is_known is false.
 */
static void add_decimal(struct json *j, const char *key, bool is_known, int decimals,
			double number)
{
	if (is_known)
		json_add_format(j, key, "%.*f", decimals, number);
	else
		json_add_null(j, key);
}

static void add_json_fit(struct json *j, const struct scale_report *report, size_t f)
{
	const struct scale_fit *fit = &report->fits[f];
	bool is_fitted = fit->outcome == SCALE_FITTED;
	bool has_exponent = is_fitted || fit->outcome == SCALE_CONSTANT;

	json_begin_object(j, NULL);
	json_add_string(j, "figure", counted_figures[scaled_figures[f]].name);
	json_add_string(j, "outcome", outcomes[fit->outcome].name);
	add_decimal(j, "exponent", has_exponent, 4, fit->exponent);
	add_decimal(j, "low", has_exponent, 4, fit->low);
	add_decimal(j, "high", has_exponent, 4, fit->high);
	add_decimal(j, "r_squared", is_fitted, 6, fit->r_squared);
	add_decimal(j, "constant", is_fitted, 3, fit->constant);
	if (is_fitted)
		json_add_format(j, "factor", "%.6g", fit->factor);
	else
		json_add_null(j, "factor");
	json_end_object(j);
}

void scale_report_add_json(struct strbuf *out, const struct scale_report *report,
			   const struct column_list *columns)
{
	struct json j = json_begin_report(out, "scale");

	json_add_string(&j, "command", report->command);
	json_begin_array(&j, "growth");
	for (size_t f = 0; f < SCALED_FIGURE_COUNT; f++)
		add_json_fit(&j, report, f);
	json_end_array(&j);
	json_begin_array(&j, "runs");
	for (size_t i = 0; i < report->count; i++)
		for (size_t r = 0; r < report->sizes[i].runs.count; r++) {
			const struct count_row row =
				row_of(&report->sizes[i].runs.items[r]);

			json_add_row(&j, NULL, columns, &row);
		}
	json_end_array(&j);
	json_end_report(&j);
}
