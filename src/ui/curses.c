/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <langinfo.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

#include "base/clock.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "ui/screen/rescue.h"
#include "ui/screen/theme.h"
#include "ui/state.h"
#include "ui/ui.h"

/* include curses.h last, because term.h defines macros such as "columns" */
#include <curses.h>
#include <term.h>

/* Maximum number of colour pairs for adjacent segments of bars. */
#define MIXED_PAIRS_MAX 64

struct screen {
	const struct ui_options *options;
	SCREEN *terminal;
	struct ui ui;
	struct canvas shown, next;
	/* number of colours of the terminal; 0: none */
	int color_count;
	bool has_default_colors;
	enum theme theme; /* theme for which the colour pairs are defined */
	enum look look;
	/* mixed colour pairs, each of which combines the colours of two roles */
	struct {
		uint8_t role, back;
	} pairs[MIXED_PAIRS_MAX];
	size_t pair_count;
	bool ascii;
	bool is_dirty;
	bool has_command_ended;
	uint64_t drawn_ns;
	sigset_t mask_before, mask_waiting;
};

static const int stops[] = { SIGINT, SIGTERM, SIGHUP };

#define STOP_COUNT (sizeof(stops) / sizeof(stops[0]))

static volatile sig_atomic_t stop_signal;
static volatile sig_atomic_t is_resized;

static void note_stop(int number)
{
	stop_signal = number;
}

static void note_resize(int number)
{
	(void)number;
	is_resized = 1;
}

/*
 * Catch the signals that end memstate, and the signal for a new screen size. The
 * signals are blocked except while memstate waits. Signals that were ignored before
 * remain ignored.
 */
static void begin_signals(struct screen *s, struct sigaction before[STOP_COUNT + 1])
{
	struct sigaction stop = { .sa_handler = note_stop };
	struct sigaction resize = { .sa_handler = note_resize };
	sigset_t held;

	stop_signal = 0;
	is_resized = 0;
	sigemptyset(&held);
	sigaddset(&held, SIGWINCH);
	sigprocmask(SIG_BLOCK, &held, &s->mask_before);
	s->mask_waiting = s->mask_before;
	sigdelset(&s->mask_waiting, SIGWINCH);
	sigdelset(&s->mask_waiting, SIGCHLD);
	for (size_t i = 0; i < STOP_COUNT; i++) {
		sigaction(stops[i], NULL, &before[i]);
		sigdelset(&s->mask_waiting, stops[i]);
		if (before[i].sa_handler != SIG_IGN)
			sigaction(stops[i], &stop, NULL);
	}
	sigaction(SIGWINCH, &resize, &before[STOP_COUNT]);
}

static void end_signals(const struct screen *s,
			const struct sigaction before[STOP_COUNT + 1])
{
	for (size_t i = 0; i < STOP_COUNT; i++)
		sigaction(stops[i], &before[i], NULL);
	sigaction(SIGWINCH, &before[STOP_COUNT], NULL);
	sigprocmask(SIG_SETMASK, &s->mask_before, NULL);
}

static void begin_colors(struct screen *s)
{
	if (!has_colors() || start_color() == ERR)
		return;
	s->color_count = COLORS;
	s->has_default_colors = use_default_colors() == OK;
}

/* Define the colour pairs for the user's theme. */
static void use_theme(struct screen *s)
{
	bool is_light = s->ui.theme == THEME_LIGHT;

	s->theme = s->ui.theme;
	s->pair_count = 0;
	s->look = theme_look(s->theme, s->color_count);
	if (s->look == LOOK_MONO)
		return;
	for (int role = 0; role < ROLE_COUNT_; role++) {
		const struct style *style = theme_style(s->look, (enum role)role);
		short front = style->foreground, back = style->background;

		if (!s->has_default_colors && front < 0)
			front = is_light ? COLOR_BLACK : COLOR_WHITE;
		if (!s->has_default_colors && back < 0)
			back = is_light ? COLOR_WHITE : COLOR_BLACK;
		init_pair((short)(role + 1), front, back);
	}
}

/* escape sequences that reset the terminal if curses cannot do so */
static struct strbuf restoring;

