/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * writer - interface to the output formats of a capture. Internal to store/: other
 * layers use capture.h.
 */
#ifndef MS_STORE_CAPTURE_WRITER_H
#define MS_STORE_CAPTURE_WRITER_H

#include "store/capture/read.h"

/*
 * Functions that write a capture in one output format. They return 0 or -errno. begin()
 * allocates the writer's data, and abandon() must be the last call.
 */
struct capture_writer {
	int (*begin)(const char *path, void **ret_data);
	int (*add)(void *data, const struct capture_file *file);
	int (*finish)(void *data); /* rename the capture to its final path */
	/* free the writer's data, and remove an unfinished capture; NULL is allowed */
	void (*abandon)(void *data);
};

extern const struct capture_writer capture_dir_writer;
extern const struct capture_writer capture_tar_writer;

#endif
