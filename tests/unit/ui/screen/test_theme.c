/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/screen/theme.h"

#include <math.h>

#include "../../support/unit.h"

struct rgb {
	double red, green, blue;
};

/* Return a colour of xterm's palette. */
static struct rgb xterm_color(int number)
{
	static const struct rgb basic[] = {
		{ 0, 0, 0 },	   { 205, 0, 0 },   { 0, 205, 0 },   { 205, 205, 0 },
		{ 0, 0, 238 },	   { 205, 0, 205 }, { 0, 205, 205 }, { 229, 229, 229 },
		{ 127, 127, 127 }, { 255, 0, 0 },   { 0, 255, 0 },   { 255, 255, 0 },
		{ 92, 92, 255 },   { 255, 0, 255 }, { 0, 255, 255 }, { 255, 255, 255 },
	};
	static const double levels[] = { 0, 95, 135, 175, 215, 255 };
	double grey = 8 + 10 * (number - 232);

	assert_in_range(number, 0, 255);
	if (number < 16)
		return basic[number];
	if (number >= 232)
		return (struct rgb){ grey, grey, grey };
	number -= 16;
	return (struct rgb){ levels[number / 36], levels[number / 6 % 6],
			     levels[number % 6] };
}

static double linear(double value)
{
	value /= 255;
	return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4);
}

/* Return the relative luminance as WCAG 2 defines it. */
static double luminance(struct rgb color)
{
	return 0.2126 * linear(color.red) + 0.7152 * linear(color.green) +
	       0.0722 * linear(color.blue);
}

static double contrast(struct rgb a, struct rgb b)
{
	double first = luminance(a), second = luminance(b);

	return first > second ? (first + 0.05) / (second + 0.05)
			      : (second + 0.05) / (first + 0.05);
}

/*
 * Check the text of a role on the background that the look is made for. Terminals with 8
 * colours may show bold text in the bright variant of its colour.
 */
static void check_contrast(enum look look, enum role role, bool is_light, double least)
{
	const struct style *style = theme_style(look, role);
	const struct rgb black = { 0, 0, 0 }, white = { 255, 255, 255 };
	bool is_bright = !is_light && style->foreground >= 0 && style->foreground < 8 &&
			 style->flags & STYLE_BOLD;
	struct rgb front, back;

	if (style->foreground < 0 && style->background < 0)
		return;
	front = style->foreground < 0
			? (is_light ? black : white)
			: xterm_color(style->foreground + (is_bright ? 8 : 0));
	back = style->background < 0 ? (is_light ? white : black)
				     : xterm_color(style->background);
	if (contrast(front, back) < least)
		fail_msg("look %d, role %d: contrast %.1f", (int)look, (int)role,
			 contrast(front, back));
}

static void all_text_is_readable_on_its_background(void **state)
{
	(void)state;
	for (int role = 0; role < ROLE_COUNT_; role++) {
		check_contrast(LOOK_DARK_256, (enum role)role, false, 4.5);
		check_contrast(LOOK_LIGHT_256, (enum role)role, true, 4.5);
		check_contrast(LOOK_DARK_8, (enum role)role, false, 3);
		check_contrast(LOOK_LIGHT_8, (enum role)role, true, 3);
	}
}

static bool is_same(const struct style *a, const struct style *b)
{
	return a->foreground == b->foreground && a->background == b->background &&
	       a->flags == b->flags;
}

static void check_distinct(enum look look, int first, int count)
{
	for (int a = 0; a < count; a++)
		for (int b = 0; b < a; b++)
			if (is_same(theme_style(look, (enum role)(first + a)),
				    theme_style(look, (enum role)(first + b))))
				fail_msg("look %d: roles %d and %d are alike", (int)look,
					 first + a, first + b);
}

static void owners_and_states_are_distinct_in_colors(void **state)
{
	(void)state;
	for (int look = LOOK_MONO + 1; look < LOOK_COUNT_; look++) {
		check_distinct((enum look)look, ROLE_OWNER, OWNER_COUNT_);
		check_distinct((enum look)look, ROLE_STATE, STATE_COUNT_);
	}
}

static void mono_uses_no_color(void **state)
{
	(void)state;
	for (int role = 0; role < ROLE_COUNT_; role++) {
		const struct style *style = theme_style(LOOK_MONO, (enum role)role);

		assert_int_equal(style->foreground, -1);
		assert_int_equal(style->background, -1);
	}
}

static void the_environment_selects_the_theme(void **state)
{
	(void)state;
	assert_int_equal(theme_detect(NULL, NULL), THEME_DARK);
	assert_int_equal(theme_detect(NULL, "15;0"), THEME_DARK);
	assert_int_equal(theme_detect(NULL, "0;15"), THEME_LIGHT);
	assert_int_equal(theme_detect(NULL, "0;7"), THEME_LIGHT);
	assert_int_equal(theme_detect(NULL, "12;8"), THEME_DARK);
	assert_int_equal(theme_detect(NULL, "0;default;15"), THEME_LIGHT);
	assert_int_equal(theme_detect(NULL, "default;default"), THEME_DARK);
	assert_int_equal(theme_detect(NULL, "15"), THEME_DARK);
	assert_int_equal(theme_detect(NULL, "0;15;"), THEME_DARK);
	assert_int_equal(theme_detect(NULL, "0;99"), THEME_DARK);
	assert_int_equal(theme_detect("1", "0;15"), THEME_MONO);
	assert_int_equal(theme_detect("", "0;15"), THEME_LIGHT);
}

static void the_terminal_limits_the_look(void **state)
{
	(void)state;
	assert_int_equal(theme_look(THEME_DARK, 0), LOOK_MONO);
	assert_int_equal(theme_look(THEME_LIGHT, -1), LOOK_MONO);
	assert_int_equal(theme_look(THEME_LIGHT, 8), LOOK_LIGHT_8);
	assert_int_equal(theme_look(THEME_LIGHT, 256), LOOK_LIGHT_256);
	assert_int_equal(theme_look(THEME_DARK, 88), LOOK_DARK_8);
	assert_int_equal(theme_look(THEME_DARK, 1 << 24), LOOK_DARK_256);
	assert_int_equal(theme_look(THEME_MONO, 256), LOOK_MONO);
}

static void the_key_goes_through_all_themes(void **state)
{
	(void)state;
	assert_int_equal(theme_next(THEME_DARK), THEME_LIGHT);
	assert_int_equal(theme_next(THEME_LIGHT), THEME_MONO);
	assert_int_equal(theme_next(THEME_MONO), THEME_DARK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_text_is_readable_on_its_background),
		cmocka_unit_test(owners_and_states_are_distinct_in_colors),
		cmocka_unit_test(mono_uses_no_color),
		cmocka_unit_test(the_environment_selects_the_theme),
		cmocka_unit_test(the_terminal_limits_the_look),
		cmocka_unit_test(the_key_goes_through_all_themes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