static int add_byte(int c)
{
	strbuf_add_char(&restoring, (char)c);
	return c;
}

static void add_capability(const char *name)
{
	const char *text = tigetstr(name);

	if (text && text != (const char *)-1)
		tputs(text, 1, add_byte);
}

static void begin_rescue(const struct termios *modes)
{
	static const char *const capabilities[] = {
		"sgr0", "op", "rmkx", "cnorm", "clear", "rmcup",
	};
	const char *mouse = tigetstr("kmous");

	strbuf_clear(&restoring);
	if (mouse && mouse != (const char *)-1)
		strbuf_add_text(&restoring, "\033[?1006;1000l");
	for (size_t i = 0; i < sizeof(capabilities) / sizeof(capabilities[0]); i++)
		add_capability(capabilities[i]);
	strbuf_add_char(&restoring, '\r');
	rescue_begin(modes, restoring.text, restoring.length);
	strbuf_release(&restoring);
	xalloc_on_exhausted(rescue_terminal);
}

static int begin(struct screen *s)
{
	struct termios modes;

	if (tcgetattr(STDIN_FILENO, &modes) < 0)
		return -ENOTTY;
	s->terminal = newterm(NULL, stdout, stdin);
	if (!s->terminal)
		return -ENOTTY;
	begin_rescue(&modes);
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(25);
	curs_set(0);
	mousemask(BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL);
	mouseinterval(0);
	begin_colors(s);
	return 0;
}

static void end(struct screen *s)
{
	endwin();
	xalloc_on_exhausted(NULL);
	rescue_end();
	delscreen(s->terminal);
}

/*
 * Return the number of the colour pair that combines the foreground colour of one role
 * with that of another as the background. These mixed pairs are numbered after the pairs
 * of the roles. If there are too many, return the plain pair of the first role.
 */
static short pair_of(struct screen *s, uint8_t role, uint8_t back)
{
	size_t i = 0;

	if (s->look == LOOK_MONO)
		return 0;
	if (back == CELL_PLAIN || back == CELL_REVERSED)
		return (short)(role + 1);
	while (i < s->pair_count &&
	       (s->pairs[i].role != role || s->pairs[i].back != back))
		i++;
	if (i < s->pair_count)
		return (short)(ROLE_COUNT_ + 1 + (int)i);
	if (i == MIXED_PAIRS_MAX || ROLE_COUNT_ + 1 + (int)i >= COLOR_PAIRS)
		return (short)(role + 1);
	s->pairs[i].role = role;
	s->pairs[i].back = back;
	s->pair_count++;
	init_pair((short)(ROLE_COUNT_ + 1 + (int)i),
		  theme_style(s->look, (enum role)role)->foreground,
		  theme_style(s->look, (enum role)(back - 1))->foreground);
	return (short)(ROLE_COUNT_ + 1 + (int)i);
}

static void set_style(struct screen *s, const struct cell *cell)
{
	const struct style *style = theme_style(s->look, (enum role)cell->role);
	attr_t attributes = A_NORMAL;

	if (style->flags & STYLE_BOLD)
		attributes |= A_BOLD;
	if (style->flags & STYLE_DIM)
		attributes |= A_DIM;
	if (!(style->flags & STYLE_REVERSE) != !(cell->back == CELL_REVERSED))
		attributes |= A_REVERSE;
	if (style->flags & STYLE_UNDERLINE)
		attributes |= A_UNDERLINE;
	attr_set(attributes, pair_of(s, cell->role, cell->back), NULL);
}

static void put_line(struct screen *s, const struct cell *line, int y)
{
	wchar_t run[256];
	int x = 0;

	while (x < s->next.width) {
		const struct cell *first = &line[x];
		int begin = x;
		int length = 0;

		while (x < s->next.width && line[x].role == first->role &&
		       line[x].back == first->back && length < 255) {
			if (line[x].width > 0)
				run[length++] = (wchar_t)line[x].code_point;
			x++;
		}
		set_style(s, first);
		mvaddnwstr(y, begin, run, length);
	}
}

/*
 * Draw the screen. Skip unchanged lines; in the other lines, curses finds the
 * changed cells.
 */
