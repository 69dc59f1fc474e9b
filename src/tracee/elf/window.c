/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tracee/elf/window.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/interrupt.h"
#include "base/xalloc.h"

struct elf_window *elf_window_new(int fd, uint64_t *left_bytes)
{
	struct elf_window *window = xcalloc(1, sizeof(*window));

	window->fd = fd;
	window->left_bytes = left_bytes;
	return window;
}

/* Fill the window with the bytes of the file from offset_bytes on. */
static int fill(struct elf_window *window, uint64_t offset_bytes)
{
	ssize_t n;

	window->length = 0;
	if (interrupt_is_pending())
		return -EINTR;
	if (offset_bytes > INT64_MAX)
		return -EBADMSG;
	/*
	 * count a short read as a full one, so that the limit also bounds the number of
	 * reads
	 */
	if (*window->left_bytes < ELF_WINDOW_BYTES)
		return -E2BIG;
	*window->left_bytes -= ELF_WINDOW_BYTES;
	n = pread(window->fd, window->bytes, ELF_WINDOW_BYTES, (off_t)offset_bytes);
	if (n < 0)
		return -errno;
	memset(window->bytes + n, 0, sizeof(window->bytes) - (size_t)n);
	window->offset_bytes = offset_bytes;
	window->length = (size_t)n;
	return 0;
}

int elf_window_read(struct elf_window *window, uint64_t offset_bytes, size_t wanted,
		    const uint8_t **ret, size_t *ret_length)
{
	uint64_t skipped = offset_bytes - window->offset_bytes;

	if (offset_bytes < window->offset_bytes || skipped > window->length ||
	    window->length - skipped < wanted) {
		int r = fill(window, offset_bytes);

		if (r < 0)
			return r;
		skipped = 0;
	}
	*ret = window->bytes + skipped;
	*ret_length = window->length - (size_t)skipped;
	return 0;
}
