/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/count/names.h"

#include <stdlib.h>
#include <string.h>

#include "agent/count/extra.h"
#include "base/search.h"

/*
 * Convert the column `size` of extra.h to counted_name.size_is_first, which is true if
 * the first argument alone is the requested size.
 */
enum {
	IS_FIRST_NONE = false,
	IS_FIRST_FIRST = true,
	IS_FIRST_SECOND = false,
	IS_FIRST_THIRD = false,
	IS_FIRST_PRODUCT = false,
	IS_FIRST_LAST_PRODUCT = false,
};

#define EXTRA(name, call, size, family) \
	{ #name, CALL_##call, COUNT_FAMILY_##family, IS_FIRST_##size },

/*
 * All functions whose calls are counted. Some allocators do not define the C++ functions.
 */
const struct counted_name counted_names[COUNTED_NAME_COUNT] = {
	{ "malloc", CALL_MALLOC, COUNT_FAMILY_STANDARD, false },
	{ "free", CALL_FREE, COUNT_FAMILY_STANDARD, false },
	{ "cfree", CALL_FREE, COUNT_FAMILY_STANDARD, false },
	{ "calloc", CALL_CALLOC, COUNT_FAMILY_STANDARD, false },
	{ "realloc", CALL_REALLOC, COUNT_FAMILY_STANDARD, false },
	{ "reallocarray", CALL_REALLOCARRAY, COUNT_FAMILY_STANDARD, false },
	{ "posix_memalign", CALL_POSIX_MEMALIGN, COUNT_FAMILY_STANDARD, false },
	{ "aligned_alloc", CALL_ALIGNED_ALLOC, COUNT_FAMILY_STANDARD, false },
	{ "memalign", CALL_MEMALIGN, COUNT_FAMILY_STANDARD, false },
	{ "valloc", CALL_VALLOC, COUNT_FAMILY_STANDARD, false },
	{ "pvalloc", CALL_PVALLOC, COUNT_FAMILY_STANDARD, false },
	{ "_Znwm", CALL_NEW, COUNT_FAMILY_STANDARD, false },
	{ "_Znam", CALL_NEW, COUNT_FAMILY_STANDARD, false },
	{ "_ZnwmRKSt9nothrow_t", CALL_NEW, COUNT_FAMILY_STANDARD, false },
	{ "_ZnamRKSt9nothrow_t", CALL_NEW, COUNT_FAMILY_STANDARD, false },
	{ "_ZnwmSt11align_val_t", CALL_NEW, COUNT_FAMILY_STANDARD, false },
	{ "_ZnamSt11align_val_t", CALL_NEW, COUNT_FAMILY_STANDARD, false },
	{ "_ZnwmSt11align_val_tRKSt9nothrow_t", CALL_NEW, COUNT_FAMILY_STANDARD, false },
	{ "_ZnamSt11align_val_tRKSt9nothrow_t", CALL_NEW, COUNT_FAMILY_STANDARD, false },
	{ "_ZdlPv", CALL_DELETE, COUNT_FAMILY_STANDARD, false },
	{ "_ZdaPv", CALL_DELETE, COUNT_FAMILY_STANDARD, false },
	{ "_ZdlPvm", CALL_DELETE, COUNT_FAMILY_STANDARD, false },
	{ "_ZdaPvm", CALL_DELETE, COUNT_FAMILY_STANDARD, false },
	{ "_ZdlPvRKSt9nothrow_t", CALL_DELETE, COUNT_FAMILY_STANDARD, false },
	{ "_ZdaPvRKSt9nothrow_t", CALL_DELETE, COUNT_FAMILY_STANDARD, false },
	{ "_ZdlPvSt11align_val_t", CALL_DELETE, COUNT_FAMILY_STANDARD, false },
	{ "_ZdaPvSt11align_val_t", CALL_DELETE, COUNT_FAMILY_STANDARD, false },
	{ "_ZdlPvmSt11align_val_t", CALL_DELETE, COUNT_FAMILY_STANDARD, false },
	{ "_ZdaPvmSt11align_val_t", CALL_DELETE, COUNT_FAMILY_STANDARD, false },
	{ "_ZdlPvSt11align_val_tRKSt9nothrow_t", CALL_DELETE, COUNT_FAMILY_STANDARD,
	  false },
	{ "_ZdaPvSt11align_val_tRKSt9nothrow_t", CALL_DELETE, COUNT_FAMILY_STANDARD,
	  false },
#define JEMALLOC(name, call, size) EXTRA(name, call, size, STANDARD)
#define JE(name, call, size) EXTRA(name, call, size, JE)
#define RJEM(name, call, size) EXTRA(name, call, size, RJEM)
#define MI(name, call, size) EXTRA(name, call, size, MI)
#define TC(name, call, size) EXTRA(name, call, size, TC)
	COUNT_EXTRA_JEMALLOC(JEMALLOC) COUNT_EXTRA_JE(JE) COUNT_EXTRA_RJEM(RJEM)
		COUNT_EXTRA_MI(MI) COUNT_EXTRA_TC(TC)
};

static int compare_indexes(const void *a, const void *b)
{
	const size_t *left = a, *right = b;

	return strcmp(counted_names[*left].name, counted_names[*right].name);
}

void counted_order_init(struct counted_order *ret)
{
	const size_t count = sizeof(ret->indexes) / sizeof(ret->indexes[0]);

	for (size_t i = 0; i < count; i++)
		ret->indexes[i] = COUNTED_STANDARD_COUNT + i;
	qsort(ret->indexes, count, sizeof(ret->indexes[0]), compare_indexes);
}

size_t counted_order_find(const struct counted_order *order, const char *name,
			  size_t length)
{
	const size_t count = sizeof(order->indexes) / sizeof(order->indexes[0]);
	size_t first = SEARCH_FIRST(
		count, i,
		strncmp(counted_names[order->indexes[i]].name, name, length) >= 0);

	/*
	 * an exact match, if it exists, is at index `first`; longer names that begin with
	 * the text follow
	 */
	if (first == count ||
	    strncmp(counted_names[order->indexes[first]].name, name, length) != 0 ||
	    counted_names[order->indexes[first]].name[length] != '\0')
		return COUNTED_NAME_COUNT;
	return order->indexes[first];
}