static void draw(struct screen *s)
{
	struct canvas former = s->shown;
	bool is_new;

	s->drawn_ns = clock_now_ns();
	s->is_dirty = false;
	s->next.is_colored = theme_look(s->ui.theme, s->color_count) != LOOK_MONO;
	canvas_begin(&s->next, COLS, LINES, s->ascii);
	ui_draw(&s->ui, &s->next, s->drawn_ns);
	is_new = s->ui.wants_redraw || s->theme != s->ui.theme ||
		 s->shown.width != s->next.width || s->shown.height != s->next.height;
	if (s->theme != s->ui.theme)
		use_theme(s);
	if (is_new)
		clearok(curscr, TRUE);
	s->ui.wants_redraw = false;
	for (int y = 0; y < s->next.height; y++) {
		size_t at = (size_t)y * (size_t)s->next.width;
		size_t size = (size_t)s->next.width * sizeof(struct cell);

		if (is_new || memcmp(&s->next.cells[at], &s->shown.cells[at], size) != 0)
			put_line(s, &s->next.cells[at], y);
	}
	refresh();
	s->shown = s->next;
	s->next = former;
}

static const struct {
	int curses;
	uint32_t key;
} special_keys[] = {
	{ KEY_UP, KEY_ARROW_UP },     { KEY_DOWN, KEY_ARROW_DOWN },
	{ KEY_LEFT, KEY_ARROW_LEFT }, { KEY_RIGHT, KEY_ARROW_RIGHT },
	{ KEY_PPAGE, KEY_PAGE_UP },   { KEY_NPAGE, KEY_PAGE_DOWN },
	{ KEY_HOME, KEY_FIRST },      { KEY_END, KEY_LAST },
	{ KEY_BTAB, KEY_BACK_TAB },   { KEY_ENTER, KEY_RETURN },
	{ KEY_BACKSPACE, KEY_ERASE }, { KEY_DC, KEY_ERASE },
};

static void handle_mouse(struct screen *s)
{
	MEVENT event;

	if (getmouse(&event) != OK)
		return;
	if (event.bstate & BUTTON1_PRESSED)
		ui_mouse(&s->ui, event.x, event.y, MOUSE_CLICK);
	else if (event.bstate & BUTTON4_PRESSED)
		ui_mouse(&s->ui, event.x, event.y, MOUSE_WHEEL_UP);
	else if (event.bstate & BUTTON5_PRESSED)
		ui_mouse(&s->ui, event.x, event.y, MOUSE_WHEEL_DOWN);
}

static void handle_special(struct screen *s, int code)
{
	if (code == KEY_MOUSE) {
		handle_mouse(s);
		return;
	}
	if (code > KEY_F0 && code <= KEY_F(12)) {
		ui_key(&s->ui, (uint32_t)(KEY_FUNCTION + (code - KEY_F0)));
		return;
	}
	for (size_t i = 0; i < sizeof(special_keys) / sizeof(special_keys[0]); i++)
		if (special_keys[i].curses == code)
			ui_key(&s->ui, special_keys[i].key);
}

static void handle_keys(struct screen *s)
{
	wint_t code;
	int kind, waiting = 0;

	/* the terminal has been closed if poll() reports input but no byte can be read */
	if (ioctl(STDIN_FILENO, FIONREAD, &waiting) < 0 || waiting == 0) {
		stop_signal = SIGHUP;
		return;
	}
	while (!s->ui.has_quit && (kind = get_wch(&code)) != ERR) {
		s->is_dirty = true;
		if (kind == KEY_CODE_YES)
			handle_special(s, (int)code);
		else
			ui_key(&s->ui, code == '\n' ? KEY_RETURN : code);
	}
}

static void handle_resize(struct screen *s)
{
	struct winsize size;

	is_resized = 0;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_row == 0 ||
	    size.ws_col == 0)
		return;
	resizeterm(size.ws_row, size.ws_col);
	s->ui.wants_redraw = true;
	s->is_dirty = true;
}

