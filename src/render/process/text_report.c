/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/process/text_report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "base/text.h"
#include "base/units.h"
#include "classify/process/diagnose.h"
#include "classify/process/heap_problem.h"
#include "classify/process/process_conclusion.h"
#include "model/heap.h"
#include "render/process/heap_rows.h"
#include "render/process/mapping_groups.h"
#include "render/process/use_rows.h"
#include "render/table/bar.h"
#include "render/table/conclusion.h"
#include "render/table/output.h"
#include "render/table/style.h"

#define SENTENCES_MAX 4
#define GROUPS_PER_OWNER 3
#define LABEL_WIDTH 16
#define BAR_INDENT 9

struct report {
	struct strbuf *out;
	const struct usage *usage;
	const struct mapping_list *mappings;
	const struct text_report_options *options;
	uint64_t rss_bytes;
};

/* Return the width of a column of amounts, including the space before the amount. */
static int amount_width(const struct report *r)
{
	return r->options->exact_bytes ? 14 : 9;
}

static void add_amount(const struct report *r, uint64_t bytes)
{
	char buf[UNITS_TEXT_SIZE];

	strbuf_addf(r->out, "%*s", amount_width(r),
		    units_format_amount(bytes, r->options->exact_bytes, buf));
}

static void add_share(const struct report *r, uint64_t bytes)
{
	unsigned int per_mille = units_per_mille(bytes, r->rss_bytes);

	if (!bytes_known(bytes) || !bytes_known(r->rss_bytes) || r->rss_bytes == 0)
		strbuf_add_text(r->out, "       -");
	else
		strbuf_addf(r->out, "  %3u.%u%%", per_mille / 10, per_mille % 10);
}

/*
 * Append a line of text from outside memstate, cut off at the edge of the page. `used` is
 * the number of columns already used in the line.
 */
static void add_cut(const struct report *r, const char *text, size_t length, size_t used)
{
	_cleanup_strbuf_ struct strbuf shown = STRBUF_INIT;
	size_t width = (size_t)r->options->width;
	size_t room = width > used ? width - used : 1;

	text_add_printable(&shown, text, length, r->options->ascii);
	if (text_display_width(strbuf_text(&shown), shown.length) <= room) {
		strbuf_add(r->out, strbuf_text(&shown), shown.length);
	} else {
		strbuf_add(r->out, shown.text,
			   text_cut_to_width(shown.text, shown.length, room - 1));
		strbuf_add_text(r->out, r->options->ascii ? ">" : "…");
	}
	strbuf_add_char(r->out, '\n');
}

static void add_head(const struct report *r)
{
	const struct usage *u = r->usage;
	_cleanup_strbuf_ struct strbuf head = STRBUF_INIT;

	strbuf_addf(&head, "%s (%d), %u thread%s, %u mappings", u->process.comm,
		    u->process.pid, u->process.thread_count,
		    u->process.thread_count == 1 ? "" : "s", u->mapping_count);
	usage_heaps_add_titles(&head, u, ", ");
	add_cut(r, head.text, head.length, 0);
}

/* Append the sentences of the conclusion, and the remaining diagnoses as a list. */
static void add_conclusion(const struct report *r)
{
	const struct table_options options = { .max_width = r->options->width };
	struct diagnosis details[SENTENCES_MAX];
	size_t count = diagnose(r->usage, details, SENTENCES_MAX);
	_cleanup_conclusion_ struct conclusion conclusion = CONCLUSION_INIT;

	process_conclude(&conclusion, r->usage, r->mappings);
	conclusion_add_opening(r->out, &conclusion, &options);
	for (size_t i = 0; i < count; i++) {
		if (diagnosis_is_verdict(&details[i]))
			continue;
		strbuf_add_text(r->out, r->options->ascii ? "* " : "• ");
		text_add_wrapped(r->out, details[i].text, 2, (size_t)r->options->width);
	}
}

static void add_command(const struct report *r)
{
	const char *command = r->usage->command;

	if (!command || command[0] == '\0')
		return;
	strbuf_addf(r->out, "\n%-*s", BAR_INDENT, "command");
	add_cut(r, command, strlen(command), BAR_INDENT);
}

