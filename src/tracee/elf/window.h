/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * window - read a large untrusted file in chunks, from front to back. The total number of
 * bytes read is limited, because the file's tables can refer to the same bytes many
 * times, or to terabytes of a sparse file.
 */
#ifndef MS_TRACEE_ELF_WINDOW_H
#define MS_TRACEE_ELF_WINDOW_H

#include <stddef.h>
#include <stdint.h>

#define ELF_WINDOW_BYTES ((size_t)65536)
/* Number of zero bytes in the window after the end of the file. */
#define ELF_WINDOW_ZERO_BYTES ((size_t)16)

struct elf_window {
	int fd; /* descriptor of the file; the caller closes it */
	/*
	 * number of bytes that may still be read; all windows of a file share this
	 * counter
	 */
	uint64_t *left_bytes;
	uint64_t offset_bytes;
	size_t length;
	uint8_t bytes[ELF_WINDOW_BYTES + ELF_WINDOW_ZERO_BYTES];
};

/* Return a new window, which the caller frees. */
struct elf_window *elf_window_new(int fd, uint64_t *left_bytes);

/*
 * Find the bytes of the file at offset_bytes: at least `wanted` bytes (at most
 * ELF_WINDOW_BYTES), or fewer at the end of the file. On success *ret points to
 * *ret_length bytes, which are valid until the next call. At the end of the file,
 * ELF_WINDOW_ZERO_BYTES zeros follow them.
 *
 * Return 0; -E2BIG if the limit is exceeded; -EINTR if a signal asks memstate to exit;
 * -EBADMSG if the offset is beyond the end of the file; or another -errno.
 */
int elf_window_read(struct elf_window *window, uint64_t offset_bytes, size_t wanted,
		    const uint8_t **ret, size_t *ret_length);

#endif
