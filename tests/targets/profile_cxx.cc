// SPDX-License-Identifier: GPL-2.0-or-later
/* Like profile_target.c, in C++: the names must appear as in the source. */
#include <cstdio>
#include <string>

namespace shop {

template <typename T> struct Shelf {
	T *items = nullptr;
	__attribute__((noinline)) void fill(unsigned long count);
};

template <typename T> void Shelf<T>::fill(unsigned long count)
{
	items = static_cast<T *>(::operator new(count * sizeof(T)));
	__asm__ volatile("" : : "r"(items) : "memory");
}

} // namespace shop

int main()
{
	shop::Shelf<int> ints;
	shop::Shelf<char> chars;

	ints.fill(1000);
	for (int i = 0; i < 5; i++)
		chars.fill(300);
	std::printf("stack main;shop::Shelf<int>::fill(unsigned long);"
		    "operator new(unsigned long) 1 4000 1 4000\n"
		    "stack main;shop::Shelf<char>::fill(unsigned long);"
		    "operator new(unsigned long) 5 1500 5 1500\n");
	return 0;
}
