/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The storms of storm_target that change mappings and pages. */
#include "config.h"

#include <sys/mman.h>

#include "storm_target.h"

#ifndef MREMAP_DONTUNMAP
#	define MREMAP_DONTUNMAP 4
#endif
#ifndef MADV_COLLAPSE
#	define MADV_COLLAPSE 25
#endif

/* far below the addresses that the kernel chooses, and far above the program */
#define LOW_ADDR ((void *)0x200000000000)

void *run_mremap(void *unused)
{
	uint8_t *from = map(LOW_ADDR, AREA_BYTES);
	uint8_t *to = map(from + AREA_BYTES, AREA_BYTES);
	uint64_t x = 4101842887655102017U;

	fill(from, AREA_BYTES, 1);
	pthread_barrier_wait(&barrier);
	for (uint64_t i = 0;; i++) {
		size_t part = (1 + random_next(&x) % (AREA_BYTES / PAGE)) * PAGE;
		uint8_t *old = from;

		/* older kernels fail after unmapping `to` if `part` is in two mappings */
		if (mremap(from, part, part,
			   MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP,
			   to) == MAP_FAILED) {
			map(from, AREA_BYTES);
			map(to, AREA_BYTES);
			fill(from, AREA_BYTES / 8, i);
		}
		fill(from, part / 2, i);
		fill(to + part / 2 / PAGE * PAGE, PAGE, i);
		from = to;
		to = old;
		pause_us(300);
	}
	return unused;
}

void *run_exchange(void *unused)
{
	const int flags = MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP;
	uint8_t *area = map(NULL, 4 * TABLE_BYTES), *at[3];

	at[0] = area + (TABLE_BYTES - (uintptr_t)area % TABLE_BYTES);
	for (int i = 0; i < 3; i++)
		at[i] = at[0] + (size_t)i * TABLE_BYTES;
	madvise(area, 4 * TABLE_BYTES, MADV_NOHUGEPAGE);
	fill(at[0], TABLE_BYTES, 1);
	fill(at[1], TABLE_BYTES, 2);
	pthread_barrier_wait(&barrier);
	for (;;) {
		pause_us(500000);
		mremap(at[0], TABLE_BYTES, TABLE_BYTES, flags, at[2]);
		mremap(at[1], TABLE_BYTES, TABLE_BYTES, flags, at[0]);
		mremap(at[2], TABLE_BYTES, TABLE_BYTES, flags, at[1]);
	}
	return unused;
}

void *run_munmap(void *unused)
{
	uint8_t *area = map(NULL, AREA_BYTES);
	uint64_t x = 2685821657736338717U;

	fill(area, AREA_BYTES, 1);
	pthread_barrier_wait(&barrier);
	for (uint64_t i = 0;; i++) {
		size_t page = random_next(&x) % (AREA_BYTES / PAGE);
		size_t length = (1 + random_next(&x) % 256) * PAGE;
		uint8_t *at = area + page * PAGE;

		if (length > AREA_BYTES - page * PAGE)
			length = AREA_BYTES - page * PAGE;
		if (i % 3 == 0) {
			map(at, length);
		} else if (i % 3 == 1) {
			madvise(at, length, MADV_DONTNEED);
		} else {
			mprotect(at, length, PROT_NONE);
			pause_us(100);
			mprotect(at, length, PROT_READ | PROT_WRITE);
			pause_us(100);
		}
		fill(at, length / 2, i);
		pause_us(300);
	}
	return unused;
}

void *run_thp(void *unused)
{
	uint8_t *area = map(NULL, AREA_BYTES);
	uint64_t x = 1181783497276652981U;

	madvise(area, AREA_BYTES, MADV_HUGEPAGE);
	fill(area, AREA_BYTES, 1);
	pthread_barrier_wait(&barrier);
	for (uint64_t i = 0;; i++) {
		size_t page = random_next(&x) % (AREA_BYTES / PAGE);

		switch (i % 4) {
		case 0: madvise(area, AREA_BYTES, MADV_COLLAPSE); break;
		case 1: madvise(area + page * PAGE, PAGE, MADV_DONTNEED); break;
		case 2: fill(area + page * PAGE, PAGE, i); break;
		default: fill(area, AREA_BYTES / 4, i); break;
		}
		pause_us(500);
	}
	return unused;
}

void *run_mlock(void *unused)
{
	uint8_t *area = map(NULL, AREA_BYTES);
	uint64_t x = 3935559000370003845U;

	fill(area, AREA_BYTES, 1);
	pthread_barrier_wait(&barrier);
	for (uint64_t i = 0;; i++) {
		uint8_t *at = area + random_next(&x) % (AREA_BYTES / PAGE / 2) * PAGE;

		mlock(at, 64 * (size_t)PAGE);
		fill(at, 64 * (size_t)PAGE, i);
		munlock(at, 64 * (size_t)PAGE);
		pause_us(300);
	}
	return unused;
}

void *run_ksm(void *unused)
{
	const uint64_t equal = 1;
	uint8_t *area = map(NULL, AREA_BYTES);
	uint64_t x = 7046029254386353131U;

	madvise(area, AREA_BYTES, MADV_NOHUGEPAGE);
	fill(area, AREA_BYTES, equal);
	madvise(area, AREA_BYTES, MADV_MERGEABLE);
	pthread_barrier_wait(&barrier);
	for (uint64_t i = 2;; i++) {
		for (int k = 0; k < 32; k++) {
			size_t page = random_next(&x) % (AREA_BYTES / PAGE);

			fill(area + page * PAGE, PAGE, k % 4 == 0 ? i : equal);
		}
		if (i % 256 == 0)
			madvise(area, AREA_BYTES / 4, MADV_UNMERGEABLE);
		if (i % 256 == 64)
			madvise(area, AREA_BYTES / 4, MADV_MERGEABLE);
		pause_us(1000);
	}
	return unused;
}
