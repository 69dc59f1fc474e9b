/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "made_program.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "made_file.h"
#include "unit.h"

#define SYMBOLS_OFFSET offsetof(struct tables, symbols)

enum section {
	SECTION_NONE,
	SECTION_SYMBOLS,
	SECTION_NAMES,
	SECTION_RELR,
	SECTION_COUNT_
};

struct tables {
	Elf64_Ehdr header;
	Elf64_Phdr parts[MADE_PARTS_MAX];
	Elf64_Shdr sections[SECTION_COUNT_];
	Elf64_Sym symbols[MADE_SYMBOLS_MAX];
	char names[256];
};

Elf64_Phdr made_program_part(uint64_t offset_bytes, uint64_t length, uint32_t flags)
{
	return (Elf64_Phdr){ .p_type = PT_LOAD,
			     .p_flags = flags,
			     .p_offset = offset_bytes,
			     .p_vaddr = offset_bytes,
			     .p_filesz = length,
			     .p_memsz = length };
}

static void add_symbols(const struct made_program *program, struct tables *tables)
{
	size_t used = 1;

	for (size_t i = 0; i < MADE_SYMBOLS_MAX && program->symbols[i].name; i++) {
		const struct made_symbol *symbol = &program->symbols[i];

		tables->symbols[i] = (Elf64_Sym){
			.st_name = (uint32_t)used,
			.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			.st_shndx = 1,
			.st_value = symbol->vaddr,
			.st_size = symbol->bytes,
		};
		assert_true(used + strlen(symbol->name) < sizeof(tables->names));
		strcpy(tables->names + used, symbol->name);
		used += strlen(symbol->name) + 1;
	}
}

static struct tables make_tables(const struct made_program *program)
{
	struct tables tables = {
		.sections = {
			[SECTION_SYMBOLS] = { .sh_type = program->symbols_type,
					      .sh_offset = SYMBOLS_OFFSET,
					      .sh_size = sizeof(tables.symbols),
					      .sh_link = SECTION_NAMES },
			[SECTION_NAMES] = { .sh_type = SHT_STRTAB,
					    .sh_offset = offsetof(struct tables, names),
					    .sh_size = sizeof(tables.names) },
			/* SHT_RELR, which old headers lack; it follows the contents */
			[SECTION_RELR] = { .sh_type = program->relr ? 19 : SHT_NULL,
					   .sh_offset = MADE_CONTENTS_OFFSET +
							program->length,
					   .sh_size = program->relr_count *
						      sizeof(*program->relr) },
		},
	};
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	assert_int_equal(io_read_at(fd, &tables.header, sizeof(tables.header), 0), 0);
	close(fd);
	tables.header.e_phoff = offsetof(struct tables, parts);
	tables.header.e_phnum = (uint16_t)program->part_count;
	tables.header.e_shoff = offsetof(struct tables, sections);
	tables.header.e_shnum = SECTION_COUNT_;
	memcpy(tables.parts, program->parts, sizeof(tables.parts));
	add_symbols(program, &tables);
	return tables;
}

int made_program_open(const struct made_program *program)
{
	struct tables tables = make_tables(program);
	int fd = made_file(&tables, sizeof(tables));

	assert_true(sizeof(tables) <= MADE_CONTENTS_OFFSET);
	assert_true(lseek(fd, MADE_CONTENTS_OFFSET, SEEK_SET) == MADE_CONTENTS_OFFSET);
	assert_int_equal(io_write_all(fd, program->contents, program->length), 0);
	assert_int_equal(io_write_all(fd, program->relr,
				      program->relr_count * sizeof(*program->relr)),
			 0);
	if (program->file_bytes > 0)
		assert_int_equal(ftruncate(fd, (off_t)program->file_bytes), 0);
	return fd;
}

uint64_t made_program_io(const char *key)
{
	FILE *f = fopen("/proc/self/io", "re");
	char name[32];
	unsigned long long value;
	bool is_found = false;

	while (f && !is_found && fscanf(f, "%31[^:]: %llu\n", name, &value) == 2)
		is_found = strcmp(name, key) == 0;
	if (f)
		fclose(f);
	if (!is_found)
		skip();
	return value;
}
