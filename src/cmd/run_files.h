/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * run_files - the standard files of the runs of a comparison.
 */
#ifndef MS_CMD_RUN_FILES_H
#define MS_CMD_RUN_FILES_H

#include "model/comparison.h"

/* Of one run: for the command, or for its workload. */
struct run_files {
	int input_fd, output_fd, error_fd;
};

#define RUN_FILES_INIT { -1, -1, -1 }
#define _cleanup_run_files_ __attribute__((cleanup(run_files_close)))

void run_files_close(struct run_files *files);

/*
 * Memstate's own standard input from its beginning where that is a file, else none: what
 * was read by one run is there for the next. -1: there is no descriptor left.
 */
int run_files_open_input(void);

/* A folder that is new, or empty. Returns 0, or -errno after the message. */
int run_files_make_folder(const char *path);

/*
 * Input: as above; output: in a
 * folder of the run in `folder`, or nowhere if that is NULL. Returns 0, or -errno after
 * the message.
 */
int run_files_open(const char *folder, const struct variant *variant, const struct run *run,
		   bool is_workload, struct run_files *ret);

#endif
