/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * extra - the table of the entry points that allocators have in addition to the functions
 * of libc and C++.
 *
 * Each row of the table is X(symbol, call, size). COUNT_call, a value of enum
 * count_function, is the standard function that corresponds to the entry point. `size` is
 * the position of the requested size in the arguments:
 *
 *  NONE          no size is counted, because the function frees a block
 *  FIRST         the first argument (SECOND: the second, THIRD: the third)
 *  PRODUCT       the first argument times the second
 *  LAST_PRODUCT  the second argument times the third
 *
 * All arguments and results are passed in integer registers. No function has more than
 * four parameters.
 */
#ifndef MS_AGENT_COUNT_EXTRA_H
#define MS_AGENT_COUNT_EXTRA_H

/* jemalloc's functions that are not in the standard library */
#define COUNT_EXTRA_JEMALLOC(X)     \
	X(mallocx, MALLOC, FIRST)   \
	X(rallocx, REALLOC, SECOND) \
	X(xallocx, REALLOC, SECOND) \
	X(dallocx, FREE, NONE)      \
	X(sdallocx, FREE, NONE)

/* jemalloc's functions with the prefix je_ */
#define COUNT_EXTRA_JE(X)                           \
	X(je_malloc, MALLOC, FIRST)                 \
	X(je_free, FREE, NONE)                      \
	X(je_calloc, CALLOC, PRODUCT)               \
	X(je_realloc, REALLOC, SECOND)              \
	X(je_posix_memalign, POSIX_MEMALIGN, THIRD) \
	X(je_aligned_alloc, ALIGNED_ALLOC, SECOND)  \
	X(je_memalign, MEMALIGN, SECOND)            \
	X(je_valloc, VALLOC, FIRST)                 \
	X(je_mallocx, MALLOC, FIRST)                \
	X(je_rallocx, REALLOC, SECOND)              \
	X(je_xallocx, REALLOC, SECOND)              \
	X(je_dallocx, FREE, NONE)                   \
	X(je_sdallocx, FREE, NONE)

/* jemalloc functions as named by Rust's crate tikv-jemallocator */
#define COUNT_EXTRA_RJEM(X)                            \
	X(_rjem_malloc, MALLOC, FIRST)                 \
	X(_rjem_free, FREE, NONE)                      \
	X(_rjem_calloc, CALLOC, PRODUCT)               \
	X(_rjem_realloc, REALLOC, SECOND)              \
	X(_rjem_posix_memalign, POSIX_MEMALIGN, THIRD) \
	X(_rjem_aligned_alloc, ALIGNED_ALLOC, SECOND)  \
	X(_rjem_memalign, MEMALIGN, SECOND)            \
	X(_rjem_valloc, VALLOC, FIRST)                 \
	X(_rjem_mallocx, MALLOC, FIRST)                \
	X(_rjem_rallocx, REALLOC, SECOND)              \
	X(_rjem_xallocx, REALLOC, SECOND)              \
	X(_rjem_dallocx, FREE, NONE)                   \
	X(_rjem_sdallocx, FREE, NONE)

