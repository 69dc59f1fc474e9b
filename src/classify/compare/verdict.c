/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/compare/verdict.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "classify/compare/verdict_facts.h"

/* Minimum spread that is reported as noise, in thousandths of the median. */
#define WIDE_PER_MILLE 250

static const struct compared_variant *variant_of(const struct facts *f, size_t variant)
{
	return &f->compared->variants[variant];
}

static const char *name_of(const struct facts *f, size_t variant)
{
	return f->compared->comparison->variants[variant].name;
}

static void add_amount(struct strbuf *out, uint64_t bytes)
{
	char text[UNITS_TEXT_SIZE];

	strbuf_add_text(out, units_format_bytes(bytes, text));
}

static void add_duration(struct strbuf *out, uint64_t ns)
{
	char text[UNITS_TEXT_SIZE];

	strbuf_add_text(out, units_format_duration(ns, text));
}

static void add_name(struct strbuf *out, const struct facts *f, size_t variant,
		     size_t *count)
{
	strbuf_addf(out, "%s%s", *count > 0 ? ", " : "", name_of(f, variant));
	++*count;
}

/*
 * Append a figure's value for each variant for which it is known, such as
 * "glibc 64.0M, jemalloc 65.5M".
 */
static void add_amounts(struct strbuf *out, const struct facts *f, enum figure figure)
{
	size_t count = 0;

	for (size_t i = 0; i < f->usable_count; i++) {
		const struct spread *s = facts_spread(f, f->usable[i], figure);

		if (!facts_are_known(f, f->usable[i], figure))
			continue;
		add_name(out, f, f->usable[i], &count);
		strbuf_add_char(out, ' ');
		add_amount(out, s->median);
	}
}

/*
 * Append the names of the variants for which the figure is
 * unknown. Return their number.
 */
static size_t add_unknown(struct strbuf *out, const struct facts *f, enum figure figure)
{
	size_t count = 0;

	for (size_t i = 0; i < f->usable_count; i++)
		if (!facts_are_known(f, f->usable[i], figure))
			add_name(out, f, f->usable[i], &count);
	return count;
}

static unsigned int percent_lower(uint64_t low, uint64_t high)
{
	return (units_per_mille(high - low, high) + 5) / 10;
}

/*
 * Append text such as "Rss under jemalloc ends 61% lower than under glibc (28.0M against
 * 72.0M)".
 */
static void add_lower(struct strbuf *out, const struct facts *f,
		      const struct difference *d, const char *verb)
{
	uint64_t low = facts_spread(f, d->low, d->figure)->median;
	uint64_t high = facts_spread(f, d->high, d->figure)->median;

	strbuf_addf(out, "Rss under %s %s %u%% lower than under %s (", name_of(f, d->low),
		    verb, percent_lower(low, high), name_of(f, d->high));
	add_amount(out, low);
	strbuf_add_text(out, " against ");
	add_amount(out, high);
	strbuf_add_char(out, ')');
}

static const char *settles(const struct facts *f)
{
	return f->moment == MOMENT_SETTLED ? "settles" : "ends";
}

static void add_good_runs(struct strbuf *out, const struct facts *f, size_t variant)
{
	const struct compared_variant *v = variant_of(f, variant);

	strbuf_addf(out, "%s has %zu good run%s of %zu", name_of(f, variant),
		    v->good_count, v->good_count == 1 ? "" : "s",
		    v->good_count + v->failed_count);
	if (v->problem)
		strbuf_addf(out, " (%s)", v->problem);
}

/* Append the names of all variants with too few runs. Return their number. */
static size_t add_left_out(struct strbuf *out, const struct facts *f)
{
	size_t count = 0;

	for (size_t v = 0; v < f->compared->comparison->variant_count; v++) {
		if (variant_of(f, v)->good_count >= RUNS_MIN)
			continue;
		if (count++ > 0)
			strbuf_add_text(out, ", ");
		add_good_runs(out, f, v);
	}
	return count;
}

static bool rule_too_few_runs(const struct facts *f, struct strbuf *out)
{
	if (f->usable_count >= 2)
		return false;
	strbuf_addf(out,
		    "No verdict: this requires at least two variants with %d good runs "
		    "each; ",
		    RUNS_MIN);
	if (add_left_out(out, f) == 0)
		add_good_runs(out, f, f->usable[0]);
	strbuf_add_char(out, '.');
	return true;
}