/* Deliver pending signals, because ppoll() delivers none if a descriptor is ready. */
static void deliver_signals(const struct screen *s)
{
	sigset_t held;

	sigprocmask(SIG_SETMASK, &s->mask_waiting, &held);
	sigprocmask(SIG_SETMASK, &held, NULL);
}

/* Return the time at which to redraw the screen to update the ages of the data. */
static uint64_t redraw_ns(const struct screen *s)
{
	return s->drawn_ns + ui_redraw_interval_ns(&s->ui);
}

/* Wait for a key, a signal, output from the command, or the time of the next task. */
static void wait_for_event(struct screen *s)
{
	struct pollfd fds[] = {
		{ .fd = STDIN_FILENO, .events = POLLIN },
		{ .fd = s->options->output_fd, .events = POLLIN },
		{ .fd = ui_wake_fd(&s->ui), .events = POLLIN },
	};
	uint64_t now = clock_now_ns();
	uint64_t due = ui_due_ns(&s->ui);
	struct timespec timeout;
	uint64_t left;

	if (ui_record_due_ns(&s->ui) < due)
		due = ui_record_due_ns(&s->ui);
	if (redraw_ns(s) < due)
		due = redraw_ns(s);
	left = s->is_dirty || due <= now ? 0 : due - now;
	timeout = (struct timespec){ (time_t)(left / NS_PER_S), (long)(left % NS_PER_S) };
	if (ppoll(fds, 3, &timeout, &s->mask_waiting) < 0)
		return;
	deliver_signals(s);
	/* a hang-up may appear as POLLIN at end of file, which handle_keys() detects */
	if (fds[0].revents & ~POLLIN)
		stop_signal = SIGHUP;
	else if (fds[0].revents)
		handle_keys(s);
	if (fds[1].revents && s->options->drain_output)
		s->options->drain_output(s->options->context);
}

static void poll_command(struct screen *s)
{
	const struct ui_options *o = s->options;

	if (!o->command_has_ended || s->has_command_ended ||
	    !o->command_has_ended(o->context))
		return;
	s->has_command_ended = true;
	s->ui.wants_refresh = true;
}

static void run(struct screen *s)
{
	while (!s->ui.has_quit && !stop_signal) {
		uint64_t now = clock_now_ns();

		poll_command(s);
		if (is_resized)
			handle_resize(s);
		if (ui_due_ns(&s->ui) <= now) {
			ui_refresh(&s->ui, now);
			s->is_dirty = true;
		}
		if (ui_record_due_ns(&s->ui) <= now)
			ui_record(&s->ui, now);
		if (ui_poll(&s->ui))
			s->is_dirty = true;
		if (s->is_dirty || now >= redraw_ns(s))
			draw(s);
		wait_for_event(s);
	}
}

bool ui_can_run(void)
{
	const char *move;
	bool can_move;
	int found;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) ||
	    setupterm(NULL, STDOUT_FILENO, &found) != OK)
		return false;
	move = tigetstr("cup");
	can_move = move && move != (const char *)-1;
	del_curterm(cur_term);
	return can_move;
}

int ui_run(const struct ui_options *options, struct settings *ret_changes)
{
	struct screen s = { .options = options };
	struct sigaction before[STOP_COUNT + 1];
	const char *terminal = getenv("TERM");
	struct settings settings;
	int r = begin(&s);

	*ret_changes = (struct settings){ { NULL } };
	if (r < 0)
		return r;
	begin_signals(&s, before);
	s.ascii = strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
	ui_init(&s.ui, options);
	if (s.ui.theme == THEME_AUTO)
		s.ui.theme = theme_detect(getenv("NO_COLOR"), getenv("COLORFGBG"));
	use_theme(&s);
	/* the font of the Linux console has no Braille characters */
	if (terminal && strcmp(terminal, "linux") == 0)
		s.ui.process.graph_style = GRAPH_BLOCK;
	settings = ui_settings(&s.ui);
	run(&s);
	*ret_changes = ui_settings(&s.ui);
	settings_keep_changes(ret_changes, &settings);
	settings_release(&settings);
	end(&s);
	end_signals(&s, before);
	ui_release(&s.ui);
	canvas_release(&s.shown);
	canvas_release(&s.next);
	return stop_signal;
}
