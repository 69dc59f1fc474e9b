/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/recording/jit_frames.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/search.h"
#include "base/strbuf.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "proc/process/dir.h"
#include "proc/process/status.h"
#include "proc/system/foreign_file.h"

#define FILE_MAX (256 * (size_t)MIB)
#define NAME_MAX_BYTES 4096

/*
 * Records of a jitdump file, according to
 * tools/perf/Documentation/jitdump-specification.txt in the Linux sources.
 */
#define DUMP_MAGIC UINT32_C(0x4a695444)
#define DUMP_LOAD 0
#define DUMP_MOVE 1
#define DUMP_MIN_BYTES 40 /* size of the file header in bytes */

struct dump_record {
	uint32_t id, bytes;
	uint64_t time;
};

struct dump_load {
	uint32_t pid, tid;
	uint64_t vma, addr, code_bytes, index;
	/* NUL-terminated function name, followed by the code of the function */
	char name[];
};

struct dump_move {
	uint32_t pid, tid;
	uint64_t vma, old_addr, addr, code_bytes, index;
};

static int compare(const void *a, const void *b)
{
	const struct jit_address *left = a, *right = b;

	return (left->addr > right->addr) - (left->addr < right->addr);
}

/* Return the index of the first item whose address is at least addr. */
static size_t find_first(const struct jit_frames *frames, uint64_t addr)
{
	return SEARCH_FIRST(frames->count, i, frames->items[i].addr >= addr);
}

/*
 * An entry of a perf map or jitdump file, which names an address or a range of addresses.
 */
struct cover {
	const char *name; /* not NUL-terminated */
	uint32_t length;
	/* number of the entry in the file, starting at 1, or 0 if there is no entry */
	uint32_t order;
};

/*
 * A segment tree over the sorted addresses: item i is leaf count + i, and the parent of
 * node n is node n / 2. An entry is stored in the few nodes that together cover its
 * range. Among the entries in a leaf and its ancestors, the highest number belongs to the
 * last entry that covers the address.
 */
struct naming {
	struct jit_frames *frames;
	struct cover *tree;
	uint32_t entry_count;
};

struct named_item {
	const struct cover *cover;
	size_t item;
};

/*
 * Return the index of the first item whose address is at least addr,
 * and count the search steps.
 */
static size_t find_place(struct naming *naming, uint64_t addr)
{
	for (size_t left = naming->frames->count; left > 0; left /= 2)
		naming->frames->step_count++;
	return find_first(naming->frames, addr);
}

static void name_range(struct naming *naming, uint64_t start, uint64_t bytes,
		       const struct cover *name)
{
	struct cover cover = *name;
	size_t from, to;

	if (cover.length == 0 || bytes == 0)
		return;
	cover.order = ++naming->entry_count;
	from = find_place(naming, start);
	/* truncate a range that would wrap around at the end of the address space */
	to = start + bytes < start ? naming->frames->count
				   : find_place(naming, start + bytes);
	from += naming->frames->count;
	to += naming->frames->count;
	for (; from < to; from /= 2, to /= 2) {
		naming->frames->step_count++;
		if (from % 2)
			naming->tree[from++] = cover;
		if (to % 2)
			naming->tree[--to] = cover;
	}
}

static const struct cover *find_cover(struct naming *naming, size_t item)
{
	size_t node = naming->frames->count + item;
	const struct cover *last = &naming->tree[node];

	for (node /= 2; node > 0; node /= 2) {
		naming->frames->step_count++;
		if (naming->tree[node].order > last->order)
			last = &naming->tree[node];
	}
	return last;
}

static void name_begin(struct jit_frames *frames, struct naming *ret)
{
	*ret = (struct naming){ frames,
				xcalloc(2 * frames->count + 1, sizeof(*ret->tree)), 0 };
}

static int compare_names(const void *a, const void *b)
{
	uintptr_t left = (uintptr_t)((const struct named_item *)a)->cover->name;
	uintptr_t right = (uintptr_t)((const struct named_item *)b)->cover->name;

	return (left > right) - (left < right);
}

static const char *add_name(struct jit_frames *frames, const struct cover *cover)
{
	frames->names = xgrow(frames->names, &frames->name_capacity,
			      frames->name_count + 1, sizeof(*frames->names));
	frames->names[frames->name_count] = xstrndup(cover->name, cover->length);
	return frames->names[frames->name_count++];
}

