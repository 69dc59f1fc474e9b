/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "store/profile/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "../../support/unit.h"

static char path[] = "profile-XXXXXX";

static int load(const void *bytes, size_t length, struct profile *ret, struct strbuf *why)
{
	assert_int_equal(io_write_file_atomic(path, bytes, length, 0600), 0);
	strbuf_clear(why);
	return profile_load(path, PROFILE_BYTES, ret, why);
}

static void folded_stacks_are_read(void **state)
{
	static const char text[] = "# made by hand\n"
				   "main;operator new(unsigned long);malloc 12\n"
				   "\n"
				   "main;operator new(unsigned long) 30\r\n"
				   "[cut];main 0\n"
				   "main;operator new(unsigned long);malloc 100";
	_cleanup_strbuf_ struct strbuf why = STRBUF_INIT;
	struct profile p;

	(void)state;
	assert_int_equal(load(text, sizeof(text) - 1, &p, &why), 0);
	assert_int_equal(p.known, 1 << PROFILE_BYTES);
	assert_int_equal(p.node_count, 6);
	assert_string_equal(p.frames[p.nodes[1].frame].function, "main");
	assert_string_equal(p.frames[p.nodes[2].frame].function,
			    "operator new(unsigned long)");
	assert_string_equal(p.frames[p.nodes[3].frame].function, "malloc");
	assert_int_equal(p.nodes[3].values[PROFILE_BYTES], 112);
	assert_int_equal(p.nodes[2].values[PROFILE_BYTES], 30);
	assert_int_equal(p.frames[p.nodes[4].frame].kind, FRAME_CUT);
	assert_int_equal(p.nodes[5].parent, 4);
	profile_release(&p);
}

static void malformed_stacks_are_refused_with_the_line(void **state)
{
	static const struct {
		const char *text, *why;
		int r;
	} cases[] = {
		{ "", "is empty", -ENODATA },
		{ "# nothing\n", "has no stacks", -ENODATA },
		{ "a;b 1\na;b\n",
		  "line 2: does not end with a number, as in \"main;f 12\"", -EBADMSG },
		{ " 12\n", "line 1: does not end with a number, as in \"main;f 12\"",
		  -EBADMSG },
		{ "a 12 \n", "line 1: does not end with a number, as in \"main;f 12\"",
		  -EBADMSG },
		{ "a -1\n", "line 1: does not end with a number, as in \"main;f 12\"",
		  -EBADMSG },
		{ "a 9223372036854775807\nb 1\n",
		  "line 2: the sum of all numbers is too large", -EBADMSG },
	};
	_cleanup_strbuf_ struct strbuf why = STRBUF_INIT;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct profile p = { .pid = 4711 };

		assert_int_equal(load(cases[i].text, strlen(cases[i].text), &p, &why),
				 cases[i].r);
		assert_string_equal(why.text, cases[i].why);
		assert_int_equal(p.pid, 4711); /* the profile is untouched */
	}
}

static bool is_same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static bool is_same_frame(const struct profile *p, const struct profile_frame *a,
			  const struct profile *q, const struct profile_frame *b)
{
	if ((a->module == PROFILE_NO_MODULE) != (b->module == PROFILE_NO_MODULE))
		return false;
	if (a->module != PROFILE_NO_MODULE) {
		const struct profile_module *m = &p->modules[a->module];
		const struct profile_module *n = &q->modules[b->module];

		if (strcmp(m->path, n->path) != 0 || m->start != n->start ||
		    m->end != n->end || m->file_offset != n->file_offset ||
		    m->build_id_bytes != n->build_id_bytes ||
		    memcmp(m->build_id, n->build_id, m->build_id_bytes) != 0)
			return false;
	}
	return is_same_text(a->function, b->function) && is_same_text(a->file, b->file) &&
	       a->line == b->line && a->vaddr == b->vaddr &&
	       a->is_inlined == b->is_inlined && a->kind == b->kind;
}

/* Return the child of parent that equals `node` of the profile `from`, or 0. */
static uint32_t find_child(const struct profile *p, uint32_t parent,
			   const struct profile *from, uint32_t node)
{
	for (uint32_t i = 1; i < p->node_count; i++)
		if (p->nodes[i].parent == parent &&
		    is_same_frame(from, &from->frames[from->nodes[node].frame], p,
				  &p->frames[p->nodes[i].frame]))
			return i;
	return 0;
}

