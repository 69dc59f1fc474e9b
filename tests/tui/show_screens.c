/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * show_screens - print the screen after some keys as text, without a terminal or a clock.
 *
 *   show_screens FIXTURES CASE.keys
 *
 * The case's first line names the screens to show, such as "80x24 80x24-ascii". With
 * "-dark", "-light", "-dark8" or "-light8", it has that theme's 256 or 8 colours. With
 * "pid N" in it, one process is the target. With "replay" the screens show a recording of
 * both trees, one after the other, with two samples a second; every tenth sample has no
 * mappings. With "highlight", the recording opens at its most interesting sample; with
 * "eventless", it has no events. The remaining words are keys by name, and
 *
 *   later          read again, from FIXTURES/system-later
 *   earlier        read again, from FIXTURES/system, the first tree
 *   type:TEXT      send each character as a key
 *   click:X,Y      wheel:up    wheel:down
 *   resize:WxH
 *   heap:reading   the process's heap is being read, for 0.4 s
 *   heap:marking   the search for leaks has reached 42%
 *   heap:NAME      the heap was read 3 s ago, with the result NAME of heap_fixture.h
 *   group:NAME     every process is in the group NAME of group_fixture.h
 *   again:N        read again N times
 *   show           show the screen now, and continue
 */
#include "config.h"

#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/num.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "colored_text.h"
#include "group_fixture.h"
#include "heap_fixture.h"
#include "recording_fixture.h"
#include "sample/recording/replay.h"
#include "ui/state.h"

/* Later than any machine's uptime, so that the real clock adds no gaps. */
#define FIRST_NS (UINT64_C(1) << 60)
#define AGE_NS (200 * NS_PER_MS)
#define COST_NS RECORDED_COST_NS
#define WORDS_MAX 256

static bool opens_at_highlight, has_no_events;

struct stage {
	struct ui ui;
	struct ui_options options;
	struct targets targets;
	struct target_pid target;
	struct procfs fs;
	struct canvas canvas;
	const char *fixtures;
	int width, height;
	bool ascii;
	const char *colors; /* "dark", "light", "dark8" or "light8"; NULL: plain text */
	uint64_t now_ns;
	bool is_replayed;
	struct made_group group;
};

static void open_tree(struct stage *s, const char *name)
{
	_cleanup_strbuf_ struct strbuf path = STRBUF_INIT;

	procfs_release(&s->fs);
	strbuf_addf(&path, "%s/%s", s->fixtures, name);
	if (procfs_open(&s->fs, path.text) < 0)
		broken("cannot open", path.text);
}

/*
 * Replace the times, which differ from run to run: read k was
 * taken k seconds after the first.
 */
static void set_times(struct stage *s)
{
	struct data *d = &s->ui.data;
	struct snapshot *processes = (struct snapshot *)d->processes;

	for (size_t i = 0; i < d->history.count; i++)
		d->history.items[i].taken_ns = FIRST_NS + i * NS_PER_S;
	d->history.start.taken_ns = FIRST_NS;
	for (size_t i = 0; i < d->detail.count; i++)
		d->detail.usages[i].taken_ns = s->now_ns - AGE_NS;
	processes->taken_ns = s->now_ns - AGE_NS;
	d->detail.taken_ns = s->now_ns - AGE_NS;
	d->cost_ns = COST_NS;
	d->group.taken_ns = s->now_ns - AGE_NS;
	d->group.cost_ns = COST_NS;
}

static void refresh(struct stage *s)
{
	ui_refresh(&s->ui, UINT64_MAX / 2);
	if (!s->is_replayed)
		set_times(s);
}

static void draw(struct stage *s)
{
	s->canvas.is_colored = !s->ascii && s->ui.theme != THEME_MONO;
	canvas_begin(&s->canvas, s->width, s->height, s->ascii);
	ui_draw(&s->ui, &s->canvas, s->now_ns);
}

static void show(struct stage *s, const char *title)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	draw(s);
	strbuf_addf(&text, "==== %s\n", title);
	if (!s->colors)
		canvas_add_text(&s->canvas, &text);
	else if (!colored_text_add(&text, &s->canvas, s->colors))
		broken("no such theme", s->colors);
	fwrite(text.text, 1, text.length, stdout);
}

