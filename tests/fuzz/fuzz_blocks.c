/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The input is a snapshot of blocks, as memstate leaks --since reads it. */
#include "config.h"

#include <errno.h>

#include "fuzz.h"
#include "store/capture/block_list.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct strbuf text = STRBUF_INIT;
	struct block_list list;
	uint64_t end = 0, count = 0;
	int r;

	strbuf_add(&text, data, size);
	r = block_list_parse(&text, &list);
	CHECK(text.length == 0);
	CHECK(r == 0 || r == -EBADMSG || r == -EPROTONOSUPPORT);
	if (r < 0)
		return 0;
	CHECK(list.head.pid > 0);
	for (; block_list_next(&list); count++) {
		CHECK(list.addr >= end && list.bytes > 0);
		end = list.addr + list.bytes;
		CHECK(end > list.addr);
	}
	CHECK(count == list.head.count);
	block_list_release(&list);
	return 0;
}
