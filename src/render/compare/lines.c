/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/compare/lines.h"

#include "base/units.h"

#define HEADING(label)                                  \
	{                                               \
		label, FIGURE_COUNT_, VALUE_WORD, false \
	}
#define CLASS(label, moment, amount)                                 \
	{                                                            \
		label, FIGURE_AT(moment, amount), VALUE_BYTES, false \
	}
#define BESIDE(label, moment, amount)                               \
	{                                                           \
		label, FIGURE_AT(moment, amount), VALUE_BYTES, true \
	}
#define CLASSES(moment)                                                                 \
	CLASS("Rss", moment, AMOUNT_RSS),                                               \
		CLASS("  live", moment, AMOUNT_OWNER + OWNER_LIVE),                     \
		CLASS("  pool_pages", moment, AMOUNT_OWNER + OWNER_POOL_PAGES),         \
		CLASS("  pool_fragments", moment, AMOUNT_OWNER + OWNER_POOL_FRAGMENTS), \
		CLASS("  heap_meta", moment, AMOUNT_OWNER + OWNER_HEAP_META),           \
		CLASS("  stack", moment, AMOUNT_OWNER + OWNER_STACK),                   \
		CLASS("  anon", moment, AMOUNT_OWNER + OWNER_ANON),                     \
		CLASS("  file", moment, AMOUNT_OWNER + OWNER_FILE),                     \
		BESIDE("  shmem", moment, AMOUNT_OWNER + OWNER_SHMEM),                  \
		BESIDE("LazyFree part", moment, AMOUNT_LAZYFREE),                       \
		BESIDE("without LazyFree", moment, AMOUNT_FIRM),                        \
		BESIDE("unbacked", moment, AMOUNT_UNBACKED),                            \
		BESIDE("swap", moment, AMOUNT_SWAP)

const struct compare_line compare_lines[] = {
	{ "wall time", FIGURE_WALL, VALUE_SECONDS, false },
	{ "CPU time", FIGURE_CPU, VALUE_SECONDS, false },
	{ "minor faults", FIGURE_MINOR_FAULTS, VALUE_COUNT, false },
	{ "major faults", FIGURE_MAJOR_FAULTS, VALUE_COUNT, true },
	{ "release calls", FIGURE_RELEASE_CALLS, VALUE_COUNT, true },
	{ "time above limit", FIGURE_ABOVE, VALUE_SECONDS, true },
	{ "peak Rss", FIGURE_PEAK_RSS, VALUE_BYTES, false },
	{ "Rss at the end", FIGURE_AT(MOMENT_END, AMOUNT_RSS), VALUE_BYTES, false },
	{ "Rss settled", FIGURE_AT(MOMENT_SETTLED, AMOUNT_RSS), VALUE_BYTES, true },
	{ "Rss growth", FIGURE_RSS_GROWTH, VALUE_BYTES, true },
	{ "late live", FIGURE_LATE_LIVE, VALUE_BYTES, true },
	{ "allocations", FIGURE_ALLOCATIONS, VALUE_COUNT, true },
	{ "  requested", FIGURE_REQUESTED, VALUE_BYTES, true },
	{ "  temporary", FIGURE_TEMPORARY, VALUE_COUNT, true },
	{ "allocations per s", FIGURE_ALLOCATION_RATE, VALUE_COUNT, true },
	HEADING("in the largest sample"),
	CLASSES(MOMENT_PEAK),
	HEADING("at the end of the work"),
	CLASSES(MOMENT_END),
	HEADING("after settling"),
	CLASSES(MOMENT_SETTLED),
};

const size_t compare_line_count = sizeof(compare_lines) / sizeof(compare_lines[0]);

static bool has_figure(const struct compared *compared, enum figure figure)
{
	for (size_t v = 0; v < compared->comparison->variant_count; v++) {
		const struct spread *s = &compared->variants[v].figures[figure];

		if (s->run_count > 0 && s->max > 0)
			return true;
	}
	return false;
}

static bool is_of(enum figure figure, unsigned int amount)
{
	return figure >= FIGURE_MOMENT_ && figure < FIGURE_COUNT_ &&
	       (figure - FIGURE_MOMENT_) % AMOUNT_COUNT_ == amount;
}

/*
 * Return the nearest heading at or above a line of the table, or the first line of the
 * table if there is no such heading.
 */
static const struct compare_line *heading_of(const struct compare_line *line)
{
	while (line > compare_lines && line->figure != FIGURE_COUNT_)
		line--;
	return line;
}

/*
 * Return true if `rss` is the Rss at the end of the workload, and the figures after the
 * settle time are also known. The table then omits the section about the end of the
 * workload, which is only an intermediate state.
 */
static bool is_intermediate(const struct compared *compared, enum figure rss)
{
	return rss == FIGURE_AT(MOMENT_END, AMOUNT_RSS) &&
	       has_figure(compared, FIGURE_AT(MOMENT_SETTLED, AMOUNT_RSS));
}

bool compare_line_is_shown(const struct compared *compared,
			   const struct compare_line *line)
{
	const struct compare_line *heading = heading_of(line);

	/*
	 * The first line below a heading shows the Rss at one point of the run, such as
	 * the end of the workload. If this Rss is unknown, so are all other figures for
	 * that point.
	 */
	if (heading->figure == FIGURE_COUNT_ &&
	    (!has_figure(compared, heading[1].figure) ||
	     is_intermediate(compared, heading[1].figure)))
		return false;
	if (line == heading || !line->is_optional)
		return true;
	/* without LazyFree pages, the line "Rss without LazyFree" would repeat Rss */
	return has_figure(compared, is_of(line->figure, AMOUNT_FIRM) ? line[-1].figure
								     : line->figure);
}

void compare_line_add_value(struct strbuf *out, const struct compare_line *line,
			    uint64_t value, bool exact_bytes)
{
	char text[UNITS_TEXT_SIZE];

	if (!bytes_known(value))
		strbuf_add_char(out, '-');
	else if (line->kind == VALUE_SECONDS)
		strbuf_add_text(out, units_format_duration(value, text));
	else if (line->kind == VALUE_BYTES && !exact_bytes)
		strbuf_add_text(out, units_format_bytes(value, text));
	else
		strbuf_add_u64(out, value);
}
