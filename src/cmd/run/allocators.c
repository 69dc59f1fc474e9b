/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/run/allocators.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/xalloc.h"

#define CONF_MAX_BYTES 65536
#define CONF_MAX_NESTING 4

/* Settings from the glibc manual, "Memory Allocation Tunables", up to version 2.42. */
static const char *const glibc_settings[] = {
	"arena_max",
	"arena_test",
	"check",
	"hugetlb",
	"mmap_max",
	"mmap_threshold",
	"mxfast",
	"perturb",
	"tcache_count",
	"tcache_max",
	"tcache_unsorted_limit",
	"top_pad",
	"trim_threshold",
	NULL,
};

/* Settings from jemalloc(3), "TUNING", versions 3 to 5.3. */
static const char *const jemalloc_settings[] = {
	"abort",
	"abort_conf",
	"background_thread",
	"cache_oblivious",
	"confirm_conf",
	"decay_time",
	"dirty_decay_ms",
	"dss",
	"hpa",
	"junk",
	"lg_chunk",
	"lg_dirty_mult",
	"lg_extent_max_active_fit",
	"lg_tcache_max",
	"max_background_threads",
	"metadata_thp",
	"muzzy_decay_ms",
	"narenas",
	"oversize_threshold",
	"percpu_arena",
	"purge",
	"quarantine",
	"redzone",
	"retain",
	"stats_print",
	"stats_print_opts",
	"tcache",
	"tcache_max",
	"thp",
	"trust_madvise",
	"utrace",
	"xmalloc",
	"zero",
	"zero_realloc",
	NULL,
};

/*
 * Settings from "TCMalloc: Tuning" in gperftools' docs/tcmalloc.html, and other variables
 * that version 2.10 reads.
 */
static const char *const tcmalloc_settings[] = {
	"aggressive_decommit",
	"disable_memory_release",
	"heap_limit_mb",
	"large_alloc_report_threshold",
	"max_total_thread_cache_bytes",
	"memfs_abort_on_fail",
	"memfs_disable_fallback",
	"memfs_ignore_mmap_fail",
	"memfs_limit_mb",
	"memfs_malloc_path",
	"memfs_map_private",
	"override_pagesize",
	"release_rate",
	"sample_parameter",
	"skip_mmap",
	"skip_sbrk",
	NULL,
};

/* Settings from mi_option_t in mimalloc.h, versions 1.6 to 3.0. */
static const char *const mimalloc_settings[] = {
	"abandoned_page_purge",
	"abandoned_page_reset",
	"abandoned_reclaim_on_free",
	"allow_decommit",
	"allow_large_os_pages",
	"allow_thp",
	"arena_eager_commit",
	"arena_purge_mult",
	"arena_reserve",
	"decommit_delay",
	"decommit_extend_delay",
	"deprecated_reset_delay",
	"destroy_on_exit",
	"disallow_arena_alloc",
	"disallow_os_alloc",
	"eager_commit",
	"eager_commit_delay",
	"eager_region_commit",
	"large_os_pages",
	"limit_os_alloc",
	"max_errors",
	"max_segment_reclaim",
	"max_warnings",
	"minimal_purge_size",
	"os_tag",
	"page_full_retain",
	"page_reset",
	"purge_decommits",
	"purge_delay",
	"purge_extend_delay",
	"reserve_huge_os_pages",
	"reserve_huge_os_pages_at",
	"reserve_os_memory",
	"reset_decommits",
	"reset_delay",
	"segment_cache",
	"segment_decommit_delay",
	"segment_reset",
	"show_errors",
	"show_stats",
	"target_segments_per_thread",
	"use_numa_nodes",
	"verbose",
	"visit_abandoned",
	NULL,
};

static const struct known_allocator allocators[] = {
	{ "glibc", ALLOCATOR_GLIBC, "libc.so.6", "libc6 (Debian, Ubuntu), glibc (others)",
	  "GLIBC_TUNABLES", "glibc.malloc.", '=', ':', true, glibc_settings },
	{ "jemalloc", ALLOCATOR_JEMALLOC, "libjemalloc.so",
	  "libjemalloc2 (Debian, Ubuntu, openSUSE), jemalloc (Fedora, Arch, Alpine)",
	  "MALLOC_CONF", "", ':', ',', false, jemalloc_settings },
	{ "tcmalloc", ALLOCATOR_TCMALLOC, "libtcmalloc.so",
	  "libgoogle-perftools4 or ...4t64 (Debian, Ubuntu), gperftools-libs (Fedora), gperftools "
	  "(Arch, Alpine), libtcmalloc4 (openSUSE)",
	  NULL, "TCMALLOC_", '=', 0, false, tcmalloc_settings },
	{ "tcmalloc_minimal", ALLOCATOR_TCMALLOC, "libtcmalloc_minimal.so",
	  "libtcmalloc-minimal4 or ...4t64 (Debian, Ubuntu), gperftools-libs (Fedora), gperftools "
	  "(Arch, Alpine), libtcmalloc_minimal4 (openSUSE)",
	  NULL, "TCMALLOC_", '=', 0, false, tcmalloc_settings },
	{ "mimalloc", ALLOCATOR_MIMALLOC, "libmimalloc.so",
	  "libmimalloc2.0 or libmimalloc3 (Debian, Ubuntu), mimalloc (Fedora, Arch), mimalloc2 "
	  "(Alpine), libmimalloc2 (openSUSE)",
	  NULL, "MIMALLOC_", '=', 0, false, mimalloc_settings },
};

#define ALLOCATOR_TABLE_COUNT (sizeof(allocators) / sizeof(allocators[0]))

