/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * known_use - the purpose of a mapping, if its name, size or permissions reveal the
 * purpose: InnoDB's buffer pool, the rings of io_uring, the shadow memory of a sanitizer.
 * Plain data. classify/process/uses.h finds the purpose of each mapping.
 */
#ifndef MS_MODEL_KNOWN_USE_H
#define MS_MODEL_KNOWN_USE_H

enum known_use {
	/*
	 * unknown use: no known pattern matches the mapping, or most of the
	 * mapping is heap
	 */
	USE_NONE,
	USE_INNODB_POOL,
	USE_INNODB_BUFFERS,
	USE_INNODB_RESERVE,
	USE_POSTGRES_SHARED,
	USE_POSTGRES_DYNAMIC,
	USE_POSTGRES_BACKEND,
	USE_GCC_COLLECTED,
	USE_PHP_OPCACHE,
	USE_NGINX_ZONES,
	USE_JIT_CODE,
	USE_JAVA_CODE,
	USE_STACKS,
	USE_JAVA_STACKS,
	USE_IO_URING,
	USE_AIO,
	USE_PERF,
	USE_PACKET_RING,
	USE_KVM,
	USE_BPF,
	USE_GPU,
	USE_DEVICE,
	USE_SYSV,
	USE_ASAN_SHADOW,
	USE_ASAN_HEAP,
	USE_TSAN_SHADOW,
	USE_TSAN_HEAP,
	USE_ARENA_RESERVE,
	USE_PROGRAM_DATA,
	USE_PARTITION,
	USE_V8_CAGE,
	USE_V8_SANDBOX,
	USE_OILPAN,
	USE_COUNT_
};

struct known_use_text {
	const char *name;
	/* Options and settings that limit the memory; NULL if nothing limits it. */
	const char *limit;
	/* how memstate recognises the use */
	const char *evidence;
};

/* All fields of the element USE_NONE are NULL. */
extern const struct known_use_text known_use_texts[USE_COUNT_];

#endif
