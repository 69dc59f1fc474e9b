/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * parcel_place - use a borrowed thread to inject a parcel (a helper's code, page and
 * stack) into a process, or to remove it.
 */
#ifndef MS_PROBE_HELPER_PARCEL_PLACE_H
#define MS_PROBE_HELPER_PARCEL_PLACE_H

#include <stdint.h>
#include <sys/types.h>

#include "probe/borrow/borrow.h"
#include "probe/helper/ctlpage.h"

struct parcel_place {
	/* the thread to use, between borrow_begin() and borrow_end() */
	struct borrow *borrow;
	/*
	 * The page that the helper shares with memstate. The caller creates it, unless
	 * page_segment is -1: parcel_place() then maps it as memory of the process.
	 */
	struct ctlpage *page;
	/* id of the page's System V segment; -1 if the page is not a segment */
	int page_segment;
	uid_t user; /* effective user id of the process */
	/*
	 * address of the helper's parcel (code, page and stack); 0 if nothing is mapped
	 * yet
	 */
	uint64_t addr;
};

/*
 * Map the helper's address range (the parcel), write the code, and start the helper.
 * Return 0, or -errno with the reason in struct borrow. If place->addr is not 0 after an
 * error, the parcel is still mapped.
 */
int parcel_place(struct parcel_place *place);

int parcel_remove(struct borrow *borrow, uint64_t addr);

#endif
