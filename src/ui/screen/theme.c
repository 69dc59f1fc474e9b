/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/screen/theme.h"

#include <string.h>

#include "base/num.h"

/* Return true if the terminal colour with the given number is bright. */
static bool is_bright(uint64_t color)
{
	/* colour 7 is light grey, 8 is dark grey, and 9 to 15 are bright */
	return color == 7 || (color >= 9 && color <= 15);
}

enum theme theme_detect(const char *no_color, const char *colorfgbg)
{
	const char *last = colorfgbg ? strrchr(colorfgbg, ';') : NULL;
	uint64_t background;

	if (no_color && no_color[0] != '\0')
		return THEME_MONO;
	if (last && num_parse_u64(last + 1, &background) == 0 && is_bright(background))
		return THEME_LIGHT;
	return THEME_DARK;
}

enum theme theme_next(enum theme theme)
{
	return theme + 1 < THEME_COUNT_ ? (enum theme)(theme + 1) : THEME_DARK;
}

enum look theme_look(enum theme theme, int color_count)
{
	if (theme == THEME_MONO || color_count < 8)
		return LOOK_MONO;
	if (theme == THEME_LIGHT)
		return color_count >= 256 ? LOOK_LIGHT_256 : LOOK_LIGHT_8;
	return color_count >= 256 ? LOOK_DARK_256 : LOOK_DARK_8;
}

/* clang-format off */
#define PLAIN(flags) { -1, -1, flags }
#define FRONT(color, flags) { color, -1, flags }
#define BOTH(front, back, flags) { front, back, flags }

#define BOLD STYLE_BOLD
#define DIM STYLE_DIM
#define LINE STYLE_UNDERLINE
#define SWAP STYLE_REVERSE

/*
 * One row per role, with five looks: monochrome, dark with 8 and with 256 colours, light
 * with 8 and with 256 colours. The light look with 8 colours uses only red, blue and
 * magenta for text, because most terminals show the other colours too pale on white.
 */
static const struct style styles[ROLE_COUNT_][LOOK_COUNT_] = {
	[ROLE_TEXT] = { PLAIN(0), PLAIN(0), PLAIN(0), PLAIN(0), PLAIN(0) },
	[ROLE_DIM] = { PLAIN(0), PLAIN(DIM), FRONT(244, 0), PLAIN(DIM), FRONT(241, 0) },
	[ROLE_STRONG] = { PLAIN(BOLD), PLAIN(BOLD), PLAIN(BOLD), PLAIN(BOLD),
		PLAIN(BOLD) },
	[ROLE_STATUS] = { PLAIN(SWAP), BOTH(7, 4, 0), BOTH(255, 24, 0), BOTH(7, 4, 0),
		BOTH(231, 24, 0) },
	[ROLE_ALERT] = { PLAIN(SWAP | BOLD), BOTH(7, 1, BOLD), BOTH(231, 160, BOLD),
		BOTH(7, 1, BOLD), BOTH(231, 160, BOLD) },
	[ROLE_HEADING] = { PLAIN(LINE), BOTH(0, 2, 0), BOTH(16, 108, 0), BOTH(0, 6, 0),
		BOTH(16, 151, 0) },
	[ROLE_HEADING_SORTED] = { PLAIN(LINE | BOLD), BOTH(0, 6, 0),
		BOTH(16, 116, BOLD), BOTH(7, 5, 0), BOTH(16, 110, BOLD) },
	[ROLE_SELECTED] = { PLAIN(SWAP), BOTH(0, 6, 0), BOTH(16, 116, 0), BOTH(7, 4, 0),
		BOTH(16, 153, 0) },
	[ROLE_TAGGED] = { PLAIN(BOLD), FRONT(3, BOLD), FRONT(220, BOLD), FRONT(5, BOLD),
		FRONT(90, BOLD) },
	[ROLE_KEY] = { PLAIN(BOLD), PLAIN(0), PLAIN(0), PLAIN(0), PLAIN(0) },
	[ROLE_KEY_LABEL] = { PLAIN(SWAP), BOTH(0, 6, 0), BOTH(16, 116, 0),
		BOTH(0, 6, 0), BOTH(16, 153, 0) },
	[ROLE_GROWN] = { PLAIN(BOLD), FRONT(1, 0), FRONT(203, 0), FRONT(1, 0),
		FRONT(124, 0) },
	[ROLE_SHRUNK] = { PLAIN(0), FRONT(2, 0), FRONT(71, 0), FRONT(4, 0),
		FRONT(22, 0) },
	[ROLE_GRAPH] = { PLAIN(0), FRONT(6, 0), FRONT(80, 0), FRONT(4, 0),
		FRONT(25, 0) },
	[ROLE_OWNER + OWNER_LIVE] = { PLAIN(0), FRONT(1, 0), FRONT(167, 0), FRONT(1, 0),
		FRONT(160, 0) },
	[ROLE_OWNER + OWNER_POOL_PAGES] = { PLAIN(0), FRONT(3, 0), FRONT(178, 0),
		FRONT(5, 0), FRONT(94, 0) },
	[ROLE_OWNER + OWNER_POOL_FRAGMENTS] = { PLAIN(0), FRONT(3, DIM), FRONT(137, 0),
		FRONT(5, DIM), FRONT(58, 0) },
	[ROLE_OWNER + OWNER_HEAP_META] = { PLAIN(0), FRONT(7, 0), FRONT(247, 0),
		PLAIN(DIM), FRONT(240, 0) },
	[ROLE_OWNER + OWNER_STACK] = { PLAIN(0), FRONT(5, 0), FRONT(176, 0),
		FRONT(5, BOLD), FRONT(127, 0) },
	[ROLE_OWNER + OWNER_ANON] = { PLAIN(0), FRONT(1, BOLD), FRONT(209, 0),
		FRONT(1, BOLD), FRONT(130, 0) },
	[ROLE_OWNER + OWNER_FILE] = { PLAIN(0), FRONT(4, BOLD), FRONT(75, 0),
		FRONT(4, 0), FRONT(26, 0) },
	[ROLE_OWNER + OWNER_SHMEM] = { PLAIN(0), FRONT(6, 0), FRONT(80, 0),
		FRONT(4, BOLD), FRONT(23, 0) },
	[ROLE_STATE + STATE_PRIVATE_DIRTY] = { PLAIN(0), FRONT(1, 0), FRONT(209, 0),
		FRONT(1, 0), FRONT(130, 0) },
	[ROLE_STATE + STATE_LAZYFREE] = { PLAIN(0), FRONT(2, 0), FRONT(114, 0),
		PLAIN(0), FRONT(28, 0) },
	[ROLE_STATE + STATE_PRIVATE_CLEAN] = { PLAIN(0), FRONT(4, BOLD), FRONT(75, 0),
		FRONT(4, 0), FRONT(26, 0) },
	[ROLE_STATE + STATE_SHARED_DIRTY] = { PLAIN(0), FRONT(5, 0), FRONT(176, 0),
		FRONT(5, 0), FRONT(127, 0) },
	[ROLE_STATE + STATE_SHARED_CLEAN] = { PLAIN(0), FRONT(6, 0), FRONT(80, 0),
		FRONT(4, BOLD), FRONT(23, 0) },
};
/* clang-format on */

const struct style *theme_style(enum look look, enum role role)
{
	return &styles[role][look];
}
