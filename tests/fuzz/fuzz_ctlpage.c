/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The page that memstate shares with a helper, filled in by a hostile process. The input
 * is a flag byte, the page's head, then its text. The flags choose the command, and
 * whether the reply has the number of the request.
 */
#include "config.h"

#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "probe/helper/answer.h"
#include "probe/helper/ctlpage.h"

#define SHORT_TEXT_BYTES 2048

static _Alignas(4096) uint8_t page[AGENT_PAGE_BYTES];
static size_t written_bytes; /* length of the last input's text */

static void check_text(const char *text)
{
	for (; text && *text; text++)
		CHECK(*text == '\n' || ((unsigned char)*text >= 0x20 && *text != 0x7f));
}

static void check_answer(struct ctlpage *ctl, const struct ctlpage_answer *answer)
{
	const struct asked_allocator *asked = answer_allocator(ctlpage_commands(ctl));
	struct allocator_stats stats;

	check_text(answer->text);
	for (int bit = 0; bit < 32; bit++) {
		asked = bit == 31 ? asked : answer_allocator(UINT32_C(1) << bit);
		if (!asked)
			continue;
		memset(&stats, 0, sizeof(stats));
		answer_read(asked, answer, &stats);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct agent_page *head = (struct agent_page *)(void *)page;
	struct procfs fs;
	struct ctlpage ctl = { .page = head, .fs = &fs, .pid = getpid(), .lock = 1 };
	struct ctlpage_answer answer = { .text = NULL };
	size_t in_head;

	if (size == 0)
		return 0;
	memset(page, 0, AGENT_TEXT_OFFSET_BYTES + written_bytes);
	in_head = size - 1 < sizeof(*head) ? size - 1 : sizeof(*head);
	memcpy(page, data + 1, in_head);
	size -= 1 + in_head;
	if (size > AGENT_TEXT_BYTES)
		size = AGENT_TEXT_BYTES;
	memcpy(page + AGENT_TEXT_OFFSET_BYTES, data + 1 + in_head, size);
	written_bytes = size;
	/* a long text takes long to copy and tests no more than a short one */
	if (head->text_bytes < AGENT_TEXT_BYTES && !(data[0] & 0x80))
		head->text_bytes %= SHORT_TEXT_BYTES;
	if (data[0] & 1)
		head->reply_seq = head->request_seq + 1;
	CHECK(procfs_open(&fs, "/proc") == 0);
	if (ctlpage_ask(&ctl, (enum agent_command)(data[0] >> 1 & 15), 0, &answer) == 0) {
		check_answer(&ctl, &answer);
		free(answer.text);
	}
	(void)ctlpage_await_ready(&ctl, 0);
	procfs_release(&fs);
	return 0;
}
