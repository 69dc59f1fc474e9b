/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A C++ program that prints to standard error how often it called new and
 * delete, in all their forms.
 */
#include <cstddef>
#include <cstdio>
#include <new>

struct alignas(64) Wide {
	char bytes[64];
};

static void *volatile kept;

int main(int argc, char **)
{
	int throwing = 0;

	for (int i = 0; i < 100; i++) {
		int *one = new int;
		char *many = new char[50];
		Wide *wide = new Wide;
		int *maybe = new (std::nothrow) int[3];

		kept = one;
		kept = many;
		kept = wide;
		kept = maybe;
		delete one;
		delete[] many;
		delete wide;
		delete[] maybe;
	}
	kept = new char[1000];
	::operator delete(nullptr);
	/*
	 * With an argument, make new throw. Omit the argument if the allocator's new
	 * ends the program instead.
	 */
	try {
		if (argc > 1)
			kept = ::operator new(static_cast<std::size_t>(-1) / 4);
	} catch (const std::bad_alloc &) {
		throwing = 1;
	}
	std::fprintf(stderr, "new %d\ndelete %d\nblocks %d\n", 401 + throwing, 401, 1);
	return throwing == (argc > 1) ? 0 : 99;
}