#define WHERE_TO_LOOK " Try 'memstate leaks' and 'memstate count'."

static bool rule_live_same(const struct facts *f, struct strbuf *out)
{
	enum figure live = FIGURE_LATE_LIVE;
	_cleanup_strbuf_ struct strbuf unknown = STRBUF_INIT;

	if (!f->live_grows || !f->is_live_same)
		return false;
	strbuf_add_text(out, "No allocator helps: live memory grows equally under all of "
			     "them (");
	add_amounts(out, f, live);
	if (add_unknown(&unknown, f, live) > 0)
		strbuf_addf(out, "; unknown under %s", unknown.text);
	strbuf_add_text(out, ")." WHERE_TO_LOOK);
	return true;
}

/*
 * The rule applies if variants differ only in LazyFree: their Rss differs, but their Rss
 * without LazyFree does not. Both figures of both variants must be known.
 */
static bool rule_lazyfree_only(const struct facts *f, struct strbuf *out)
{
	enum figure firm = FIGURE_AT(f->moment, AMOUNT_FIRM);

	if (!is_different(&f->rss) || is_different(&f->firm) ||
	    !facts_are_known(f, f->rss.low, firm) ||
	    !facts_are_known(f, f->rss.high, firm))
		return false;
	strbuf_add_text(
		out,
		"Rss is not comparable: only LazyFree differs, which is freed memory "
		"that the kernel reclaims under memory pressure. Without it: ");
	add_amounts(out, f, firm);
	strbuf_add_char(out, '.');
	return true;
}

/*
 * Return the part of a difference in Rss that is free pool memory (pages and fragments).
 * Return BYTES_UNKNOWN if the Rss by owner is unknown.
 */
static uint64_t pool_part(const struct facts *f, const struct difference *d)
{
	enum figure pool = FIGURE_AT(f->moment, AMOUNT_POOL);
	const struct spread *low = facts_spread(f, d->low, pool);
	const struct spread *high = facts_spread(f, d->high, pool);

	if (!facts_are_known(f, d->low, pool) || !facts_are_known(f, d->high, pool))
		return BYTES_UNKNOWN;
	return bytes_sub(high->median, low->median);
}

static uint64_t distance_of(const struct facts *f, const struct difference *d)
{
	return bytes_sub(facts_spread(f, d->high, d->figure)->median,
			 facts_spread(f, d->low, d->figure)->median);
}

/* Return true if the Rss of the variants differs for a reason other than LazyFree. */
static bool settles_lower(const struct facts *f)
{
	enum figure firm = FIGURE_AT(f->moment, AMOUNT_FIRM);

	return is_different(&f->rss) &&
	       (is_different(&f->firm) || !facts_are_known(f, f->rss.low, firm) ||
		!facts_are_known(f, f->rss.high, firm));
}

static bool is_pool(const struct facts *f)
{
	uint64_t pool = pool_part(f, &f->rss);

	return bytes_known(pool) && pool >= distance_of(f, &f->rss) / 2;
}

static bool rule_pool_differs(const struct facts *f, struct strbuf *out)
{
	if (!settles_lower(f) || !is_pool(f))
		return false;
	strbuf_add_text(out, "Free memory kept by the allocator differs: ");
	add_lower(out, f, &f->rss, settles(f));
	strbuf_add_char(out, '.');
	return true;
}

/* Return the owner that contributes most to the difference in Rss. */
static enum owner main_owner(const struct facts *f, const struct difference *d)
{
	enum owner found = OWNER_ANON;
	uint64_t max = 0;

	for (enum owner o = 0; o < OWNER_COUNT_; o++) {
		enum figure figure = FIGURE_OWNER_AT(f->moment, o);
		uint64_t apart = bytes_sub(facts_spread(f, d->high, figure)->median,
					   facts_spread(f, d->low, figure)->median);

		if (!bytes_known(apart) || apart <= max)
			continue;
		max = apart;
		found = o;
	}
	return found;
}

