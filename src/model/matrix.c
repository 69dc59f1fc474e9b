/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "model/matrix.h"

#include <stdbool.h>
#include <string.h>

const char *const owner_names[OWNER_COUNT_] = {
	[OWNER_LIVE] = "live",
	[OWNER_POOL_PAGES] = "pool_pages",
	[OWNER_POOL_FRAGMENTS] = "pool_fragments",
	[OWNER_HEAP_META] = "heap_meta",
	[OWNER_STACK] = "stack",
	[OWNER_ANON] = "anon",
	[OWNER_FILE] = "file",
	[OWNER_SHMEM] = "shmem",
};

const char *const page_state_names[STATE_COUNT_] = {
	[STATE_PRIVATE_DIRTY] = "private_dirty", [STATE_LAZYFREE] = "lazyfree",
	[STATE_PRIVATE_CLEAN] = "private_clean", [STATE_SHARED_DIRTY] = "shared_dirty",
	[STATE_SHARED_CLEAN] = "shared_clean",
};

static void set_rows(struct matrix *m, unsigned int first, unsigned int last,
		     uint64_t bytes)
{
	for (unsigned int o = first; o <= last; o++) {
		m->owner_rss_bytes[o] = bytes;
		for (unsigned int s = 0; s < STATE_COUNT_; s++)
			m->cell[o][s] = bytes;
	}
}

void matrix_set_unknown(struct matrix *m)
{
	memset(m, 0, sizeof(*m));
	set_rows(m, 0, OWNER_COUNT_ - 1, BYTES_UNKNOWN);
}

void matrix_set_no_heap(struct matrix *m)
{
	memset(m, 0, sizeof(*m));
	set_rows(m, OWNER_HEAP_FIRST, OWNER_HEAP_LAST, BYTES_UNKNOWN);
}

static bool is_row_unknown(const struct matrix *m, unsigned int owner)
{
	for (unsigned int s = 0; s < STATE_COUNT_; s++)
		if (bytes_known(m->cell[owner][s]))
			return false;
	return true;
}

uint64_t matrix_cell_bytes(const struct matrix *m, enum owner owner,
			   enum page_state state)
{
	if (m->owner_remainder_bytes[owner] > 0 && m->state_remainder_bytes[state] > 0)
		return BYTES_UNKNOWN;
	return m->cell[owner][state];
}

uint64_t matrix_owner_bytes(const struct matrix *m, enum owner owner)
{
	uint64_t sum = m->owner_remainder_bytes[owner];

	for (unsigned int s = 0; s < STATE_COUNT_; s++)
		sum = bytes_add(sum, m->cell[owner][s]);
	return bytes_known(sum) ? sum : m->owner_rss_bytes[owner];
}

/* Sum the rows, omitting those in which every cell is unknown. */
static uint64_t sum_rows(const struct matrix *m, unsigned int first_state,
			 unsigned int last_state)
{
	bool is_any_known = false;
	uint64_t sum = 0;

	for (unsigned int o = 0; o < OWNER_COUNT_; o++) {
		if (is_row_unknown(m, o))
			continue;
		is_any_known = true;
		for (unsigned int s = first_state; s <= last_state; s++)
			sum = bytes_add(sum, m->cell[o][s]);
	}
	return is_any_known ? sum : BYTES_UNKNOWN;
}

uint64_t matrix_state_bytes(const struct matrix *m, enum page_state state)
{
	return bytes_add(sum_rows(m, state, state), m->state_remainder_bytes[state]);
}

uint64_t matrix_total_bytes(const struct matrix *m)
{
	uint64_t sum = sum_rows(m, 0, STATE_COUNT_ - 1);

	for (unsigned int s = 0; s < STATE_COUNT_; s++)
		sum = bytes_add(sum, m->state_remainder_bytes[s]);
	return sum;
}

enum page_state matrix_only_state(const uint64_t states[STATE_COUNT_])
{
	enum page_state only = STATE_COUNT_;

	for (unsigned int s = 0; s < STATE_COUNT_; s++) {
		if (states[s] == 0)
			continue;
		if (only != STATE_COUNT_)
			return STATE_COUNT_;
		only = (enum page_state)s;
	}
	return only;
}
