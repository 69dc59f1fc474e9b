/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * types_target - a process with known numbers of objects of C++
 * classes, for tests to compare with.
 *
 * For each type it prints "COUNT BYTES NAME", where BYTES is the sum of
 * malloc_usable_size(). Then it prints its "pid" and "ready". It waits for the end
 * of its input, for at most five minutes. With an argument it first forgets all objects.
 * It prints without buffers from malloc. Blocks without a type have sizes that
 * nothing else in the process has.
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <malloc.h>
#include <memory>
#include <new>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace shapes
{
struct Shape {
	virtual ~Shape() {}
	virtual double area() const { return 0; }
	uint64_t id = 1;
};

struct Circle final : Shape {
	double area() const override { return 3 * radius * radius; }
	double radius = 2;
};

template <typename T, int N> struct Polygon : Shape {
	double area() const override { return N; }
	T corners[N] = {};
};

/* internal to this file */
namespace
{
struct Hidden : Shape {
	double area() const override { return 1; }
	char text[100] = {};
};
}
}

struct Named {
	virtual ~Named() {}
	const char *name = "";
};

/* Its objects begin with the virtual table of the first base. */
struct Labelled : shapes::Shape, Named {
	uint64_t label = 3;
};

/* The offsets of virtual bases precede the address that objects point to. */
struct Left : virtual shapes::Shape {
	uint64_t left = 4;
};

struct Right : virtual shapes::Shape {
	uint64_t right = 5;
};

struct Diamond : Left, Right {
	uint64_t own = 6;
};

/*
 * Renamed after compiling to the names that linkers see for a
 * Swift and an Objective-C class.
 */
extern "C" {
extern const uint64_t swift_class[], objc_class[];
const uint64_t swift_class[16] = { 1 };
const uint64_t objc_class[16] = { 1 };
}

static void *kept[100000];
static size_t kept_count;

static void say(const char *line)
{
	if (write(STDOUT_FILENO, line, strlen(line)) < 0)
		_exit(99);
}

static void say_sum(const char *name, size_t count, size_t bytes)
{
	char line[256];

	snprintf(line, sizeof(line), "%zu %zu %s\n", count, bytes, name);
	say(line);
}

template <typename T> static void make(const char *name, size_t count)
{
	size_t bytes = 0;

	for (size_t i = 0; i < count; i++) {
		T *made = new T();

		kept[kept_count++] = made;
		bytes += malloc_usable_size(made);
	}
	say_sum(name, count, bytes);
}

/* Freed objects must not be counted. */
static void free_some()
{
	for (size_t i = 0; i < 500; i++)
		delete new shapes::Circle();
}

static void make_plain(size_t size, size_t count, const uint64_t *first = nullptr)
{
	size_t bytes = 0;
	char name[32];

	for (size_t i = 0; i < count; i++) {
		void *made = malloc(size);

		memset(made, 0x11, size);
		if (first)
			memcpy(made, &first, sizeof(first));
		kept[kept_count++] = made;
		bytes += malloc_usable_size(made);
	}
	snprintf(name, sizeof(name), "- %zu", malloc_usable_size(kept[kept_count - 1]));
	say_sum(name, count, bytes);
}

int main(int argc, char **)
{
	char line[32];
	char byte;

	alarm(300);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	make<shapes::Circle>("shapes::Circle", 1000);
	make<shapes::Polygon<uint64_t, 5>>("shapes::Polygon<unsigned long, 5>", 700);
	make<shapes::Polygon<char, 40>>("shapes::Polygon<char, 40>", 70);
	make<shapes::Hidden>("shapes::(anonymous namespace)::Hidden", 300);
	make<Labelled>("Labelled", 200);
	make<Diamond>("Diamond", 150);
	make<std::bad_alloc>("std::bad_alloc", 11);
	free_some();
	make_plain(72, 40, swift_class + 2);
	make_plain(88, 50, objc_class);
	make_plain(5000, 30);
	make_plain(777, 60);
	if (argc > 1)
		memset(kept, 0, sizeof(kept));
	snprintf(line, sizeof(line), "pid %d\nready\n", (int)getpid());
	say(line);
	while (read(STDIN_FILENO, &byte, 1) > 0) {
	}
	return 0;
}