const struct known_allocator *allocators_find(const char *name, size_t length)
{
	for (size_t i = 0; i < ALLOCATOR_TABLE_COUNT; i++)
		if (strlen(allocators[i].name) == length &&
		    memcmp(allocators[i].name, name, length) == 0)
			return &allocators[i];
	return NULL;
}

const struct known_allocator *allocators_guess(const char *path)
{
	const char *name = strrchr(path, '/');

	name = name ? name + 1 : path;
	for (size_t i = 0; i < ALLOCATOR_TABLE_COUNT; i++)
		if (strncmp(name, allocators[i].file, strlen(allocators[i].file)) == 0)
			return &allocators[i];
	return NULL;
}

void allocators_add_names(struct strbuf *out)
{
	for (size_t i = 0; i < ALLOCATOR_TABLE_COUNT; i++)
		strbuf_addf(out, "%s%s", i > 0 ? ", " : "", allocators[i].name);
}

/*
 * State of a search for a library. The best library is the newest version for this
 * machine, in the first folder that contains a library for this machine.
 */
struct search {
	const char *root;
	const struct known_allocator *known;
	const struct machine *machine;
	/*
	 * path of the best library so far, and path of a library for another machine type
	 */
	char *found, *other;
};

static bool has_version_suffix(const struct search *search, const char *path)
{
	const char *end = strrchr(path, '/') + 1 + strlen(search->known->file);

	/*
	 * accept version suffixes such as ".2": "libjemalloc.so.2", but
	 * not "libjemalloc.so-old"
	 */
	return *end == '\0' || (*end == '.' && end[strspn(end, ".0123456789")] == '\0');
}

static void add_candidate(struct search *search, const char *path, char **best)
{
	struct machine machine;

	if (!has_version_suffix(search, path) || machine_read(path, &machine) < 0)
		return;
	if (!machine_is_same(&machine, search->machine)) {
		if (!search->other)
			search->other = xstrdup(path);
	} else if (!*best || strverscmp(path, *best) > 0) {
		free(*best);
		*best = xstrdup(path);
	}
}

/*
 * Search a folder below the root for the library. The name of the folder may
 * contain wildcards.
 */
static void search_folder(struct search *search, const char *folder)
{
	_cleanup_strbuf_ struct strbuf pattern = STRBUF_INIT;
	glob_t files;

	if (search->found || folder[0] != '/')
		return;
	strbuf_addf(&pattern, "%s%s/%s*", search->root, folder, search->known->file);
	if (glob(strbuf_text(&pattern), GLOB_NOSORT, NULL, &files) != 0)
		return;
	for (size_t i = 0; i < files.gl_pathc; i++)
		add_candidate(search, files.gl_pathv[i], &search->found);
	globfree(&files);
}

static void search_conf(struct search *search, const char *path, int nesting);

/*
 * Read the files named by an "include" line of ld.so.conf. A pattern such as
 * "ld.so.conf.d/..." is relative to /etc, the folder of ld.so.conf.
 */
static void search_included(struct search *search, const char *pattern, int nesting)
{
	_cleanup_strbuf_ struct strbuf full = STRBUF_INIT;
	glob_t files;

	strbuf_addf(&full, "%s%s%s", search->root, pattern[0] == '/' ? "" : "/etc/",
		    pattern);
	if (nesting == CONF_MAX_NESTING || glob(strbuf_text(&full), 0, NULL, &files) != 0)
		return;
	for (size_t i = 0; i < files.gl_pathc; i++)
		search_conf(search, files.gl_pathv[i], nesting + 1);
	globfree(&files);
}

/*
 * Search the folders listed in a file in the format of ld.so.conf(5). Sample
 * lines: "/usr/local/lib", "include /etc/ld.so.conf.d/?*.conf", "# a comment",
 * "hwcap 1 nosegneg".
 */
static void search_conf(struct search *search, const char *path, int nesting)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	char *rest, *line;

	if (io_read_file_at(AT_FDCWD, path, CONF_MAX_BYTES, &text) < 0 ||
	    text.length == 0)
		return;
	rest = text.text;
	while ((line = strsep(&rest, "\n"))) {
		line[strcspn(line, "#")] = '\0';
		line += strspn(line, " \t");
		if (strncmp(line, "include", 7) == 0 && line[7] &&
		    strchr(" \t", line[7])) {
			char *pattern = line + 7 + strspn(line + 7, " \t");

			pattern[strcspn(pattern, " \t\r")] = '\0';
			search_included(search, pattern, nesting);
		} else {
			line[strcspn(line, " \t\r=")] = '\0';
			search_folder(search, line);
		}
	}
}

int allocators_find_library(const char *root, const struct known_allocator *known,
			    const struct machine *machine, char **ret_path)
{
	static const char *const folders[] = {
		"/usr/local/lib",     "/usr/local/lib/*-linux-*",
		"/usr/local/lib64",   "/lib/*-linux-*",
		"/usr/lib/*-linux-*", "/lib64",
		"/usr/lib64",	      "/lib",
		"/usr/lib",	      "/lib32",
		"/usr/lib32",	      "/libx32",
		"/usr/libx32",
	};
	struct search search = { .root = root, .known = known, .machine = machine };
	_cleanup_strbuf_ struct strbuf conf = STRBUF_INIT;

	strbuf_addf(&conf, "%s/etc/ld.so.conf", root);
	search_conf(&search, strbuf_text(&conf), 0);
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		search_folder(&search, folders[i]);
	if (search.found) {
		free(search.other);
		*ret_path = search.found;
		return 0;
	}
	if (!search.other)
		return -ENOENT;
	*ret_path = search.other;
	return -ENOEXEC;
}
