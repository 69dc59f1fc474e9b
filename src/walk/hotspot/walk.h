/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * walk - declarations shared by the parts of the walker for HotSpot, the Java virtual
 * machine of OpenJDK. Internal to walk/.
 *
 * Sources: src/hotspot/share/runtime/vmStructs.{hpp,cpp} and the headers of the
 * structures listed in fields.c, of OpenJDK 17; x86-64.
 *
 * libjvm.so exports tables for the JDK's own debugger (the serviceability agent). These
 * tables contain the names, offsets and addresses of the fields of the JVM's structures,
 * the sizes of its types, and its constants. The walker finds all fields by these names,
 * so it needs no built-in offsets and does not depend on a particular version. The tables
 * are in the data of libjvm.so and therefore in the image. The names are read-only data,
 * which the walker reads from the mapped file if they are not resident.
 *
 * All memory of the process is untrusted, and so is the mapped file, which need not be a
 * JVM.
 */
#ifndef MS_WALK_HOTSPOT_WALK_H
#define MS_WALK_HOTSPOT_WALK_H

#include "model/heap.h"
#include "walk/blocks/blocks.h"
#include "walk/blocks/input.h"
#include "walk/hotspot/fields.h"

/* The garbage collectors. Each of them organizes the Java heap differently. */
enum hotspot_collector {
	HOTSPOT_UNKNOWN,
	HOTSPOT_G1,
	HOTSPOT_SERIAL,
	HOTSPOT_PARALLEL,
	HOTSPOT_Z,
	HOTSPOT_SHENANDOAH
};

/* Parts of the JVM's memory, as the report lists them. */
enum hotspot_space {
	HOTSPOT_EDEN,
	HOTSPOT_SURVIVOR,
	HOTSPOT_OLD,
	HOTSPOT_HUMONGOUS,
	HOTSPOT_ARCHIVE,
	/*
	 * regions of G1 without objects, and memory between the spaces of other
	 * collectors
	 */
	HOTSPOT_FREE,
	HOTSPOT_SHARED, /* heap of ZGC, in shared memory */
	HOTSPOT_CODE,	/* code cache that is not divided into several heaps */
	HOTSPOT_CODE_NON_PROFILED,
	HOTSPOT_CODE_PROFILED,
	HOTSPOT_CODE_NON_NMETHODS,
	HOTSPOT_METASPACE,
	HOTSPOT_CLASS_SPACE,
	HOTSPOT_CARDS,
	HOTSPOT_STACKS,
	HOTSPOT_SPACE_COUNT_
};

/* How the memory of a range is used. */
enum hotspot_use {
	HOTSPOT_LIVE, /* objects that were allocated and not yet collected, or code */
	HOTSPOT_UNUSED,
	HOTSPOT_OWN, /* the JVM's own data */
	/* memory whose description in the JVM is invalid; not counted for any owner */
	HOTSPOT_SKIPPED
};

/*
 * A part of the JVM's memory: [start_addr, end_addr). Ranges do not overlap. Only the
 * committed anonymous memory of a range is counted.
 */
struct hotspot_range {
	uint64_t start_addr, end_addr;
	enum hotspot_use use;
	enum hotspot_space space;
};

struct hotspot_pages;

struct hotspot {
	const struct walk_input *input;
	struct image *image;
	struct heap *heap;
	struct blocks *blocks;

	bool is_found; /* true if libjvm.so is mapped and contains an initialised JVM */
	struct hotspot_pages *pages; /* cache for constant data outside the image */
	/*
	 * address of each static field, and offset of each other field; HOTSPOT_ABSENT if
	 * libjvm.so does not list the field
	 */
	uint64_t fields[HOTSPOT_FIELD_COUNT_];
	/* value of each constant; INT64_MIN if libjvm.so does not list it */
	int64_t constants[HOTSPOT_CONSTANT_COUNT_];
	/* size of the type JVMFlag; 0 if unknown */
	uint64_t flag_bytes;
	/* values of the JVM's options; 0 if unknown */
	uint64_t flags[HOTSPOT_FLAG_COUNT_];

