/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/count/names.h"

#include "agent/count/extra.h"

/* Values of counted_name.size_is_first: true if the first argument alone is the size. */
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

/* Functions of C++ need not be defined by the allocator. */
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
