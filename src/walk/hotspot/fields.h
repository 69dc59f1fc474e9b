/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fields - the fields, constants and flags of the JVM that the walker reads, and their
 * names in the tables of libjvm.so.
 */
#ifndef MS_WALK_HOTSPOT_FIELDS_H
#define MS_WALK_HOTSPOT_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

enum hotspot_field {
	FIELD_BARRIER_SET, /* static */
	FIELD_BARRIER_CARDS,
	FIELD_CARDS_MAP,
	FIELD_CARDS_BYTES,
	FIELD_CLASSES_HEAD, /* static field that points to the first ClassLoaderData */
	FIELD_CLASSES_KLASSES,
	FIELD_CLASSES_NEXT,
	FIELD_CODE_HEAPS, /* static */
	FIELD_CODE_LOG2_SEGMENT,
	FIELD_CODE_MEMORY,
	FIELD_CODE_SEGMAP,
	FIELD_CONTIGUOUS_TOP,
	FIELD_ARRAY_DATA,
	FIELD_ARRAY_LENGTH,
	FIELD_DEFNEW_EDEN,
	FIELD_DEFNEW_FROM,
	FIELD_DEFNEW_TO,
	FIELD_FLAG_ADDR,
	FIELD_FLAG_COUNT, /* static */
	FIELD_FLAG_LIST,  /* static */
	FIELD_FLAG_NAME,
	FIELD_G1_MANAGER,
	FIELD_G1_REGIONS,
	FIELD_G1_TABLE_BASE,
	FIELD_G1_TABLE_LENGTH,
	FIELD_HEAP_BLOCK_LENGTH,
	FIELD_HEAP_BLOCK_USED,
	FIELD_HEAP_IS_ACTIVE,
	FIELD_HEAP_RESERVED,
	FIELD_JDK_VERSION, /* static */
	FIELD_JDK_VERSION_MAJOR,
	FIELD_KLASS_CONSTANTS,
	FIELD_KLASS_LAYOUT,
	FIELD_KLASS_NAME,
	FIELD_KLASS_NEXT,
	/* static field: offset of the size in objects of java.lang.Class */
	FIELD_MIRROR_WORDS,
	FIELD_MUTABLE_BOTTOM,
	FIELD_MUTABLE_END,
	FIELD_MUTABLE_TOP,
	FIELD_NARROW_BASE,  /* static */
	FIELD_NARROW_SHIFT, /* static */
	FIELD_OBJECT_KLASS,
	FIELD_OBJECT_NARROW_KLASS,
	FIELD_PARALLEL_OLD,   /* static */
	FIELD_PARALLEL_YOUNG, /* static */
	FIELD_PARALLEL_EDEN,
	FIELD_PARALLEL_FROM,
	FIELD_PARALLEL_TO,
	FIELD_PARALLEL_OLD_SPACE,
	FIELD_RANGE_START, /* MemRegion */
	FIELD_RANGE_WORDS,
	FIELD_REGION_BOTTOM,
	FIELD_REGION_BYTES, /* static */
	FIELD_REGION_END,
	FIELD_REGION_TAG,
	FIELD_REGION_TOP,
	FIELD_REGION_TYPE,
	FIELD_SERIAL_OLD,
	FIELD_SERIAL_YOUNG,
	FIELD_SPACE_BOTTOM,
	FIELD_SPACE_END,
	FIELD_SYMBOL_BODY,
	FIELD_SYMBOL_LENGTH,
	FIELD_TENURED_SPACE,
	FIELD_THREAD_LIST, /* static */
	FIELD_THREAD_LIST_ARRAY,
	FIELD_THREAD_LIST_LENGTH,
	FIELD_THREAD_STACK_BASE,
	FIELD_THREAD_STACK_BYTES,
	FIELD_THREAD_TLAB,
	FIELD_TLAB_END,
	FIELD_TLAB_RESERVED_WORDS, /* static */
	FIELD_TLAB_TOP,
	FIELD_UNIVERSE_HEAP, /* static */
	FIELD_VIRTUAL_HIGH,
	FIELD_VIRTUAL_LOW,
	FIELD_VM_RELEASE, /* static */
	FIELD_Z_ALLOCATOR,
	FIELD_Z_CAPACITY,
	FIELD_Z_HEAP,
	FIELD_Z_USED,
	HOTSPOT_FIELD_COUNT_
};

enum hotspot_constant {
	CONSTANT_FREE,
	CONSTANT_EDEN,
	CONSTANT_SURVIVOR,
	CONSTANT_HUMONGOUS_MASK,
	CONSTANT_HUMONGOUS_CONTINUED,
	CONSTANT_OLD_MASK,
	CONSTANT_ARCHIVE_MASK, /* constant that does not exist in newer JDK versions */
	HOTSPOT_CONSTANT_COUNT_
};

/* The JVM options that the walker reads: options of type bool, followed by numbers. */
enum hotspot_flag {
	FLAG_G1,
	FLAG_SERIAL,
	FLAG_PARALLEL,
	FLAG_Z,
	FLAG_SHENANDOAH,
	FLAG_NUMA,
	FLAG_CLASS_POINTERS,
	FLAG_COMPACT_HEADERS,
	/* The values of the options below are 8 bytes long. */
	FLAG_ALIGNMENT, /* alignment of objects, in bytes */
	FLAG_MIN_HEAP,	/* in bytes */
	HOTSPOT_FLAG_COUNT_
};

/*
 * The name of a field in one or more JDK versions. A field that was renamed has one such
 * entry for each name.
 */
struct hotspot_field_name {
	const char *type, *name;
	enum hotspot_field field;
	bool is_static;
};

extern const struct hotspot_field_name hotspot_field_names[];
extern const size_t hotspot_field_name_count;
extern const char *const hotspot_constant_names[HOTSPOT_CONSTANT_COUNT_];
extern const char *const hotspot_flag_names[HOTSPOT_FLAG_COUNT_];

#endif