/* Append the legend of a bar. Omit parts whose amount is 0 or unknown. */
static void add_legend(const struct report *r, const struct bar_part *parts,
		       const char *const *names, size_t count)
{
	_cleanup_strbuf_ struct strbuf item = STRBUF_INIT;
	size_t used = BAR_INDENT - 1;

	strbuf_add_repeat(r->out, " ", BAR_INDENT - 1);
	for (size_t i = 0; i < count; i++) {
		unsigned int per_mille = units_per_mille(parts[i].bytes, r->rss_bytes);
		size_t width;

		if (!bytes_known(parts[i].bytes) || parts[i].bytes == 0)
			continue;
		strbuf_clear(&item);
		strbuf_addf(&item, " %s %u.%u%%", names[i], per_mille / 10,
			    per_mille % 10);
		width = strlen("  L") + item.length;
		if (used + width > (size_t)r->options->width) {
			strbuf_add_char(r->out, '\n');
			strbuf_add_repeat(r->out, " ", BAR_INDENT - 1);
			used = BAR_INDENT - 1;
		}
		strbuf_add_text(r->out, "  ");
		bar_add_letter(r->out, &parts[i], r->options->colour);
		strbuf_add(r->out, item.text, item.length);
		used += width;
	}
	strbuf_add_char(r->out, '\n');
}

static void add_bar(const struct report *r, const char *title, struct bar_part *parts,
		    const uint64_t *bytes, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		parts[i].bytes = bytes[i];
	strbuf_addf(r->out, "%-*s", BAR_INDENT, title);
	bar_add(r->out, parts, count, r->rss_bytes,
		(size_t)r->options->width - BAR_INDENT - 2, r->options->ascii,
		r->options->colour);
	strbuf_add_char(r->out, '\n');
	add_legend(r, parts, names, count);
}

static void add_bars(const struct report *r)
{
	struct bar_part owner_parts[OWNER_COUNT_] = {
		[OWNER_LIVE] = { .letter = 'L', .colour = "31" },
		[OWNER_POOL_PAGES] = { .letter = 'P', .colour = "33" },
		[OWNER_POOL_FRAGMENTS] = { .letter = 'G', .colour = "93" },
		[OWNER_HEAP_META] = { .letter = 'M', .colour = "37" },
		[OWNER_STACK] = { .letter = 'S', .colour = "35" },
		[OWNER_ANON] = { .letter = 'A', .colour = "91" },
		[OWNER_FILE] = { .letter = 'F', .colour = "34" },
		[OWNER_SHMEM] = { .letter = 'H', .colour = "36" },
	};
	struct bar_part state_parts[STATE_COUNT_] = {
		[STATE_PRIVATE_DIRTY] = { .letter = 'D', .colour = "91" },
		[STATE_LAZYFREE] = { .letter = 'L', .colour = "32" },
		[STATE_PRIVATE_CLEAN] = { .letter = 'C', .colour = "34" },
		[STATE_SHARED_DIRTY] = { .letter = 'd', .colour = "35" },
		[STATE_SHARED_CLEAN] = { .letter = 'c', .colour = "36" },
	};
	uint64_t owners[OWNER_COUNT_];

	for (unsigned int o = 0; o < OWNER_COUNT_; o++)
		owners[o] = matrix_owner_bytes(&r->usage->matrix, (enum owner)o);
	add_bar(r, "by owner", owner_parts, owners, owner_names, OWNER_COUNT_);
	add_bar(r, "by state", state_parts, r->usage->state_bytes, page_state_names,
		STATE_COUNT_);
}

/*
 * Return true if the matrix shows the column of this page state, because some pages are
 * in this state.
 */
static bool is_state_shown(const struct report *r, unsigned int state)
{
	return r->usage->state_bytes[state] != 0;
}

static void add_matrix_row(const struct report *r, const char *name, uint64_t sum,
			   const uint64_t states[STATE_COUNT_])
{
	strbuf_addf(r->out, "%-*s", LABEL_WIDTH, name);
	add_amount(r, sum);
	add_share(r, sum);
	for (unsigned int s = 0; s < STATE_COUNT_; s++)
		if (is_state_shown(r, s))
			add_amount(r, states[s]);
	strbuf_add_char(r->out, '\n');
}

/*
 * Append the column headings of the matrix on two lines, such as "private" above "dirty".
 * The matrix then fits into 80 columns even if it shows all five page states.
 */
static void add_matrix_heading(const struct report *r)
{
	static const char *const words[STATE_COUNT_][2] = {
		[STATE_PRIVATE_DIRTY] = { "private", "dirty" },
		[STATE_LAZYFREE] = { "", "lazyfree" },
		[STATE_PRIVATE_CLEAN] = { "private", "clean" },
		[STATE_SHARED_DIRTY] = { "shared", "dirty" },
		[STATE_SHARED_CLEAN] = { "shared", "clean" },
	};
	static const char *const labels[2] = { "", "owner \\ state" };
	static const char *const sums[2][2] = { { "", "" }, { "Rss", "share" } };
	int width = amount_width(r);

	for (size_t line = 0; line < 2; line++) {
		size_t begin = r->out->length;

		strbuf_addf(r->out, "%-*s%*s%8s", LABEL_WIDTH, labels[line], width,
			    sums[line][0], sums[line][1]);
		for (unsigned int s = 0; s < STATE_COUNT_; s++)
			if (is_state_shown(r, s))
				strbuf_addf(r->out, "%*s", width, words[s][line]);
		strbuf_add_char(r->out, '\n');
		style_mark_line(r->out, begin, STYLE_HEADING, r->options->colour);
	}
}

