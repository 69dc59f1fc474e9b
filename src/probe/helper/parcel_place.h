/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * parcel_place - inject a parcel (a helper's code, page and stack) into a process, and
 * remove it, with a borrowed thread.
 */
#ifndef MS_PROBE_HELPER_PARCEL_PLACE_H
#define MS_PROBE_HELPER_PARCEL_PLACE_H

#include <stdint.h>
#include <sys/types.h>

#include "probe/borrow/borrow.h"
#include "probe/helper/ctlpage.h"

struct parcel_place {
	/* the borrowed thread, between borrow_begin() and borrow_end() */
	struct borrow *borrow;
	/*
	 * page shared with memstate, made by the caller; if page_segment is -1,
	 * parcel_place() makes it from the process's memory
	 */
	struct ctlpage *page;
	/*
	 * identifier of a System V segment, or -1 to use memory of the
	 * process as the page
	 */
	int page_segment;
	uid_t user; /* effective user of the process */
	/*
	 * address of the helper's parcel (code, page and stack), or 0 if
	 * nothing is mapped yet
	 */
	uint64_t addr;
};

/*
 * Map the helper's address range (the parcel), write the code, and start the helper.
 * Return 0, or -errno with the reason in struct borrow. If addr is not 0 after an error,
 * the parcel is mapped.
 */
int parcel_place(struct parcel_place *place);

int parcel_remove(struct borrow *borrow, uint64_t addr);

#endif
