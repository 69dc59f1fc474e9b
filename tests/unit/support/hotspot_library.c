/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "hotspot_library.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SYMBOLS_OFFSET 0x400
#define SYMBOL_NAMES_OFFSET 0x800
#define SECTIONS_OFFSET 0x1000

#define FIELD_ENTRY 48
#define TYPE_ENTRY 40
#define CONSTANT_ENTRY 16
#define FLAG_BYTES STRUCT_BYTES

static void write_file(struct hotspot_image *h, const void *bytes, size_t length,
		       uint64_t offset)
{
	if (pwrite(h->fd, bytes, length, (off_t)offset) != (ssize_t)length)
		abort();
}

uint64_t hotspot_library_add_text(struct hotspot_image *h, const char *text)
{
	uint64_t addr = h->text_addr;

	write_file(h, text, strlen(text) + 1, addr - LIBRARY_ADDR);
	h->text_addr += strlen(text) + 1;
	return addr;
}

/*
 * Return the offset of a field, which differs from that in any JVM. Fields that are
 * structures themselves come after all others.
 */
static uint64_t offset_of(enum hotspot_field field)
{
	switch (field) {
	case FIELD_CODE_MEMORY:
	case FIELD_G1_MANAGER:
	case FIELD_G1_REGIONS:
	case FIELD_REGION_TYPE:
	case FIELD_SYMBOL_BODY:
	case FIELD_THREAD_TLAB:
	case FIELD_Z_ALLOCATOR:
	case FIELD_Z_HEAP: return 0x400;
	case FIELD_CODE_SEGMAP: return 0x800;
	case FIELD_HEAP_RESERVED: return 0xc00;
	default: return 8 * (uint64_t)field;
	}
}

uint64_t hotspot_image_field(enum hotspot_field field, uint64_t addr)
{
	return (addr ? addr : DATA_ADDR + 0x800) + offset_of(field);
}

/* Symbols of the library, and the 8-byte variable of each, in the order of addresses. */
static const struct {
	const char *name;
	uint64_t value;
} symbols[] = {
	{ "gHotSpotVMStructs", DATA_ADDR + 0x1000 },
	{ "gHotSpotVMStructEntryArrayStride", FIELD_ENTRY },
	{ "gHotSpotVMStructEntryTypeNameOffset", 0 },
	{ "gHotSpotVMStructEntryFieldNameOffset", 8 },
	{ "gHotSpotVMStructEntryIsStaticOffset", 24 },
	{ "gHotSpotVMStructEntryOffsetOffset", 32 },
	{ "gHotSpotVMStructEntryAddressOffset", 40 },
	{ "gHotSpotVMTypes", DATA_ADDR + 0x400 },
	{ "gHotSpotVMTypeEntryArrayStride", TYPE_ENTRY },
	{ "gHotSpotVMTypeEntryTypeNameOffset", 0 },
	{ "gHotSpotVMTypeEntrySizeOffset", 32 },
	{ "gHotSpotVMIntConstants", DATA_ADDR + 0x500 },
	{ "gHotSpotVMIntConstantEntryArrayStride", CONSTANT_ENTRY },
	{ "gHotSpotVMIntConstantEntryNameOffset", 0 },
	{ "gHotSpotVMIntConstantEntryValueOffset", 8 },
};

#define SYMBOL_COUNT (sizeof(symbols) / sizeof(symbols[0]))

static void make_file(struct hotspot_image *h)
{
	Elf64_Ehdr header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
					   ELFDATA2LSB, EV_CURRENT },
			      .e_type = ET_DYN,
			      .e_machine = EM_X86_64,
			      .e_version = EV_CURRENT,
			      .e_phoff = sizeof(header),
			      .e_shoff = SECTIONS_OFFSET,
			      .e_ehsize = sizeof(header),
			      .e_phentsize = sizeof(Elf64_Phdr),
			      .e_phnum = 2,
			      .e_shentsize = sizeof(Elf64_Shdr),
			      .e_shnum = 3 };
	Elf64_Phdr parts[] = {
		{ .p_type = PT_LOAD, .p_flags = PF_R, .p_filesz = LIBRARY_PAGES * PAGE },
		{ .p_type = PT_LOAD,
		  .p_flags = PF_R | PF_W,
		  .p_offset = LIBRARY_PAGES * PAGE,
		  .p_vaddr = DATA_VADDR }
	};
	Elf64_Shdr sections[3] = { { .sh_type = SHT_NULL },
				   { .sh_type = SHT_DYNSYM,
				     .sh_offset = SYMBOLS_OFFSET,
				     .sh_size = (SYMBOL_COUNT + 1) * sizeof(Elf64_Sym),
				     .sh_entsize = sizeof(Elf64_Sym),
				     .sh_link = 2 },
				   { .sh_type = SHT_STRTAB,
				     .sh_offset = SYMBOL_NAMES_OFFSET } };
	uint64_t name = 1;

	for (size_t i = 0; i < SYMBOL_COUNT; i++) {
		Elf64_Sym symbol = { .st_name = (uint32_t)name,
				     .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT),
				     .st_shndx = 1,
				     .st_value = DATA_VADDR + 8 * i,
				     .st_size = 8 };

		write_file(h, &symbol, sizeof(symbol),
			   SYMBOLS_OFFSET + (i + 1) * sizeof(symbol));
		write_file(h, symbols[i].name, strlen(symbols[i].name) + 1,
			   SYMBOL_NAMES_OFFSET + name);
		name += strlen(symbols[i].name) + 1;
	}
	sections[2].sh_size = name;
	write_file(h, &header, sizeof(header), 0);
	write_file(h, parts, sizeof(parts), sizeof(header));
	write_file(h, sections, sizeof(sections), SECTIONS_OFFSET);
	if (ftruncate(h->fd, (off_t)(LIBRARY_PAGES * PAGE)) < 0)
		abort();
}

