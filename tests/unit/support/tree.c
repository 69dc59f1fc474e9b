/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tree.h"

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "unit.h"

static void make_path(const struct tree *tree, const char *path, struct strbuf *out)
{
	strbuf_addf(out, "%s/", tree->root);
	for (; *path; path++) {
		if (*path == '/')
			mkdir(out->text, 0755); /* may exist already */
		strbuf_add_char(out, *path);
	}
}

void tree_make(struct tree *tree)
{
	strcpy(tree->root, "/tmp/memstate-test.XXXXXX");
	assert_non_null(mkdtemp(tree->root));
}

static int remove_entry(const char *path, const struct stat *st, int type,
			struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

void tree_remove(struct tree *tree)
{
	nftw(tree->root, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

void tree_delete(const struct tree *tree, const char *path)
{
	struct strbuf full = STRBUF_INIT;

	make_path(tree, path, &full);
	assert_int_equal(nftw(full.text, remove_entry, 8, FTW_DEPTH | FTW_PHYS), 0);
	strbuf_release(&full);
}

void tree_write_bytes(const struct tree *tree, const char *path, const void *bytes,
		      size_t length)
{
	struct strbuf full = STRBUF_INIT;
	FILE *file;

	make_path(tree, path, &full);
	file = fopen(full.text, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, length, file), length);
	assert_int_equal(fclose(file), 0);
	strbuf_release(&full);
}

void tree_write(const struct tree *tree, const char *path, const char *text)
{
	tree_write_bytes(tree, path, text, strlen(text));
}

void tree_mkfifo(const struct tree *tree, const char *path)
{
	struct strbuf full = STRBUF_INIT;

	make_path(tree, path, &full);
	assert_int_equal(mkfifo(full.text, 0600), 0);
	strbuf_release(&full);
}

void tree_chmod(const struct tree *tree, const char *path, mode_t mode)
{
	struct strbuf full = STRBUF_INIT;

	make_path(tree, path, &full);
	assert_int_equal(chmod(full.text, mode), 0);
	strbuf_release(&full);
}

size_t tree_count_entries(const char *path)
{
	DIR *dir = opendir(path);
	size_t count = 0;

	assert_non_null(dir);
	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}