static void add_matrix(const struct report *r)
{
	const struct matrix *matrix = &r->usage->matrix;

	add_matrix_heading(r);
	for (unsigned int o = 0; o < OWNER_COUNT_; o++) {
		uint64_t bytes = matrix_owner_bytes(matrix, (enum owner)o);
		uint64_t cells[STATE_COUNT_];

		for (unsigned int s = 0; s < STATE_COUNT_; s++)
			cells[s] = matrix_cell_bytes(matrix, (enum owner)o,
						     (enum page_state)s);
		if (bytes_known(bytes) && bytes > 0)
			add_matrix_row(r, owner_names[o], bytes, cells);
	}
	add_matrix_row(r, "= Rss", r->rss_bytes, r->usage->state_bytes);
}

/*
 * Append the result of querying the allocator, or the reason why the query failed. Append
 * nothing if memstate was not asked to query the allocator.
 */
static void add_helper_note(const struct usage *u, struct strbuf *note)
{
	char system[UNITS_TEXT_SIZE], live[UNITS_TEXT_SIZE], cost[UNITS_TEXT_SIZE];

	if (u->helper_problem)
		strbuf_addf(note, " Allocator not queried: %s.", u->helper_problem);
	if (!bytes_known(u->reported.cost_ns))
		return;
	strbuf_addf(note, " The allocator reports that it has %s from the kernel",
		    units_format_bytes(u->reported.system_bytes, system));
	if (bytes_known(u->reported.live_bytes))
		strbuf_addf(note, ", and %s of it in use",
			    units_format_bytes(u->reported.live_bytes, live));
	strbuf_addf(note, "; it took %s to answer.",
		    units_format_duration(u->reported.cost_ns, cost));
}

/*
 * Append the source of the heap's figures, or the reason why they are missing, and how
 * long memstate paused the process to read them.
 */
static void add_heap_note(const struct report *r)
{
	const struct usage *u = r->usage;
	const char *problem = heap_problem_text(u);
	/*
	 * in a recording, heap_taken_ns is 0 if the heap was walked for an earlier sample
	 */
	uint64_t age_ns = u->heap_taken_ns > 0 ? u->taken_ns - u->heap_taken_ns : 0;
	_cleanup_strbuf_ struct strbuf note = STRBUF_INIT;
	char pause[UNITS_TEXT_SIZE], age[UNITS_TEXT_SIZE];

	units_format_duration(u->heap_pause_ns, pause);
	if (u->heap_quality == QUALITY_UNKNOWN) {
		strbuf_addf(&note, "Heap not read%s%s. Its memory is counted as anon.",
			    problem ? ": " : "", problem ? problem : "");
		if (u->heap_pause_ns > 0)
			strbuf_addf(&note, " The process was paused for %s.", pause);
	} else if (u->heap_is_reported) {
		strbuf_addf(&note, "Heap not walked: %s. ", problem);
		strbuf_add_text(&note, "live is an upper bound from the allocator");
		if (age_ns > 0)
			strbuf_addf(&note, ", queried %s before the other figures",
				    units_format_duration(age_ns, age));
		strbuf_add_char(&note, '.');
	} else {
		strbuf_add_text(&note, "Heap read");
		if (age_ns > 0)
			strbuf_addf(&note, " %s before the other figures",
				    units_format_duration(age_ns, age));
		if (u->heap_taken_ns == 0)
			strbuf_add_text(&note, " before the other figures");
		else if (u->heap_is_running)
			strbuf_add_text(&note, " while the process ran: approximate");
		else
			strbuf_addf(&note, "; process paused for %s", pause);
		if (u->heap_is_running && u->heap_error == -EFBIG &&
		    !u->heap_pre_copy_problem)
			strbuf_add_text(&note, " (--heap walk gives exact figures)");
		if (problem)
			strbuf_addf(&note, "; %s", problem);
		strbuf_add_char(&note, '.');
	}
	add_helper_note(u, &note);
	text_add_wrapped(r->out, note.text, 0, (size_t)r->options->width);
}

struct named_amount {
	const char *name;
	uint64_t bytes;
	bool is_always; /* true to show the amount even if it is 0 */
};

/*
 * Append a line with a title and amounts, such as "TITLE Pss 1.2M, Uss 1.0M". Append
 * nothing if there is no amount to show.
 */