static void parse_pair(const char *text, const char *between, int *ret_a, int *ret_b)
{
	char *copy = xstrdup(text);
	char *second = strpbrk(copy, between);
	uint64_t a = 0, b = 0;

	if (second)
		*second++ = '\0';
	if (!second || num_parse_u64(copy, &a) < 0 || num_parse_u64(second, &b) < 0)
		broken("not two numbers", text);
	*ret_a = (int)a;
	*ret_b = (int)b;
	free(copy);
}

static void read_tree(struct stage *s, const char *name)
{
	open_tree(s, name);
	s->now_ns += NS_PER_S;
	if (!s->ui.is_paused)
		refresh(s);
}

static void do_later(struct stage *s, const char *arg)
{
	(void)arg;
	read_tree(s, "system-later");
}

static void do_earlier(struct stage *s, const char *arg)
{
	(void)arg;
	read_tree(s, "system");
}

static void do_show(struct stage *s, const char *arg)
{
	(void)arg;
	show(s, "then");
}

static void do_type(struct stage *s, const char *arg)
{
	for (; *arg; arg++)
		ui_key(&s->ui, *arg == '_' ? ' ' : (uint32_t)*arg);
}

static void do_click(struct stage *s, const char *arg)
{
	int x, y;

	parse_pair(arg, ",", &x, &y);
	ui_mouse(&s->ui, x, y, MOUSE_CLICK);
}

static void do_wheel(struct stage *s, const char *arg)
{
	ui_mouse(&s->ui, 1, 8,
		 strcmp(arg, "up") == 0 ? MOUSE_WHEEL_UP : MOUSE_WHEEL_DOWN);
}

static void do_resize(struct stage *s, const char *arg)
{
	parse_pair(arg, "x", &s->width, &s->height);
}

/* No thread runs here: set the findings that a thread would produce. */
static void do_heap(struct stage *s, const char *arg)
{
	struct data *d = &s->ui.data;
	struct heap_findings findings;

	if (!data_detail(d))
		broken("no process is open", arg);
	if (strcmp(arg, "reading") == 0 || strcmp(arg, "marking") == 0) {
		d->heap.is_wanted = false;
		d->heap.is_reading = true;
		d->heap.reading_wishes = d->heap.wishes;
		d->heap.progress_per_mille = arg[0] == 'm' ? 424 : -1;
		d->heap.began_ns = s->now_ns - 400 * NS_PER_MS;
		return;
	}
	if (!heap_fixture_make(arg, d, s->now_ns - 3 * NS_PER_S, &findings))
		broken("no such heap", arg);
	d->heap.is_wanted = false;
	d->heap.wishes = 0;
	data_heap_set(d, &findings);
	read_tree(s, "system");
}

static void do_group(struct stage *s, const char *arg)
{
	made_group_begin(&s->group, arg, &s->ui.data, FIRST_NS);
}

static void do_again(struct stage *s, const char *arg)
{
	uint64_t count;

	if (num_parse_u64(arg, &count) < 0)
		broken("not a number", arg);
	for (uint64_t i = 0; i < count; i++)
		read_tree(s, "system");
}

static const struct {
	const char *name;
	void (*run)(struct stage *s, const char *arg);
} deeds[] = {
	{ "later", do_later },	  { "earlier", do_earlier }, { "show", do_show },
	{ "type:", do_type },	  { "click:", do_click },    { "wheel:", do_wheel },
	{ "resize:", do_resize }, { "heap:", do_heap },	     { "group:", do_group },
	{ "again:", do_again },
};

static void play(struct stage *s, const char *word)
{
	uint32_t key;

	for (size_t i = 0; i < sizeof(deeds) / sizeof(deeds[0]); i++) {
		size_t length = strlen(deeds[i].name);

		if (strncmp(word, deeds[i].name, length) == 0 && length > 1 &&
		    (word[length] == '\0' || deeds[i].name[length - 1] == ':')) {
			deeds[i].run(s, word + length);
			draw(s);
			return;
		}
	}
	key = keymap_parse_key(word);
	if (key == KEY_NONE)
		broken("no such key", word);
	ui_key(&s->ui, key);
	if (s->ui.wants_refresh && ui_due_ns(&s->ui) == 0)
		refresh(s);
	draw(s);
}

static void open_recording(struct stage *s, const char *folder)
{
	_cleanup_strbuf_ struct strbuf path = STRBUF_INIT;

	strbuf_addf(&path, "%s/r", folder);
	if (replay_open(path.text, &s->options.replay) < 0)
		broken("cannot open", path.text);
	s->options.replay_index = RECORDED_SAMPLES - 1;
	s->options.opens_at_highlight = opens_at_highlight;
	s->options.is_live = false;
}

