/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/profile/fold_name.h"

#include <stdlib.h>
#include <string.h>

#include "../../support/unit.h"

struct folding {
	const char *name, *folded;
};

static void check_all(const struct folding *foldings, size_t count, bool keeps_generics)
{
	for (size_t i = 0; i < count; i++) {
		_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

		fold_name_add(&out, foldings[i].name, keeps_generics);
		assert_string_equal(strbuf_text(&out), foldings[i].folded);
	}
}

#define CHECK_ALL(foldings, keeps_generics) \
	check_all(foldings, sizeof(foldings) / sizeof((foldings)[0]), keeps_generics)

static void compiler_suffixes_of_clones_are_removed(void **state)
{
	static const struct folding foldings[] = {
		{ "parse.constprop.0", "parse" },
		{ "parse.isra.0.cold", "parse" },
		{ "parse.part.12", "parse" },
		{ "parse.constprop.0.isra.1.part.2", "parse" },
		{ "parse.llvm.12345678901234567890", "parse" },
		{ "parse(int) [clone .constprop.0]", "parse(int)" },
		{ "parse(int) [clone .isra.0] [clone .cold]", "parse(int)" },
		{ "parse(int) [clone .constprop.0.isra.1]", "parse(int)" },
		{ "core::fmt::write::h0123456789abcdef", "core::fmt::write" },
		{ "core[0f3a5c7d9b1e2468]::fmt::write", "core::fmt::write" },
		{ "generic specialization <Swift.Int> of Swift.Array.append(__owned A) -> ()",
		  "Swift.Array.append(__owned A) -> ()" },
		{ "function signature specialization <Arg[0] = Owned To Guaranteed> of generic "
		  "specialization <Swift.Array<Swift.Int>> of main.f(A) -> ()",
		  "main.f(A) -> ()" },
		{ "specialized Array.append(_:)", "Array.append(_:)" },
		{ "merged specialized Dictionary.subscript.setter",
		  "Dictionary.subscript.setter" },
	};

	(void)state;
	CHECK_ALL(foldings, false);
	CHECK_ALL(foldings, true);
}

static void parts_of_the_real_name_are_kept(void **state)
{
	static const struct folding foldings[] = {
		{ "", "" },
		{ "main", "main" },
		{ "cold", "cold" },
		{ ".cold", ".cold" },
		{ "main.func1", "main.func1" },
		{ "fn.0", "fn.0" },
		{ "fn._omp_fn.0", "fn._omp_fn.0" },
		{ "coroutine(int) [clone .resume]", "coroutine(int) [clone .resume]" },
		{ "std::string::append[abi:cxx11](char const*)",
		  "std::string::append[abi:cxx11](char const*)" },
		{ "item::h0123", "item::h0123" },
		{ "operator new(unsigned long)", "operator new(unsigned long)" },
		{ "P::operator->()", "P::operator->()" },
		{ "operator<(P const&, P const&)", "operator<(P const&, P const&)" },
		{ "P::operator<=>(P const&) const", "P::operator<=>(P const&) const" },
		{ "(anonymous namespace)::f(int)", "(anonymous namespace)::f(int)" },
		{ "[libc.so.6]", "[libc.so.6]" },
		{ "[cut]", "[cut]" },
		{ "my_operator<(", "my_operator<(" },
		{ "broken<int", "broken<int" },
		{ "<<<<", "<<<<" },
		{ ">>>)(", ">>>)(" },
		{ "operator", "operator" },
		{ "caf\xc3\xa9", "caf\xc3\xa9" },
	};

	(void)state;
	CHECK_ALL(foldings, false);
	CHECK_ALL(foldings, true);
}