static void add_amounts(const struct report *r, const char *title,
			const struct named_amount *amounts, size_t count)
{
	_cleanup_strbuf_ struct strbuf words = STRBUF_INIT;
	char buf[UNITS_TEXT_SIZE];

	for (size_t i = 0; i < count; i++) {
		if (amounts[i].bytes == 0 && !amounts[i].is_always)
			continue;
		strbuf_addf(&words, "%s%s %s", words.length ? ", " : "", amounts[i].name,
			    units_format_amount(amounts[i].bytes, r->options->exact_bytes,
						buf));
	}
	if (words.length == 0)
		return;
	strbuf_addf(r->out, "%-*s", LABEL_WIDTH, title);
	text_add_wrapped(r->out, words.text, LABEL_WIDTH, (size_t)r->options->width);
}

static void add_details(const struct report *r)
{
	const struct usage *u = r->usage;
	const uint64_t trimmable = u->trimmable_bytes;
	const struct named_amount parts[] = {
		{ "huge pages", usage_thp_bytes(u), false },
		{ "locked", u->total.bytes[SMAPS_LOCKED], false },
		{ "trimmable", bytes_known(trimmable) ? trimmable : 0, false },
		{ "unexplained", usage_unexplained_bytes(u), false },
	};
	const struct named_amount beside[] = {
		{ "Pss", u->total.bytes[SMAPS_PSS], true },
		{ "Uss", usage_uss_bytes(u), true },
		{ "Swap", u->total.bytes[SMAPS_SWAP], true },
		{ "unbacked", u->unbacked_bytes, true },
		{ "reserved", u->reserved_bytes, false },
		{ "hugetlb", usage_hugetlb_bytes(u), false },
		{ "Size", u->process.stat_size_bytes, true },
	};

	add_amounts(r, "of Rss", parts, sizeof(parts) / sizeof(parts[0]));
	add_amounts(r, "beside", beside, sizeof(beside) / sizeof(beside[0]));
}

static void add_group(const struct report *r, const struct mapping_group *group)
{
	const struct mapping *m = group->first;
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;
	size_t begin = r->out->length;
	char size[UNITS_TEXT_SIZE], perms[5];

	strbuf_addf(r->out, "  %-*s", LABEL_WIDTH - 2, owner_names[m->owner]);
	add_amount(r, group->rss_bytes);
	add_share(r, group->rss_bytes);
	strbuf_addf(
		r->out, "  of %-*s ", amount_width(r) - 2,
		units_format_amount(group->size_bytes, r->options->exact_bytes, size));
	strbuf_add_text(&name, mapping_group_name(m));
	if (name.length == 0)
		strbuf_addf(&name, "%llx %s", (unsigned long long)m->start_addr,
			    mapping_format_perms(m, perms));
	if (group->mapping_count > 1)
		strbuf_addf(&name, " (%zu mappings)", group->mapping_count);
	add_cut(r, name.text, name.length, r->out->length - begin);
}

/*
 * Append the largest groups of mappings of each owner: at most GROUPS_PER_OWNER groups,
 * each with at least 1 % of Rss.
 */
static void add_largest(const struct report *r)
{
	struct mapping_group *groups;
	size_t count = mapping_groups_make(r->mappings, &groups);
	size_t shown_of_owner = 0;

	style_begin(r->out, STYLE_HEADING, r->options->colour);
	strbuf_add_text(r->out, "largest mappings of each owner");
	style_end(r->out, STYLE_HEADING, r->options->colour);
	strbuf_add_char(r->out, '\n');
	for (size_t i = 0; i < count; i++) {
		if (i > 0 && groups[i].first->owner != groups[i - 1].first->owner)
			shown_of_owner = 0;
		if ((bytes_known(r->rss_bytes) &&
		     units_per_mille(groups[i].rss_bytes, r->rss_bytes) < 10) ||
		    shown_of_owner++ >= GROUPS_PER_OWNER)
			continue;
		add_group(r, &groups[i]);
	}
	free(groups);
}

void text_report_add(struct strbuf *out, const struct usage *u,
		     const struct mapping_list *mappings,
		     const struct text_report_options *options)
{
	const struct report r = { out, u, mappings, options, u->total.bytes[SMAPS_RSS] };

	add_head(&r);
	add_conclusion(&r);
	add_command(&r);
	if (r.rss_bytes == 0)
		return;
	strbuf_add_char(out, '\n');
	if (bytes_known(r.rss_bytes)) {
		add_bars(&r);
		strbuf_add_char(out, '\n');
	}
	add_matrix(&r);
	if (usage_heaps_are_listed(u))
		usage_heaps_add_rows(out, u, options->exact_bytes);
	usage_uses_add_rows(out, u, options->exact_bytes);
	add_heap_note(&r);
	add_details(&r);
	strbuf_add_char(out, '\n');
	add_largest(&r);
}
