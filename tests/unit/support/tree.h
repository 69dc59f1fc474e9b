/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tree - a made-up /proc in a temporary folder. Any error fails the test.
 */
#ifndef MS_TESTS_TREE_H
#define MS_TESTS_TREE_H

#include <stddef.h>
#include <sys/types.h>

struct tree {
	char root[40];
};

void tree_make(struct tree *tree);
void tree_remove(struct tree *tree);

/* Make files at a path below the root; parent folders are made as needed. */
void tree_write(const struct tree *tree, const char *path, const char *text);
void tree_write_bytes(const struct tree *tree, const char *path, const void *bytes,
		      size_t length);
void tree_mkfifo(const struct tree *tree, const char *path);
void tree_chmod(const struct tree *tree, const char *path, mode_t mode);

/* Delete a file, or a folder with all its contents. */
void tree_delete(const struct tree *tree, const char *path);

/* Return the number of entries of any directory, such as /proc/self/fd. */
size_t tree_count_entries(const char *path);

#endif