/* Copy each name that at least one address uses. Copy a shared name only once. */
static void name_end(struct naming *naming)
{
	struct jit_frames *frames = naming->frames;
	_cleanup_free_ struct named_item *named =
		xcalloc(frames->count + 1, sizeof(*named));
	const char *copy = NULL;
	size_t count = 0;

	for (size_t i = 0; i < frames->count; i++) {
		const struct cover *cover = find_cover(naming, i);

		if (cover->order > 0)
			named[count++] = (struct named_item){ cover, i };
	}
	qsort(named, count, sizeof(*named), compare_names);
	for (size_t i = 0; i < count; i++) {
		frames->step_count++;
		if (i == 0 || named[i].cover->name != named[i - 1].cover->name)
			copy = add_name(frames, named[i].cover);
		frames->items[named[i].item].name = copy;
	}
	free(naming->tree);
}

static struct cover cover_of(const char *name, size_t room)
{
	size_t max = room < NAME_MAX_BYTES ? room : NAME_MAX_BYTES;

	return (struct cover){ .name = name, .length = (uint32_t)strnlen(name, max) };
}

/*
 * Parse hexadecimal digits followed by a space. Return the position after the space,
 * or NULL.
 */
static const char *parse_hex(const char *at, const char *end, uint64_t *ret)
{
	uint64_t value = 0;
	int digits = 0;

	if (end - at > 2 && at[0] == '0' && at[1] == 'x')
		at += 2;
	for (; at < end && *at != ' '; at++, digits++) {
		int digit = *at >= '0' && *at <= '9'   ? *at - '0'
			    : *at >= 'a' && *at <= 'f' ? *at - 'a' + 10
			    : *at >= 'A' && *at <= 'F' ? *at - 'A' + 10
						       : -1;

		if (digit < 0 || digits == 16)
			return NULL;
		value = value << 4 | (uint64_t)digit;
	}
	*ret = value;
	return at < end && digits > 0 ? at + 1 : NULL;
}

void jit_frames_parse_map(struct jit_frames *frames, const char *text, size_t length)
{
	const char *end = text + length, *next;
	struct naming naming;

	name_begin(frames, &naming);
	for (; text < end; text = next + (next < end)) {
		uint64_t start, bytes;
		struct cover cover;
		const char *name;

		next = memchr(text, '\n', (size_t)(end - text));
		if (!next)
			next = end;
		name = parse_hex(text, next, &start);
		name = name ? parse_hex(name, next, &bytes) : NULL;
		if (!name)
			continue;
		cover = cover_of(name, (size_t)(next - name));
		name_range(&naming, start, bytes, &cover);
	}
	name_end(&naming);
}

/*
 * Apply a "move" record of a jitdump file: assign the name of the code to its new
 * address. If the file does not contain the name, use the name from a file that was
 * parsed earlier, such as the perf map.
 */
static void move_range(struct naming *naming, const struct dump_move *move)
{
	const struct jit_frames *frames = naming->frames;
	size_t i = find_place(naming, move->old_addr);
	struct cover cover;

	if (i >= frames->count ||
	    frames->items[i].addr - move->old_addr >= move->code_bytes)
		return;
	cover = *find_cover(naming, i);
	if (cover.order == 0 && frames->items[i].name)
		cover = cover_of(frames->items[i].name, NAME_MAX_BYTES);
	name_range(naming, move->addr, move->code_bytes, &cover);
}

static void use_record(struct naming *naming, uint32_t id, const char *bytes,
		       size_t length)
{
	struct dump_load load;
	struct dump_move move;
	struct cover cover;

	if (id == DUMP_LOAD && length > sizeof(load)) {
		memcpy(&load, bytes, sizeof(load));
		cover = cover_of(bytes + sizeof(load), length - sizeof(load));
		name_range(naming, load.addr, load.code_bytes, &cover);
	} else if (id == DUMP_MOVE && length >= sizeof(move)) {
		memcpy(&move, bytes, sizeof(move));
		move_range(naming, &move);
	}
}

void jit_frames_parse_dump(struct jit_frames *frames, const char *bytes, size_t length)
{
	uint32_t magic, at;
	struct dump_record record;
	struct naming naming;

	if (length < DUMP_MIN_BYTES)
		return;
	memcpy(&magic, bytes, sizeof(magic));
	memcpy(&at, bytes + 8, sizeof(at));
	if (magic != DUMP_MAGIC || at < DUMP_MIN_BYTES)
		return;
	name_begin(frames, &naming);
	for (size_t i = at; i < length && length - i >= sizeof(record);
	     i += record.bytes) {
		memcpy(&record, bytes + i, sizeof(record));
		if (record.bytes < sizeof(record) || record.bytes > length - i)
			break;
		use_record(&naming, record.id, bytes + i + sizeof(record),
			   record.bytes - sizeof(record));
	}
	name_end(&naming);
}

/*
 * Return true if perf would use the file: it is not a symlink, and its owner is the
 * program's user, memstate's user, or root.
 */