/* mimalloc's functions */
#define COUNT_EXTRA_MI(X)                              \
	X(mi_malloc, MALLOC, FIRST)                    \
	X(mi_malloc_small, MALLOC, FIRST)              \
	X(mi_zalloc, CALLOC, FIRST)                    \
	X(mi_zalloc_small, CALLOC, FIRST)              \
	X(mi_calloc, CALLOC, PRODUCT)                  \
	X(mi_mallocn, CALLOC, PRODUCT)                 \
	X(mi_realloc, REALLOC, SECOND)                 \
	X(mi_reallocf, REALLOC, SECOND)                \
	X(mi_rezalloc, REALLOC, SECOND)                \
	X(mi_realloc_aligned, REALLOC, SECOND)         \
	X(mi_rezalloc_aligned, REALLOC, SECOND)        \
	X(mi_reallocn, REALLOCARRAY, LAST_PRODUCT)     \
	X(mi_recalloc, REALLOCARRAY, LAST_PRODUCT)     \
	X(mi_reallocarray, REALLOCARRAY, LAST_PRODUCT) \
	X(mi_posix_memalign, POSIX_MEMALIGN, THIRD)    \
	X(mi_aligned_alloc, ALIGNED_ALLOC, SECOND)     \
	X(mi_malloc_aligned, ALIGNED_ALLOC, FIRST)     \
	X(mi_zalloc_aligned, ALIGNED_ALLOC, FIRST)     \
	X(mi_calloc_aligned, CALLOC, PRODUCT)          \
	X(mi_malloc_aligned_at, ALIGNED_ALLOC, FIRST)  \
	X(mi_zalloc_aligned_at, ALIGNED_ALLOC, FIRST)  \
	X(mi_calloc_aligned_at, CALLOC, PRODUCT)       \
	X(mi_realloc_aligned_at, REALLOC, SECOND)      \
	X(mi_memalign, MEMALIGN, SECOND)               \
	X(mi_valloc, VALLOC, FIRST)                    \
	X(mi_pvalloc, PVALLOC, FIRST)                  \
	X(mi_free, FREE, NONE)                         \
	X(mi_cfree, FREE, NONE)                        \
	X(mi_free_size, FREE, NONE)                    \
	X(mi_free_size_aligned, FREE, NONE)            \
	X(mi_free_aligned, FREE, NONE)                 \
	X(mi_new, NEW, FIRST)                          \
	X(mi_new_nothrow, NEW, FIRST)                  \
	X(mi_new_aligned, NEW, FIRST)                  \
	X(mi_new_aligned_nothrow, NEW, FIRST)

/* functions of gperftools' tcmalloc */
#define COUNT_EXTRA_TC(X)                             \
	X(tc_malloc, MALLOC, FIRST)                   \
	X(tc_malloc_skip_new_handler, MALLOC, FIRST)  \
	X(tc_free, FREE, NONE)                        \
	X(tc_cfree, FREE, NONE)                       \
	X(tc_free_sized, FREE, NONE)                  \
	X(tc_calloc, CALLOC, PRODUCT)                 \
	X(tc_realloc, REALLOC, SECOND)                \
	X(tc_posix_memalign, POSIX_MEMALIGN, THIRD)   \
	X(tc_memalign, MEMALIGN, SECOND)              \
	X(tc_valloc, VALLOC, FIRST)                   \
	X(tc_pvalloc, PVALLOC, FIRST)                 \
	X(tc_new, NEW, FIRST)                         \
	X(tc_new_nothrow, NEW, FIRST)                 \
	X(tc_new_aligned, NEW, FIRST)                 \
	X(tc_new_aligned_nothrow, NEW, FIRST)         \
	X(tc_newarray, NEW, FIRST)                    \
	X(tc_newarray_nothrow, NEW, FIRST)            \
	X(tc_newarray_aligned, NEW, FIRST)            \
	X(tc_newarray_aligned_nothrow, NEW, FIRST)    \
	X(tc_delete, DELETE, NONE)                    \
	X(tc_delete_sized, DELETE, NONE)              \
	X(tc_delete_nothrow, DELETE, NONE)            \
	X(tc_delete_aligned, DELETE, NONE)            \
	X(tc_delete_sized_aligned, DELETE, NONE)      \
	X(tc_delete_aligned_nothrow, DELETE, NONE)    \
	X(tc_deletearray, DELETE, NONE)               \
	X(tc_deletearray_sized, DELETE, NONE)         \
	X(tc_deletearray_nothrow, DELETE, NONE)       \
	X(tc_deletearray_aligned, DELETE, NONE)       \
	X(tc_deletearray_sized_aligned, DELETE, NONE) \
	X(tc_deletearray_aligned_nothrow, DELETE, NONE)

#define COUNT_EXTRA(X)          \
	COUNT_EXTRA_JEMALLOC(X) \
	COUNT_EXTRA_JE(X)       \
	COUNT_EXTRA_RJEM(X)     \
	COUNT_EXTRA_MI(X)       \
	COUNT_EXTRA_TC(X)

#endif
