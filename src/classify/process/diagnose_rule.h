/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diagnose_rule - helper functions shared by the rules of diagnose.c, and declarations of
 * the rules about heaps (diagnose_heap.c). A rule writes a sentence and returns true, or
 * returns false if it does not apply. Internal to classify/process.
 */
#ifndef MS_CLASSIFY_PROCESS_DIAGNOSE_RULE_H
#define MS_CLASSIFY_PROCESS_DIAGNOSE_RULE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/units.h"
#include "classify/process/diagnose.h"
#include "model/matrix.h"
#include "model/usage.h"

/*
 * A formatted amount or time. Formatting functions return this struct by value so that a
 * sentence can contain several amounts.
 */
struct amount {
	char text[UNITS_TEXT_SIZE];
};

static inline struct amount amount(uint64_t bytes)
{
	struct amount a;

	units_format_bytes(bytes, a.text);
	return a;
}

static inline struct amount duration(uint64_t ns)
{
	struct amount a;

	units_format_duration(ns, a.text);
	return a;
}

__attribute__((format(printf, 2, 3))) static inline bool say(struct diagnosis *d,
							     const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(d->text, sizeof(d->text), format, args);
	va_end(args);
	return true;
}

static inline uint64_t field(const struct usage *u, enum smaps_field f)
{
	return u->total.bytes[f];
}

static inline uint64_t rss(const struct usage *u)
{
	return field(u, SMAPS_RSS);
}

static inline uint64_t owner_bytes(const struct usage *u, enum owner owner)
{
	return matrix_owner_bytes(&u->matrix, owner);
}

static inline unsigned int percent(uint64_t part, uint64_t whole)
{
	return (units_per_mille(part, whole) + 5) / 10;
}

/*
 * Return true if `part` is at least `minimum` and at least per_mille thousandths of
 * `whole`. Return false if either amount is unknown.
 */
static inline bool is_significant(uint64_t part, uint64_t minimum, uint64_t whole,
				  unsigned int per_mille)
{
	return bytes_known(part) && bytes_known(whole) && part >= minimum &&
	       units_per_mille(part, whole) >= per_mille;
}

/*
 * Return true if the allocator reports only how much memory it obtained from the
 * kernel, as mimalloc does.
 */
bool diagnose_is_heap_in_live(const struct usage *u);

/* Figures of a language runtime's heap that appear in a sentence of the diagnosis. */
struct runtime_heap {
	uint64_t bytes, live_bytes, free_bytes;
	uint64_t trimmable_bytes;
};

/*
 * Return true if the language runtime has a heap that makes up at least a tenth of Rss.
 */
bool diagnose_find_runtime(const struct usage *u, enum allocator runtime,
			   struct runtime_heap *ret);

bool diagnose_live(const struct usage *u, struct diagnosis *d);
bool diagnose_pool_pages(const struct usage *u, struct diagnosis *d);
bool diagnose_fragments(const struct usage *u, struct diagnosis *d);
bool diagnose_java_heap(const struct usage *u, struct diagnosis *d);
bool diagnose_go_heap(const struct usage *u, struct diagnosis *d);
bool diagnose_python_objects(const struct usage *u, struct diagnosis *d);
bool diagnose_php_heap(const struct usage *u, struct diagnosis *d);
bool diagnose_js_heap(const struct usage *u, struct diagnosis *d);
bool diagnose_ruby_objects(const struct usage *u, struct diagnosis *d);
bool diagnose_heap_unknown(const struct usage *u, struct diagnosis *d);

#endif
