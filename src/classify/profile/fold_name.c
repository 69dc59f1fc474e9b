/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/profile/fold_name.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

#define LENGTH_MAX 65536

#define FOLDED "<...>"

static const char *const copy_suffixes[] = {
	"constprop", "isra",	   "part",  "cold",   "llvm",
	"lto_priv",  "localalias", "clone", "__uniq",
};

/*
 * Words that mark copies of a function in Swift. Each word is followed by " <...> of " or
 * by a single space.
 */
static const char *const swift_copies[] = {
	"generic specialization",
	"generic not re-abstracted specialization",
	"generic partial specialization",
	"inlined generic function",
	"function signature specialization",
};
static const char *const swift_words[] = { "specialized ", "merged " };

/* C++ operators that contain bracket characters, longest first. */
static const char *const operators[] = {
	"<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "()", "[]", "<", ">",
};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

struct part {
	const char *text;
	size_t length;
};

static bool starts_with(struct part p, size_t at, const char *word)
{
	size_t length = strlen(word);

	return p.length - at >= length && memcmp(p.text + at, word, length) == 0;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f');
}

/*
 * Return true if the byte c can be part of an identifier, as every byte of a UTF-8
 * sequence can.
 */
static bool is_name_char(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

static size_t operator_length(struct part p, size_t at)
{
	size_t length = strlen("operator");

	if (!starts_with(p, at, "operator") || (at > 0 && is_name_char(p.text[at - 1])))
		return 0;
	for (size_t i = 0; i < COUNT_OF(operators); i++)
		if (starts_with(p, at + length, operators[i]))
			return length + strlen(operators[i]);
	return 0;
}

/*
 * Return the length of a token such as "->" or "(anonymous namespace)", whose bracket
 * characters do not delimit arguments. Return 1 if no such token is at this position.
 */
static size_t step(struct part p, size_t at)
{
	size_t length = operator_length(p, at);

	if (length > 0)
		return length;
	if (starts_with(p, at, "->"))
		return 2;
	if (starts_with(p, at, "(anonymous namespace)"))
		return strlen("(anonymous namespace)");
	return 1;
}

/* Return the position after the matching closing bracket, or 0 if no bracket matches. */
static size_t skip_bracket(struct part p, size_t at)
{
	char open = p.text[at], close = open == '<' ? '>' : open == '(' ? ')' : '}';
	size_t depth = 0, parentheses = 0, length;

	for (size_t i = at; i < p.length; i += length) {
		char c = p.text[i];

		length = step(p, i);
		if (length > 1)
			continue;
		/*
		 * "<" and ">" inside parentheses are operators, not
		 * brackets, as in "<(a > b)>"
		 */
		if (open == '<' && c == '(')
			parentheses++;
		else if (open == '<' && c == ')' && parentheses > 0)
			parentheses--;
		else if (c == open && parentheses == 0)
			depth++;
		else if (c == close && parentheses == 0 && --depth == 0)
			return i + 1;
	}
	return 0;
}

/*
 * Return the length of the name without a compiler-appended suffix ".word"
 * or ".word.123".
 */
static size_t without_suffix(struct part p)
{
	size_t end = p.length, dot;

	for (;;) {
		for (dot = end; dot > 0 && p.text[dot - 1] != '.';)
			dot--;
		if (dot <= 1 || dot == end)
			return p.length;
		for (size_t i = 0; i < COUNT_OF(copy_suffixes); i++)
			if (end - dot == strlen(copy_suffixes[i]) &&
			    memcmp(p.text + dot, copy_suffixes[i], end - dot) == 0)
				return dot - 1;
		for (size_t i = dot; i < end; i++)
			if (!is_digit(p.text[i]))
				return p.length;
		end = dot - 1;
	}
}

/*
 * Return the length of the name without a suffix such as " [clone .isra.0]", as found in
 * demangled C++ names.
 */
static size_t without_clone(struct part p)
{
	static const char begin[] = " [clone ";
	struct part suffixes;
	size_t at, length;

	if (p.length == 0 || p.text[p.length - 1] != ']')
		return p.length;
	for (at = p.length - 1; at > 0 && p.text[at] != '[';)
		at--;
	if (at == 0 || !starts_with(p, at - 1, begin))
		return p.length;
	/* the text after "clone" and a space is a list of suffixes */
	suffixes.text = p.text + at - 1 + strlen(begin) - 1;
	suffixes.length = (size_t)(p.text + p.length - 1 - suffixes.text);
	for (length = suffixes.length; length > 1; suffixes.length = length) {
		length = without_suffix(suffixes);
		if (length == suffixes.length)
			return p.length;
	}
	return at - 1;
}

static size_t without_hash(struct part p)
{
	static const size_t length = 3 + 16;

	if (p.length <= length || memcmp(p.text + p.length - length, "::h", 3) != 0)
		return p.length;
	for (size_t i = p.length - 16; i < p.length; i++)
		if (!is_hex(p.text[i]))
			return p.length;
	return p.length - length;
}

static struct part cut_end(struct part p)
{
	for (;;) {
		size_t length = without_suffix(p);

		if (length == p.length)
			length = without_clone(p);
		if (length == p.length)
			length = without_hash(p);
		if (length == p.length)
			return p;
		p.length = length;
	}
}

/*
 * Return the length of the prefix that marks a copy of a function, or 0 without a prefix.
 */
static size_t copy_prefix(struct part p)
{
	for (size_t i = 0; i < COUNT_OF(swift_words); i++)
		if (starts_with(p, 0, swift_words[i]))
			return strlen(swift_words[i]);
	for (size_t i = 0; i < COUNT_OF(swift_copies); i++) {
		size_t at = strlen(swift_copies[i]);

		if (!starts_with(p, 0, swift_copies[i]) || !starts_with(p, at, " <"))
			continue;
		at = skip_bracket(p, at + 1);
		return at > 0 && starts_with(p, at, " of ") ? at + strlen(" of ") : 0;
	}
	return 0;
}

static struct part cut_begin(struct part p)
{
	size_t cut;

	while ((cut = copy_prefix(p)) > 0 && cut < p.length) {
		p.text += cut;
		p.length -= cut;
	}
	return p;
}

/*
 * Return the length of the bracketed hash in a name such as
 * "name[0123456789abcdef]", or 0.
 */
static size_t crate_hash(struct part p, size_t at)
{
	size_t i = at + 1;

	if (p.text[at] != '[' || at == 0 || !is_name_char(p.text[at - 1]))
		return 0;
	while (i < p.length && is_hex(p.text[i]))
		i++;
	return i < p.length && p.text[i] == ']' && i - at > 8 ? i + 1 - at : 0;
}

/*
 * Return true if '<' starts template or generic arguments, and false if it starts a Rust
 * path such as "<T as Trait>".
 */
static bool begins_arguments(struct part p, size_t at)
{
	char before = at > 0 ? p.text[at - 1] : ' ';

	if (before == ':')
		return !starts_with(p, at, "<impl ");
	return is_name_char(before) || before == ')' || before == ']' || before == '}';
}

/*
 * Append the name with "<...>" for its template arguments. If the brackets do not match,
 * return false and leave *out unchanged.
 */
static bool add_folded(struct strbuf *out, struct part p, bool keeps_generics)
{
	size_t begin = out->length, end, length;
	bool is_after_operator = false;

	for (size_t i = 0; i < p.length; i = end) {
		bool is_arguments = p.text[i] == '<' && !keeps_generics &&
				    (is_after_operator || begins_arguments(p, i));
		bool was_after_operator = is_after_operator;

		is_after_operator = false;
		length = step(p, i);
		end = i + length;
		if (is_arguments) {
			end = skip_bracket(p, i);
			if (end == 0) {
				strbuf_truncate(out, begin);
				return false;
			}
			strbuf_add_text(out, FOLDED);
		} else if (crate_hash(p, i) > 0) {
			end = i + crate_hash(p, i);
		} else {
			strbuf_add(out, p.text + i, length);
			/*
			 * template arguments may follow the name of an
			 * operator, as in "operator< <int>"
			 */
			is_after_operator = operator_length(p, i) > 0 ||
					    (was_after_operator && p.text[i] == ' ');
		}
	}
	return true;
}

/*
 * Return the position after the bracketed part, operator or character at the given
 * position. Return 0 if the brackets do not match.
 */
static size_t skip_part(struct part p, size_t at)
{
	size_t length = step(p, at);

	return length == 1 && strchr("<({", p.text[at]) ? skip_bracket(p, at)
							: at + length;
}

/*
 * Return the position where the name begins, after the return type. Only names of
 * template instances include a return type.
 */
static size_t name_begin(struct part p)
{
	size_t begin = 0, i, end;

	for (i = 0; i < p.length && (p.text[i] != '(' || step(p, i) > 1); i = end) {
		if (starts_with(p, i, "operator"))
			return begin;
		if (p.text[i] == ' ')
			begin = i + 1;
		end = skip_part(p, i);
		if (end == 0)
			return 0;
	}
	return i >= strlen(FOLDED) && starts_with(p, i - strlen(FOLDED), FOLDED) ? begin
										 : 0;
}

/* Return true for a Swift name, which includes the names of the function's parameters. */
static bool has_named_parameters(struct part p)
{
	for (size_t i = 0; i < p.length; i++)
		if (starts_with(p, i, " -> ") || starts_with(p, i, ":)"))
			return true;
	return false;
}

/*
 * Append the name without the parameters that follow folded template arguments. If the
 * brackets do not match, return false and leave *out unchanged.
 */
static bool add_without_signature(struct strbuf *out, struct part p)
{
	size_t begin = out->length, end;
	bool is_folded = false;

	for (size_t i = name_begin(p); i < p.length; i = end) {
		end = skip_part(p, i);
		if (end == 0) {
			strbuf_truncate(out, begin);
			return false;
		}
		if (is_folded && p.text[i] == '(' && step(p, i) == 1) {
			if (end < p.length && p.text[end] == ' ')
				/*
				 * also omit qualifiers after the parameters, such
				 * as "const"
				 */
				return true;
			continue;
		}
		is_folded = is_folded || starts_with(p, i, FOLDED);
		strbuf_add(out, p.text + i, end - i);
	}
	return true;
}

void fold_name_add(struct strbuf *out, const char *name, bool keeps_generics)
{
	_cleanup_strbuf_ struct strbuf folded = STRBUF_INIT;
	struct part p = { name, strlen(name) };

	if (p.length <= LENGTH_MAX) {
		p = cut_begin(cut_end(p));
		if (add_folded(&folded, p, keeps_generics))
			p = (struct part){ strbuf_text(&folded), folded.length };
		if (!keeps_generics && !has_named_parameters(p) &&
		    add_without_signature(out, p))
			return;
	}
	strbuf_add(out, p.text, p.length);
}

static uint32_t add_frame(struct profile *to, const struct profile_frame *frame,
			  bool keeps_generics)
{
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;
	struct profile_frame folded = *frame;

	if (frame->function) {
		fold_name_add(&name, frame->function, keeps_generics);
		folded.function = strbuf_text(&name);
	} else if (frame->module != PROFILE_NO_MODULE && frame->kind == FRAME_CODE) {
		const char *path = to->modules[frame->module].path;
		const char *slash = path[0] == '[' ? NULL : strrchr(path, '/');

		/*
		 * use the module as the name of a nameless function, whose address
		 * differs between builds
		 */
		strbuf_addf(&name, path[0] == '[' ? "%s" : "[%s]",
			    slash ? slash + 1 : path);
		folded.function = strbuf_text(&name);
	}
	return profile_add_frame(to, &folded);
}

void fold_profile(const struct profile *profile, bool keeps_generics, struct profile *ret)
{
	uint32_t *frames = xcalloc(profile->frame_count + 1, sizeof(*frames));
	uint32_t *nodes = xcalloc(profile->node_count + 1, sizeof(*nodes));

	profile_init_like(ret, profile);
	for (size_t i = 0; i < profile->frame_count; i++)
		frames[i] = add_frame(ret, &profile->frames[i], keeps_generics);
	for (size_t i = 0; i < profile->node_count; i++) {
		const struct profile_node *node = &profile->nodes[i];

		if (i > 0)
			nodes[i] = profile_add_node(ret, nodes[node->parent],
						    frames[node->frame]);
		for (int m = 0; m < PROFILE_METRIC_COUNT_; m++)
			ret->nodes[nodes[i]].values[m] += node->values[m];
	}
	free(frames);
	free(nodes);
}