static void open_file(struct hotspot_image *h)
{
	snprintf(h->folder, sizeof(h->folder), "/tmp/memstate-hotspot-XXXXXX");
	if (!mkdtemp(h->folder))
		abort();
	snprintf(h->library, sizeof(h->library), "%s/libjvm.so", h->folder);
	h->fd = open(h->library, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	h->memory = (struct memory)MEMORY_INIT;
	h->memory.process_fd = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	h->memory.mem_fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	h->memory.pagemap_fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	h->memory.mappings = &h->mappings;
	if (h->fd < 0 || h->memory.process_fd < 0 || h->memory.mem_fd < 0 ||
	    h->memory.pagemap_fd < 0)
		abort();
}

static void make_tables(struct hotspot_image *h)
{
	uint64_t addr = DATA_ADDR + 0x1000;
	bool is_seen[HOTSPOT_FIELD_COUNT_] = { false };

	for (size_t i = 0; i < SYMBOL_COUNT; i++)
		hotspot_image_write(h, DATA_ADDR + 8 * i, symbols[i].value);
	for (size_t i = 0; i < hotspot_field_name_count; i++) {
		const struct hotspot_field_name *n = &hotspot_field_names[i];

		if (is_seen[n->field])
			continue;
		is_seen[n->field] = true;
		hotspot_image_write(h, addr, hotspot_library_add_text(h, n->type));
		hotspot_image_write(h, addr + 8, hotspot_library_add_text(h, n->name));
		hotspot_image_write(h, addr + 24, n->is_static);
		hotspot_image_write(h, addr + 32, offset_of(n->field));
		if (n->is_static)
			hotspot_image_write(h, addr + 40,
					    hotspot_image_field(n->field, 0));
		addr += FIELD_ENTRY;
	}
	hotspot_image_write(h, DATA_ADDR + 0x400,
			    hotspot_library_add_text(h, "Universe"));
	hotspot_image_write(h, DATA_ADDR + 0x400 + TYPE_ENTRY,
			    hotspot_library_add_text(h, "JVMFlag"));
	hotspot_image_write(h, DATA_ADDR + 0x400 + TYPE_ENTRY + 32, FLAG_BYTES);
}

static void make_constants(struct hotspot_image *h)
{
	static const uint64_t values[HOTSPOT_CONSTANT_COUNT_] = {
		[CONSTANT_FREE] = TAG_FREE,
		[CONSTANT_EDEN] = TAG_EDEN,
		[CONSTANT_SURVIVOR] = TAG_SURVIVOR,
		[CONSTANT_HUMONGOUS_MASK] = 4,
		[CONSTANT_HUMONGOUS_CONTINUED] = TAG_CONTINUED,
		[CONSTANT_OLD_MASK] = 16,
		[CONSTANT_ARCHIVE_MASK] = 32,
	};
	uint64_t addr = DATA_ADDR + 0x500;

	for (size_t i = 0; i < HOTSPOT_CONSTANT_COUNT_; i++) {
		hotspot_image_write(
			h, addr, hotspot_library_add_text(h, hotspot_constant_names[i]));
		hotspot_image_write(h, addr + 8, values[i]);
		addr += CONSTANT_ENTRY;
	}
}

static void make_flags(struct hotspot_image *h)
{
	const uint64_t values[HOTSPOT_FLAG_COUNT_] = {
		[FLAG_G1] = h->collector == HOTSPOT_G1,
		[FLAG_SERIAL] = h->collector == HOTSPOT_SERIAL,
		[FLAG_PARALLEL] = h->collector == HOTSPOT_PARALLEL,
		[FLAG_Z] = h->collector == HOTSPOT_Z,
		[FLAG_CLASS_POINTERS] = 1,
		[FLAG_ALIGNMENT] = 8,
		[FLAG_MIN_HEAP] = MIN_HEAP_BYTES,
	};
	uint64_t addr = hotspot_image_add_struct(h), flags = h->next_addr;

	h->next_addr += HOTSPOT_FLAG_COUNT_ * FLAG_BYTES;
	hotspot_image_set(h, 0, FIELD_FLAG_COUNT, HOTSPOT_FLAG_COUNT_);
	hotspot_image_set(h, 0, FIELD_FLAG_LIST, flags);
	for (size_t i = 0; i < HOTSPOT_FLAG_COUNT_; i++) {
		uint64_t flag = flags + i * FLAG_BYTES;

		hotspot_image_set(h, flag, FIELD_FLAG_NAME,
				  hotspot_library_add_text(h, hotspot_flag_names[i]));
		hotspot_image_set(h, flag, FIELD_FLAG_ADDR, addr + 8 * i);
		hotspot_image_write(h, addr + 8 * i, values[i]);
	}
}

void hotspot_library_open(struct hotspot_image *h)
{
	open_file(h);
	make_file(h);
}

void hotspot_library_close(struct hotspot_image *h)
{
	memory_release(&h->memory);
	close(h->memory.process_fd);
	close(h->memory.mem_fd);
	close(h->memory.pagemap_fd);
	close(h->fd);
	unlink(h->library);
	rmdir(h->folder);
}

void hotspot_library_make_tables(struct hotspot_image *h)
{
	make_tables(h);
	make_constants(h);
	make_flags(h);
}