static void assert_same(const struct profile *p, const struct profile *q)
{
	uint32_t nodes[64] = { 0 };

	assert_int_equal(p->known, q->known);
	assert_int_equal(p->sample_bytes, q->sample_bytes);
	assert_int_equal(p->sample_count, q->sample_count);
	assert_int_equal(p->cut_count, q->cut_count);
	assert_int_equal(p->lost_count, q->lost_count);
	assert_int_equal(p->unix_ms, q->unix_ms);
	assert_int_equal(p->elapsed_ns, q->elapsed_ns);
	assert_int_equal(p->pid, q->pid);
	assert_true(is_same_text(p->command, q->command));
	assert_int_equal(p->node_count, q->node_count);
	assert_true(p->node_count < 64);
	for (uint32_t i = 0; i < p->node_count; i++) {
		if (i > 0)
			nodes[i] = find_child(q, nodes[p->nodes[i].parent], p, i);
		assert_true(i == 0 || nodes[i] != 0);
		assert_memory_equal(p->nodes[i].values, q->nodes[nodes[i]].values,
				    sizeof(p->nodes[i].values));
	}
}

static uint32_t add(struct profile *p, uint32_t parent, const struct profile_frame *frame)
{
	return profile_add_node(p, parent, profile_add_frame(p, frame));
}

static void make_facts(struct profile *p)
{
	p->nodes[0].values[PROFILE_BYTES] = 2; /* belongs to no stack */
	p->known = (1U << PROFILE_METRIC_COUNT_) - 1;
	p->sample_bytes = 524288;
	p->sample_count = 11;
	p->cut_count = 9;
	p->lost_count = 4;
	p->unix_ms = 1766000000123;
	p->elapsed_ns = 1234567890;
	p->command = profile_string(p, "./a --with 'blanks'");
	p->pid = 4242;
}

/* Make a profile that uses every feature of a profile. */
static void make(struct profile *p)
{
	struct profile_module module = {
		.path = "/bin/a",
		.start = 0x555555556000,
		.end = 0x555555559000,
		.file_offset = 0x2000,
		.build_id = { 0x01, 0xff, 0x80 },
		.build_id_bytes = 3,
	};
	struct profile_frame frame = { .function = "main",
				       .file = "/src/a.c",
				       .line = 12 };
	uint32_t main_node, node;

	profile_init(p);
	frame.module = profile_add_module(p, &module);
	frame.vaddr = 0x2345;
	main_node = add(p, 0, &frame);
	frame = (struct profile_frame){
		"ns::f<int>(int)", "/src/f.h", 4000000000, 0, 0x2400, false, FRAME_CODE
	};
	node = add(p, main_node, &frame);
	p->nodes[node].values[PROFILE_ALLOCATIONS] = 3;
	frame = (struct profile_frame){ "g", "/src/f.h", 7, 0, 0x2400, true, FRAME_CODE };
	node = add(p, node, &frame);
	frame.function = "h";
	node = add(p, node, &frame);
	p->nodes[node].values[PROFILE_ALLOCATIONS] = 10;
	p->nodes[node].values[PROFILE_BYTES] = 4096;
	/* another caller of the same code, without the inlined h */
	frame = (struct profile_frame){ .module = 0, .vaddr = 0x2999 };
	node = add(p, main_node, &frame);
	p->nodes[node].values[PROFILE_PEAK] = INT64_MAX - 1;
	frame = (struct profile_frame){
		"ns::f<int>(int)", "/src/f.h", 4000000000, 0, 0x2400, false, FRAME_CODE
	};
	node = add(p, node, &frame);
	frame = (struct profile_frame){ "g", "/src/f.h", 7, 0, 0x2400, true, FRAME_CODE };
	node = add(p, node, &frame);
	p->nodes[node].values[PROFILE_LIVE] = 1;
	module = (struct profile_module){ .path = "[vdso]",
					  .start = 0x7000,
					  .end = 0x8000 };
	frame = (struct profile_frame){ .module = profile_add_module(p, &module),
					.vaddr = 0x10 };
	node = add(p, main_node, &frame);
	p->nodes[node].values[PROFILE_TEMPORARY] = 5;
	frame = (struct profile_frame){ .module = PROFILE_NO_MODULE, .vaddr = 0x123456 };
	node = add(p, 0, &frame);
	p->nodes[node].values[PROFILE_LIVE_BLOCKS] = 8;
	frame = (struct profile_frame){ .module = PROFILE_NO_MODULE, .kind = FRAME_CUT };
	node = add(p, 0, &frame);
	frame = (struct profile_frame){ .function = "deep", .module = PROFILE_NO_MODULE };
	node = add(p, node, &frame);
	p->nodes[node].values[PROFILE_BYTES] = 9;
	make_facts(p);
}

