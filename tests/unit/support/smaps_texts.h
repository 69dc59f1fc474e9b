/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * smaps_texts - smaps records in the formats of different kernels, for tests.
 */
#ifndef MS_TESTS_SMAPS_TEXTS_H
#define MS_TESTS_SMAPS_TEXTS_H

/* Linux 6.18, x86-64 */
#define SMAPS_AMOUNTS_6_18              \
	"Size:                132 kB\n" \
	"KernelPageSize:        4 kB\n" \
	"MMUPageSize:           4 kB\n" \
	"Rss:                 100 kB\n" \
	"Pss:                  50 kB\n" \
	"Pss_Dirty:            10 kB\n" \
	"Shared_Clean:         40 kB\n" \
	"Shared_Dirty:         20 kB\n" \
	"Private_Clean:        12 kB\n" \
	"Private_Dirty:        28 kB\n" \
	"Referenced:           96 kB\n" \
	"Anonymous:            28 kB\n" \
	"KSM:                   1 kB\n" \
	"LazyFree:              8 kB\n" \
	"AnonHugePages:         2 kB\n" \
	"ShmemPmdMapped:        3 kB\n" \
	"FilePmdMapped:         5 kB\n" \
	"Shared_Hugetlb:        6 kB\n" \
	"Private_Hugetlb:       7 kB\n" \
	"Swap:                  9 kB\n" \
	"SwapPss:              11 kB\n" \
	"Locked:               13 kB\n" \
	"THPeligible:           0\n"

#define SMAPS_FLAGS "VmFlags: rd wr mr mw me ac nh \n"

#define SMAPS_RECORD_6_18(header) header "\n" SMAPS_AMOUNTS_6_18 SMAPS_FLAGS

/* Linux 2.6.32: without VmFlags and with fewer amounts */
#define SMAPS_RECORD_2_6_32(header)            \
	header "\n"                            \
	       "Size:                 48 kB\n" \
	       "Rss:                  40 kB\n" \
	       "Pss:                   2 kB\n" \
	       "Shared_Clean:         36 kB\n" \
	       "Shared_Dirty:          0 kB\n" \
	       "Private_Clean:         0 kB\n" \
	       "Private_Dirty:         4 kB\n" \
	       "Referenced:           40 kB\n" \
	       "Swap:                  0 kB\n" \
	       "KernelPageSize:        4 kB\n" \
	       "MMUPageSize:           4 kB\n"

#define SMAPS_TEXT_HEADER \
	"55c8df37c000-55c8df39d000 r-xp 00002000 fe:00 247498                     /usr/bin/head"
#define SMAPS_ANON_HEADER "7f8c61ba4000-7f8c61bc5000 rw-p 00000000 00:00 0 "
#define SMAPS_STACK_HEADER \
	"7ffc5c1b0000-7ffc5c1d1000 rw-p 00000000 00:00 0                          [stack]"

#endif
