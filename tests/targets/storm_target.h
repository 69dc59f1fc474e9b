/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * storm_target - what the files of storm_target share.
 */
#ifndef MS_TESTS_TARGETS_STORM_TARGET_H
#define MS_TESTS_TARGETS_STORM_TARGET_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

/* the memory that a page table of the lowest level maps */
#define TABLE_BYTES ((size_t)2 << 20)
#define PAGE 4096
/* the size of the area that a storm changes */
#define AREA_BYTES ((size_t)8 << 20)

/* Each storm waits for it after it has filled its memory. */
extern pthread_barrier_t barrier;

/* Return the next number of a sequence of random numbers. *x must not be 0. */
uint64_t random_next(uint64_t *x);

void pause_us(long us);

/* Write the value every 512 bytes, that is, to all pages. */
void fill(uint8_t *at, size_t length, uint64_t value);

/* Map private memory, at this address unless it is NULL. Exit if that fails. */
void *map(void *at, size_t bytes);

/*
 * Move parts of an area back and forth. No other thread can map memory at an address that
 * a part has left: it stays mapped, except if mremap() fails, and the kernel prefers
 * higher addresses for new mappings.
 */
void *run_mremap(void *unused);

/*
 * Exchange two blocks without writing to them. mremap(2) moves the page tables of aligned
 * blocks as a whole. The old address stays mapped, as in run_mremap().
 */
void *run_exchange(void *unused);

/* Replace memory by new memory at the same address; release pages. */
void *run_munmap(void *unused);

/* Make and split huge pages. */
void *run_thp(void *unused);

/*
 * Let ksmd merge equal pages. A write to a merged page gives the process a page of its
 * own again, and so does MADV_UNMERGEABLE.
 */
void *run_ksm(void *unused);

/* Lock parts of an area into memory, and unlock them again. */
void *run_mlock(void *unused);

#endif