static bool rule_lower(const struct facts *f, struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf unknown = STRBUF_INIT;

	if (!settles_lower(f) || is_pool(f))
		return false;
	add_lower(out, f, &f->rss, settles(f));
	if (bytes_known(pool_part(f, &f->rss)))
		strbuf_addf(out, "; the owner with the largest difference is %s.",
			    owner_names[main_owner(f, &f->rss)]);
	else if (add_unknown(&unknown, f, FIGURE_AT(f->moment, AMOUNT_POOL)) > 0)
		strbuf_addf(out, "; the composition of Rss under %s is unknown.",
			    unknown.text);
	return true;
}

/*
 * The rule applies if LazyFree hides a difference: the variant with the lowest Rss is not
 * the lowest without LazyFree, or Rss is equal but Rss without LazyFree differs.
 */
static bool rule_lazyfree_hides(const struct facts *f, struct strbuf *out)
{
	if (!is_different(&f->firm) ||
	    (is_different(&f->rss) && f->rss.low == f->firm.low))
		return false;
	strbuf_add_text(out, "Rss hides a difference: without LazyFree, which is freed "
			     "memory that the kernel reclaims under memory pressure, ");
	add_lower(out, f, &f->firm, settles(f));
	strbuf_add_char(out, '.');
	return true;
}

static bool rule_live_grows(const struct facts *f, struct strbuf *out)
{
	if (!f->live_grows || f->is_live_same)
		return false;
	strbuf_add_text(out,
			"Live memory grows under all allocators, so no other allocator "
			"helps." WHERE_TO_LOOK);
	return true;
}

static bool rule_rss_grows(const struct facts *f, struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf unknown = STRBUF_INIT;

	if (f->live_grows || !f->rss_grows ||
	    add_unknown(&unknown, f, FIGURE_LATE_LIVE) == 0)
		return false;
	strbuf_addf(out,
		    "Rss grows under all allocators; it is unknown whether live "
		    "memory grows under %s.",
		    unknown.text);
	return true;
}

static bool rule_peak_lower(const struct facts *f, struct strbuf *out)
{
	if (!is_different(&f->peak))
		return false;
	add_lower(out, f, &f->peak, "peaks");
	strbuf_add_char(out, '.');
	return true;
}

/*
 * Report the CPU cost of the variant with the lowest memory use, or of the fastest
 * variant if memory use does not differ.
 */
static bool rule_cpu(const struct facts *f, struct strbuf *out)
{
	const struct difference *memory = settles_lower(f) ? &f->rss : &f->peak;
	struct difference d = is_different(memory) ? *memory : f->cpu;
	const struct spread *ours, *other;
	bool is_more;

	if (!is_different(&d))
		return false;
	ours = facts_spread(f, d.low, FIGURE_CPU);
	other = facts_spread(f, d.high, FIGURE_CPU);
	is_more = spreads_are_apart(other, ours, DIFFERENCE_MIN_NS);
	if (!is_more && !spreads_are_apart(ours, other, DIFFERENCE_MIN_NS))
		return false;
	if (!is_different(memory))
		strbuf_add_text(out, "Memory use does not differ; ");
	strbuf_addf(out, "%s takes %" PRIu64 "%% %s CPU time than %s (",
		    name_of(f, d.low),
		    (uint64_t)llabs((int64_t)(ours->median - other->median)) * 100 /
			    (other->median ? other->median : 1),
		    is_more ? "more" : "less", name_of(f, d.high));
	add_duration(out, ours->median);
	strbuf_add_text(out, " against ");
	add_duration(out, other->median);
	strbuf_add_text(out, ").");
	return true;
}

static bool rule_no_difference(const struct facts *f, struct strbuf *out)
{
	enum figure rss = FIGURE_AT(f->moment, AMOUNT_RSS);

	if (is_different(&f->rss) || is_different(&f->firm) || is_different(&f->peak) ||
	    is_different(&f->cpu))
		return false;
	strbuf_add_text(out, "No difference exceeds the spread of the runs");
	if (facts_find_extreme(f, rss, false) != NOBODY) {
		strbuf_addf(out, ": Rss %s at ", settles(f));
		add_amounts(out, f, rss);
	}
	strbuf_add_char(out, '.');
	return true;
}

