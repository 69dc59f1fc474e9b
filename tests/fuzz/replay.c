/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Feed a fuzz target each file of its corpus, which is
 * $srcdir/tests/fuzz/corpus/NAME for fuzz_NAME.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "fuzz.h"

#define BROKEN_HARNESS 99
#define INPUT_SIZE_MAX (1024 * 1024)

const bool fuzz_replays = true;

static int replay(int dir_fd, const char *name)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	_cleanup_free_ uint8_t *exact = NULL;
	int r;

	r = io_read_file_at(dir_fd, name, INPUT_SIZE_MAX, &text);
	if (r < 0) {
		fprintf(stderr, "%s: %s\n", name, strerror(-r));
		return r;
	}
	/* an exact copy, so that a sanitizer detects a read one byte past the end */
	exact = malloc(text.length ? text.length : 1);
	if (!exact)
		return -ENOMEM;
	memcpy(exact, strbuf_text(&text), text.length);
	printf("%s\n", name);
	fflush(stdout);
	LLVMFuzzerTestOneInput(exact, text.length);
	return 0;
}

int main(int argc, char **argv)
{
	_cleanup_strbuf_ struct strbuf path = STRBUF_INIT;
	_cleanup_closedir_ DIR *dir = NULL;
	const char *srcdir = getenv("srcdir");
	const char *name = strstr(argv[0], "fuzz_");
	struct dirent *entry;
	size_t count = 0;

	if (argc == 2)
		strbuf_add_text(&path, argv[1]);
	else if (srcdir && name)
		strbuf_addf(&path, "%s/tests/fuzz/corpus/%s", srcdir,
			    name + strlen("fuzz_"));
	else
		return BROKEN_HARNESS;
	dir = opendir(path.text);
	if (!dir) {
		perror(path.text);
		return BROKEN_HARNESS;
	}
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		if (replay(dirfd(dir), entry->d_name) < 0)
			return BROKEN_HARNESS;
		count++;
	}
	printf("%zu inputs\n", count);
	return count > 0 ? 0 : BROKEN_HARNESS;
}