	enum hotspot_collector collector;
	uint64_t heap_addr; /* address of the CollectedHeap structure */
	/* address range reserved for the Java heap */
	uint64_t reserved_addr, reserved_end;
	/* committed bytes of the Java heap */
	uint64_t committed_bytes;
	/* true if all threads are waiting for the garbage collector */
	bool is_collecting;
	/*
	 * number of parts of the heap whose description is invalid or missing; if it is
	 * not 0, the figures are too low
	 */
	uint64_t broken_count;

	struct hotspot_range *ranges;
	size_t range_count, range_capacity;
	/* sums of each space; the names are not set */
	struct heap_space spaces[HOTSPOT_SPACE_COUNT_];
};

#define HOTSPOT_ABSENT UINT64_MAX

/* End of the address range of user space. */
#define HOTSPOT_ADDR_MAX (UINT64_C(1) << WALK_ADDR_BITS)

/*
 * Return the address of a static field, or of a field in the structure at object_addr.
 * Return 0 if libjvm.so does not list the field.
 */
uint64_t hotspot_field_addr(const struct hotspot *h, uint64_t object_addr,
			    enum hotspot_field field);

/*
 * Read a field from the image: 8 bytes for a word, 4 for an int, 1 for a bool. Return
 * false if libjvm.so does not list the field, or if the field is not resident.
 */
bool hotspot_read_word(const struct hotspot *h, uint64_t object_addr,
		       enum hotspot_field field, uint64_t *ret);
bool hotspot_read_int(const struct hotspot *h, uint64_t object_addr,
		      enum hotspot_field field, uint32_t *ret);
bool hotspot_read_bool(const struct hotspot *h, uint64_t object_addr,
		       enum hotspot_field field, bool *ret);

/* Append a range unless it is empty. */
void hotspot_add_range(struct hotspot *h, uint64_t start_addr, uint64_t end_addr,
		       enum hotspot_use use, enum hotspot_space space);

/*
 * Find libjvm.so and read its tables. Return NULL on success, or a static string that
 * describes the problem. Also set h->is_found. Defined in find.c.
 */
const char *hotspot_find(struct hotspot *h);
void hotspot_free_pages(struct hotspot *h);

/*
 * Store the version of the JVM, such as "17.0.21", or an empty string if it is unknown.
 * Defined in find.c.
 */
void hotspot_read_version(struct hotspot *h, char ret[HEAP_VERSION_SIZE]);

/*
 * Find the ranges of the Java heap. Return NULL on success, or a static string that
 * describes the problem. Defined in java_heap.c.
 */
const char *hotspot_read_java_heap(struct hotspot *h);

/*
 * Find the ranges of the code cache. Defined in code.c.
 */
void hotspot_read_code(struct hotspot *h);

/* Call fn for each thread that runs Java code. Defined in metadata.c. */
void hotspot_for_each_thread(struct hotspot *h,
			     void (*fn)(void *context, uint64_t thread_addr),
			     void *context);

/*
 * Find the metaspace, the card table, and the stacks of threads. Defined in metadata.c.
 */
void hotspot_read_metadata(struct hotspot *h);

/*
 * Total the ranges per space, page and mapping, and append an extent to h->blocks for
 * each range of live or unused memory. Return NULL on success, or a static string that
 * describes the problem. Defined in account.c.
 */
const char *hotspot_account(struct hotspot *h);

/*
 * Like walk_heap(), but walk only the heap of a Java virtual machine: OpenJDK 17 with the
 * collectors G1, Serial and Parallel. With other collectors, the Java heap itself is not
 * read, and the quality is QUALITY_BOUND.
 */
void walk_hotspot(const struct walk_input *input, struct heap *ret,
		  struct blocks *ret_blocks);

#endif