/* folder: the folder of the recording, or NULL to read the trees. */
static void begin(struct stage *s, const char *fixtures, int pid, const char *folder)
{
	*s = (struct stage){ .fixtures = fixtures,
			     .fs = PROCFS_INIT,
			     .is_replayed = folder != NULL };
	s->target.pid = pid;
	if (pid > 0)
		s->targets = (struct targets){ .pids = &s->target, .pid_count = 1 };
	open_tree(s, "system");
	s->options = (struct ui_options){
		.sampler = sampler_new(&s->fs, false),
		.targets = &s->targets,
		.interval_ns = NS_PER_S,
		.max_share_per_mille = 1000,
		.is_live = true,
		.fs = &s->fs,
		.output_fd = -1,
	};
	s->now_ns = FIRST_NS + AGE_NS;
	if (folder)
		open_recording(s, folder);
	canvas_init(&s->canvas);
	ui_init(&s->ui, &s->options);
}

static void end(struct stage *s)
{
	ui_release(&s->ui);
	made_group_release(&s->group);
	canvas_release(&s->canvas);
	replay_close(s->options.replay);
	sampler_free((struct sampler *)s->options.sampler);
	procfs_release(&s->fs);
}

static void run_case(const char *fixtures, const char *size, int pid, const char *folder,
		     char **words)
{
	struct stage s;

	begin(&s, fixtures, pid, folder);
	s.ascii = strstr(size, "-ascii") != NULL;
	s.colors = strchr(size, '-') && !s.ascii ? strchr(size, '-') + 1 : NULL;
	s.ui.theme = s.colors && s.colors[0] == 'l' ? THEME_LIGHT : THEME_DARK;
	if (sscanf(size, "%dx%d", &s.width, &s.height) != 2)
		broken("not a size", size);
	draw(&s);
	refresh(&s);
	draw(&s);
	for (; *words; words++)
		play(&s, *words);
	show(&s, size);
	end(&s);
}

/* Split a line into words, in place. */
static void split(char *line, char **ret_words)
{
	size_t count = 0;
	char *word;

	while ((word = strsep(&line, " \t\n")))
		if (word[0] != '\0' && count + 1 < WORDS_MAX)
			ret_words[count++] = word;
	ret_words[count] = NULL;
}

/* Return false if the word is not about the recording. */
static bool take_word(const char *word, bool *is_replayed)
{
	bool *const switches[] = { is_replayed, &opens_at_highlight, &has_no_events };
	static const char *const words[] = { "replay", "highlight", "eventless" };

	for (size_t i = 0; i < 3; i++)
		if (strcmp(word, words[i]) == 0) {
			*switches[i] = true;
			return true;
		}
	return false;
}

int main(int argc, char **argv)
{
	char text[8192], *rest;
	char *head[WORDS_MAX] = { NULL }, *keys[WORDS_MAX] = { NULL };
	char folder[RECORDING_FOLDER_SIZE] = "/tmp/screens.XXXXXX";
	bool is_replayed = false;
	uint64_t pid = 0;
	FILE *f;

	if (argc != 3)
		broken("usage", "show_screens FIXTURES CASE.keys");
	if (!setlocale(LC_CTYPE, "C.UTF-8")) {
		fprintf(stderr, "there is no locale C.UTF-8\n");
		return 77;
	}
	f = fopen(argv[2], "r");
	if (!f)
		broken("cannot open", argv[2]);
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	rest = strchr(text, '\n');
	if (!rest)
		broken("no first line", argv[2]);
	*rest++ = '\0';
	split(text, head);
	split(rest, keys);
	for (size_t i = 0; head[i]; i++)
		take_word(head[i], &is_replayed);
	if (is_replayed)
		recording_fixture_make(argv[1], !has_no_events, folder);
	for (size_t i = 0; head[i]; i++)
		if (strcmp(head[i], "pid") == 0 &&
		    (!head[i + 1] || num_parse_u64(head[i + 1], &pid) < 0))
			broken("no pid", argv[2]);
	for (size_t i = 0; head[i]; i++) {
		if (strcmp(head[i], "pid") == 0)
			i++;
		else if (!take_word(head[i], &is_replayed))
			run_case(argv[1], head[i], (int)pid, is_replayed ? folder : NULL,
				 keys);
	}
	if (is_replayed)
		recording_fixture_remove(folder);
	return 0;
}