static bool is_trusted(int root_fd, const char *path, int fd, uid_t uid)
{
	_cleanup_close_ int link = foreign_file_find(root_fd, path, true);
	struct stat st, link_st;

	return link >= 0 && fstat(link, &link_st) == 0 && fstat(fd, &st) == 0 &&
	       link_st.st_ino == st.st_ino && link_st.st_dev == st.st_dev &&
	       (st.st_uid == uid || st.st_uid == geteuid() || st.st_uid == 0);
}

/* Read the file into *out. Return 0, or -1 if no usable file exists. */
static int read_file(int root_fd, const char *path, uid_t uid, struct strbuf *out)
{
	_cleanup_close_ int fd = foreign_file_open(root_fd, path, FILE_MAX);

	if (fd < 0 || !is_trusted(root_fd, path, fd, uid))
		return -1;
	return io_read_all(fd, FILE_MAX, out);
}

static void add_addresses(const struct stacks *stacks, struct jit_frames *frames)
{
	size_t kept = 0, capacity = 0;

	for (size_t i = 1; i < stacks->node_count; i++) {
		const struct stack_node *node = &stacks->nodes[i];

		if (node->module != PROFILE_NO_MODULE || node->pc == STACK_PC_CUT)
			continue;
		frames->items = xgrow(frames->items, &capacity, frames->count + 1,
				      sizeof(*frames->items));
		frames->items[frames->count++] =
			(struct jit_address){ .addr = node->pc - 1 };
	}
	if (frames->count == 0)
		return;
	qsort(frames->items, frames->count, sizeof(*frames->items), compare);
	for (size_t i = 0; i < frames->count; i++)
		if (kept == 0 || frames->items[kept - 1].addr != frames->items[i].addr)
			frames->items[kept++] = frames->items[i];
	frames->count = kept;
}

/*
 * Append the path of the process's working directory or, if the process has ended, of
 * memstate's own working directory.
 */
static void add_cwd(int process_fd, struct strbuf *out)
{
	char cwd[4096];
	ssize_t length;

	if (process_fd < 0) {
		strbuf_add_text(out, getcwd(cwd, sizeof(cwd)) ? cwd : "");
		return;
	}
	length = proc_dir_read_link(process_fd, PROC_CWD, cwd, sizeof(cwd));
	strbuf_add(out, cwd, length > 0 ? (size_t)length : 0);
}

static void read_files(int pid, struct jit_frames *frames)
{
	_cleanup_strbuf_ struct strbuf bytes = STRBUF_INIT, path = STRBUF_INIT;
	_cleanup_close_ int process_fd = -1;
	_cleanup_close_ int own_root = -1;
	uid_t uid = geteuid();
	uint32_t number = 0;
	struct stat st;
	int root_fd;

	process_fd = proc_dir_open_live(pid);
	if (process_fd >= 0 && fstat(process_fd, &st) == 0) {
		uid = st.st_uid;
		number = proc_status_read_own_number(process_fd, 0);
		own_root =
			proc_dir_open_file(process_fd, PROC_ROOT, O_PATH | O_DIRECTORY);
	}
	root_fd = own_root >= 0 ? FOREIGN_ROOT_OF(process_fd) : FOREIGN_OWN_ROOT;
	number = number ? number : (uint32_t)pid;
	strbuf_addf(&path, "/tmp/perf-%u.map", number);
	if (read_file(root_fd, path.text, uid, &bytes) == 0)
		jit_frames_parse_map(frames, strbuf_text(&bytes), bytes.length);
	for (int in_cwd = 0; in_cwd < 2; in_cwd++) {
		strbuf_clear(&path);
		strbuf_clear(&bytes);
		if (in_cwd)
			add_cwd(process_fd, &path);
		else
			strbuf_add_text(&path, "/tmp");
		strbuf_addf(&path, "/jit-%u.dump", number);
		if (read_file(root_fd, path.text, uid, &bytes) == 0)
			jit_frames_parse_dump(frames, strbuf_text(&bytes), bytes.length);
	}
}

void jit_frames_read(const struct stacks *stacks, struct jit_frames *ret)
{
	*ret = (struct jit_frames){ 0 };
	add_addresses(stacks, ret);
	if (ret->count > 0)
		read_files(stacks->pid, ret);
}

const char *jit_frames_find(const struct jit_frames *frames, uint64_t addr)
{
	size_t i = find_first(frames, addr);

	return i < frames->count && frames->items[i].addr == addr ? frames->items[i].name
								  : NULL;
}

void jit_frames_release(struct jit_frames *frames)
{
	for (size_t i = 0; i < frames->name_count; i++)
		free(frames->names[i]);
	free(frames->names);
	free(frames->items);
	*frames = (struct jit_frames){ 0 };
}
