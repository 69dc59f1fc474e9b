/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <locale.h>

#include "cmd/cmd.h"

int main(int argc, char **argv)
{
	setlocale(LC_ALL, "");
	setlocale(LC_NUMERIC, "C");
	return cmd_main(argc, argv);
}