static void template_and_generic_arguments_are_folded(void **state)
{
	static const struct folding foldings[] = {
		{ "std::vector<int, std::allocator<int> >::push_back(int&&)",
		  "std::vector<...>::push_back" },
		{ "void std::vector<int>::emplace_back<int&>(int&)",
		  "std::vector<...>::emplace_back<...>" },
		{ "std::pair<int, long> make<((1)>(0)), std::less<void> >(int)",
		  "make<...>" },
		{ "unsigned long (anonymous namespace)::f<int>(int)",
		  "(anonymous namespace)::f<...>" },
		{ "f(std::vector<int>)", "f(std::vector<...>)" },
		{ "std::set<int>::find(int const&) const [clone .isra.0]",
		  "std::set<...>::find" },
		{ "bool operator< <int>(P<int> const&, P<int> const&)",
		  "operator< <...>" },
		{ "std::ostream& operator<< <char>(std::ostream&, char)",
		  "operator<< <...>" },
		{ "f<int>(int)::{lambda(long, int)#1}::operator()(long, int) const",
		  "f<...>::{lambda(long, int)#1}::operator()" },
		{ "f(int)::{lambda(auto:1)#1}::operator()<int>(int) const",
		  "f(int)::{lambda(auto:1)#1}::operator()<...>" },
		{ "std::function<void (int)>::operator()(int) const",
		  "std::function<...>::operator()" },
		{ "g<&P::operator->, (P::x)->y>()", "g<...>" },
		{ "alloc::vec::Vec<T,A>::push", "alloc::vec::Vec<...>::push" },
		{ "alloc::raw_vec::finish_grow::<alloc::alloc::Global>",
		  "alloc::raw_vec::finish_grow::<...>" },
		{ "<alloc::vec::Vec<u8> as core::ops::Drop>::drop",
		  "<alloc::vec::Vec<...> as core::ops::Drop>::drop" },
		{ "<(A, B<u8>) as core::hash::Hash>::hash",
		  "<(A, B<...>) as core::hash::Hash>::hash" },
		{ "core::slice::<impl [T]>::sort_by",
		  "core::slice::<impl [T]>::sort_by" },
		{ "Array<Int>.append(_:)", "Array<...>.append(_:)" },
		{ "main.f<A>(A, to: Swift.Array<A>) -> ()",
		  "main.f<...>(A, to: Swift.Array<...>) -> ()" },
	};

	(void)state;
	CHECK_ALL(foldings, false);
}

static void template_and_generic_arguments_are_kept_on_request(void **state)
{
	static const struct folding foldings[] = {
		{ "void f<int>(int) [clone .cold]", "void f<int>(int)" },
		{ "bool operator< <int>(P<int> const&)",
		  "bool operator< <int>(P<int> const&)" },
		{ "alloc::vec::Vec<T>::push::h0123456789abcdef",
		  "alloc::vec::Vec<T>::push" },
	};

	(void)state;
	CHECK_ALL(foldings, true);
}

/* Fold every substring of odd names. Folding must end, and the result must stay short. */
static void any_text_can_be_folded(void **state)
{
	static const char odd[] =
		"operator<<(<{[<(anonymous namespace)>->>)})]>generic "
		"specialization <specialized .cold.0[deadbeef0]::h [clone .";

	(void)state;
	for (size_t begin = 0; begin < sizeof(odd); begin++)
		for (size_t length = 0; length <= sizeof(odd) - 1 - begin; length++) {
			_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
			char *name = strndup(odd + begin, length);

			assert_non_null(name);
			fold_name_add(&out, name, false);
			assert_true(out.length <= 5 * length);
			free(name);
		}
}

static uint32_t add_node(struct profile *p, uint32_t parent, const char *function,
			 uint64_t calls)
{
	struct profile_frame frame = { .function = function,
				       .module = PROFILE_NO_MODULE };
	uint32_t node = profile_add_node(p, parent, profile_add_frame(p, &frame));

	p->nodes[node].values[PROFILE_ALLOCATIONS] = calls;
	return node;
}

static void stacks_that_become_equal_are_added_up(void **state)
{
	struct profile p, folded;
	uint32_t root;

	(void)state;
	profile_init(&p);
	root = add_node(&p, add_node(&p, 0, NULL, 1), "main.cold", 2);
	add_node(&p, root, "f<int>(int)", 10);
	add_node(&p, root, "f<long>(long)", 100);
	fold_profile(&p, false, &folded);
	assert_int_equal(folded.node_count, 4);
	assert_null(folded.frames[folded.nodes[1].frame].function);
	assert_string_equal(folded.frames[folded.nodes[2].frame].function, "main");
	assert_string_equal(folded.frames[folded.nodes[3].frame].function, "f<...>");
	assert_int_equal(folded.nodes[2].values[PROFILE_ALLOCATIONS], 2);
	assert_int_equal(folded.nodes[3].values[PROFILE_ALLOCATIONS], 110);
	profile_release(&folded);
	fold_profile(&p, true, &folded);
	assert_int_equal(folded.node_count, 5);
	profile_release(&folded);
	profile_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(compiler_suffixes_of_clones_are_removed),
		cmocka_unit_test(parts_of_the_real_name_are_kept),
		cmocka_unit_test(template_and_generic_arguments_are_folded),
		cmocka_unit_test(template_and_generic_arguments_are_kept_on_request),
		cmocka_unit_test(any_text_can_be_folded),
		cmocka_unit_test(stacks_that_become_equal_are_added_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