/* Append the reasons why the heaps of some variants are unknown. */
static void add_heap_problems(struct strbuf *out, const struct facts *f)
{
	for (size_t i = 0; i < f->usable_count; i++) {
		const struct compared_variant *v = variant_of(f, f->usable[i]);
		const char *problem = v->heap_problem[f->moment];

		if (problem)
			strbuf_addf(out, " Heap not read under %s: %s.",
				    name_of(f, f->usable[i]), problem);
	}
}

static bool rule_owners_unknown(const struct facts *f, struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf unknown = STRBUF_INIT;

	if (add_unknown(&unknown, f, FIGURE_OWNER_AT(f->moment, OWNER_LIVE)) == 0)
		return false;
	strbuf_addf(out,
		    "%s, live and free heap memory cannot be distinguished under "
		    "%s: both are in anon.",
		    f->moment == MOMENT_SETTLED ? "After settling" : "At the end",
		    unknown.text);
	add_heap_problems(out, f);
	return true;
}

static bool rule_wide_spread(const struct facts *f, struct strbuf *out)
{
	size_t count = 0;

	for (size_t i = 0; i < f->usable_count; i++) {
		size_t v = f->usable[i];
		const struct spread *s =
			facts_spread(f, v, FIGURE_AT(f->moment, AMOUNT_RSS));

		if (s->run_count > 0 && s->max - s->min >= DIFFERENCE_MIN_BYTES &&
		    units_per_mille(s->max - s->min, s->median) >= WIDE_PER_MILLE)
			add_name(out, f, v, &count);
	}
	if (count == 0)
		return false;
	strbuf_add_text(out, ": Rss varies widely between runs; use more --runs.");
	return true;
}

static bool rule_left_out(const struct facts *f, struct strbuf *out)
{
	if (f->usable_count < 2 || add_left_out(out, f) == 0)
		return false;
	strbuf_add_text(out, ": excluded from the verdict.");
	return true;
}

/* all verdict rules, the most important first */
#define RULES(X)                                 \
	X("too-few-runs", rule_too_few_runs)     \
	X("live-same", rule_live_same)           \
	X("lazyfree-only", rule_lazyfree_only)   \
	X("pool-differs", rule_pool_differs)     \
	X("lower", rule_lower)                   \
	X("lazyfree-hides", rule_lazyfree_hides) \
	X("live-grows", rule_live_grows)         \
	X("rss-grows", rule_rss_grows)           \
	X("peak-lower", rule_peak_lower)         \
	X("cpu", rule_cpu)                       \
	X("no-difference", rule_no_difference)   \
	X("owners-unknown", rule_owners_unknown) \
	X("wide-spread", rule_wide_spread)       \
	X("left-out", rule_left_out)

#define RULE_NAME(name, function) name,
#define RULE_FUNCTION(name, function) function,

const char *const verdict_rules[] = { RULES(RULE_NAME) NULL };

static bool (*const rule_functions[])(const struct facts *f,
				      struct strbuf *out) = { RULES(RULE_FUNCTION) };

_Static_assert(sizeof(rule_functions) / sizeof(rule_functions[0]) <= VERDICT_MAX,
	       "all rules may hold");

static void add_verdict(struct verdicts *verdicts, size_t rule, const struct facts *f)
{
	struct verdict *v = &verdicts->items[verdicts->count];

	strbuf_init(&v->text);
	if (!rule_functions[rule](f, &v->text)) {
		strbuf_release(&v->text);
		return;
	}
	v->rule = verdict_rules[rule];
	verdicts->count++;
}

void verdicts_init(struct verdicts *verdicts, const struct compared *compared)
{
	size_t count = compared->comparison->variant_count;
	_cleanup_free_ size_t *usable = xcalloc(count + 1, sizeof(*usable));
	struct facts f = { .compared = compared, .usable = usable };

	verdicts->count = 0;
	for (size_t v = 0; v < count; v++)
		if (compared->variants[v].good_count >= RUNS_MIN)
			usable[f.usable_count++] = v;
	if (f.usable_count < 2) {
		add_verdict(verdicts, 0, &f);
		return;
	}
	facts_find(&f);
	for (size_t i = 0; verdict_rules[i]; i++)
		add_verdict(verdicts, i, &f);
}

void verdicts_release(struct verdicts *verdicts)
{
	for (size_t i = 0; i < verdicts->count; i++)
		strbuf_release(&verdicts->items[i].text);
	verdicts->count = 0;
}
