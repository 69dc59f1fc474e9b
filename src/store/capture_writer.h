/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capture_writer - the forms a capture is written in. Internal to store/: others use capture.h.
 */
#ifndef MS_STORE_CAPTURE_WRITER_H
#define MS_STORE_CAPTURE_WRITER_H

#include "store/capture_read.h"

/* Each returns 0 or -errno; the writer's data is its own until abandon(), which comes last. */
struct capture_writer {
	int (*begin)(const char *path, void **ret_data);
	int (*add)(void *data, const struct capture_file *file);
	int (*finish)(void *data); /* make it appear under its name */
	void (*abandon)(void *data); /* remove what has not been finished, and free; NULL is fine */
};

extern const struct capture_writer capture_dir_writer;
extern const struct capture_writer capture_tar_writer;

#endif
