/* SPDX-License-Identifier: GPL-2.0-or-later */
/* parcel_place - put a parcel into a process, and remove it, with a borrowed thread. */
#ifndef MS_PROBE_HELPER_PARCEL_PLACE_H
#define MS_PROBE_HELPER_PARCEL_PLACE_H

#include <stdint.h>
#include <sys/types.h>

#include "probe/borrow/borrow.h"
#include "probe/helper/ctlpage.h"

struct parcel_place {
	struct borrow *borrow; /* must be between borrow_begin() and borrow_end() */
	/* already made; without a segment, set later from the process's own memory */
	struct ctlpage *page;
	int page_segment; /* -1: the page will be the process's own memory */
	uid_t user;	  /* effective user of the process */
	uint64_t addr;	  /* address of the parcel; 0: nothing is mapped yet */
};

/*
 * Map the parcel, write its code, and start the helper. Return 0, or -errno with the
 * borrow's reason; addr tells whether something is mapped.
 */
int parcel_place(struct parcel_place *place);

int parcel_take_out(struct borrow *borrow, uint64_t addr);

#endif