static void save(const struct profile *p)
{
	_cleanup_strbuf_ struct strbuf why = STRBUF_INIT;

	if (!HAVE_PPROF) {
		assert_int_equal(profile_save(path, p, &why), -EOPNOTSUPP);
		assert_non_null(strstr(why.text, "protobuf-c"));
		skip();
	}
	assert_int_equal(profile_save(path, p, &why), 0);
	assert_int_equal(why.length, 0);
}

static void a_saved_profile_is_loaded_unchanged(void **state)
{
	_cleanup_strbuf_ struct strbuf why = STRBUF_INIT;
	struct profile made, loaded;

	(void)state;
	make(&made);
	save(&made);
	assert_int_equal(profile_load(path, PROFILE_ALLOCATIONS, &loaded, &why), 0);
	assert_same(&made, &loaded);
	assert_same(&loaded, &made);
	profile_release(&loaded);
	profile_release(&made);
}

static void an_empty_profile_can_be_saved_and_loaded(void **state)
{
	_cleanup_strbuf_ struct strbuf why = STRBUF_INIT;
	struct profile made, loaded;

	(void)state;
	profile_init(&made);
	profile_begin(&made);
	made.known = 1 << PROFILE_BYTES;
	save(&made);
	assert_int_equal(profile_load(path, PROFILE_ALLOCATIONS, &loaded, &why), 0);
	assert_same(&made, &loaded);
	profile_release(&loaded);
	profile_release(&made);
}

static void saving_a_profile_twice_gives_the_same_bytes(void **state)
{
	_cleanup_strbuf_ struct strbuf first = STRBUF_INIT, second = STRBUF_INIT;
	struct profile made;

	(void)state;
	make(&made);
	save(&made);
	assert_int_equal(io_read_file_at(AT_FDCWD, path, 1 << 20, &first), 0);
	save(&made);
	assert_int_equal(io_read_file_at(AT_FDCWD, path, 1 << 20, &second), 0);
	assert_int_equal(first.length, second.length);
	assert_memory_equal(first.text, second.text, first.length);
	profile_release(&made);
}

static void a_damaged_file_is_refused_and_does_no_harm(void **state)
{
	_cleanup_strbuf_ struct strbuf whole = STRBUF_INIT, why = STRBUF_INIT;
	struct profile made, loaded;

	(void)state;
	make(&made);
	save(&made);
	profile_release(&made);
	assert_int_equal(io_read_file_at(AT_FDCWD, path, 1 << 20, &whole), 0);
	for (size_t length = 3; length < whole.length; length++)
		assert_int_equal(load(whole.text, length, &loaded, &why), -EBADMSG);
	assert_string_equal(why.text, "is gzipped, but damaged");
	for (size_t i = 10; i < whole.length; i++) {
		whole.text[i] ^= 0x55;
		assert_int_equal(load(whole.text, whole.length, &loaded, &why), -EBADMSG);
		whole.text[i] ^= 0x55;
	}
	assert_int_equal(load("\x0a\x02\x00\xff", 4, &loaded, &why), -EBADMSG);
}

static void a_full_disk_is_reported(void **state)
{
	_cleanup_strbuf_ struct strbuf why = STRBUF_INIT;
	struct profile made;

	(void)state;
	make(&made);
	save(&made); /* skips the test without protobuf-c */
	assert_int_equal(profile_save("/dev/full", &made, &why), -ENOSPC);
	assert_string_equal(why.text, "No space left on device");
	strbuf_clear(&why);
	assert_int_equal(profile_save("/nowhere/p", &made, &why), -ENOENT);
	profile_release(&made);
}

static void the_reason_why_a_file_is_unreadable_is_reported(void **state)
{
	_cleanup_strbuf_ struct strbuf why = STRBUF_INIT;
	struct profile p;

	(void)state;
	assert_int_equal(profile_load("/nowhere/p", PROFILE_BYTES, &p, &why), -ENOENT);
	assert_string_equal(why.text, "No such file or directory");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(folded_stacks_are_read),
		cmocka_unit_test(malformed_stacks_are_refused_with_the_line),
		cmocka_unit_test(a_saved_profile_is_loaded_unchanged),
		cmocka_unit_test(an_empty_profile_can_be_saved_and_loaded),
		cmocka_unit_test(saving_a_profile_twice_gives_the_same_bytes),
		cmocka_unit_test(a_damaged_file_is_refused_and_does_no_harm),
		cmocka_unit_test(a_full_disk_is_reported),
		cmocka_unit_test(the_reason_why_a_file_is_unreadable_is_reported),
	};
	int fd = mkstemp(path), r;

	if (fd < 0)
		return 99;
	close(fd);
	r = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return r;
}
