'use strict';
/*
 * Rules that change stacks, with the syntax of memstate's --transform; transform_rules.h
 * describes them. A rule is { kind, pattern, text, regex } here. `sets` is a Map from the
 * names of sets to the texts of their rules.
 *
 * The names of frames form a growing list; a frame is identified by
 * its index in the list.
 */

const RULES_MAX = 1000, NAME_MAX = 4096;
const RULE_KINDS = ['filter', 'remove', 'replace', 'hide', 'from', 'to'];

/* POSIX character classes, as the contents of a JavaScript []. */
const CHARACTER_CLASSES = {
	alnum: 'A-Za-z0-9', alpha: 'A-Za-z', blank: ' \\t', cntrl: '\\x00-\\x1f\\x7f', digit: '0-9',
	graph: '\\x21-\\x7e', lower: 'a-z', print: '\\x20-\\x7e',
	punct: '!-\\/:-@\\[-`{-~', space: ' \\t\\n\\r\\f\\v', upper: 'A-Z', xdigit: 'A-Fa-f0-9',
};

/*
 * Translate the bracket expression that starts at `at`. Return { text, end }, where end
 * is the position after the ']'.
 */
function translateBracket(pattern, at) {
	let text = '[';

	for (at++; at < pattern.length; at++) {
		const named = /^\[:([a-z]+):\]/.exec(pattern.slice(at, at + 12));

		if (pattern[at] === ']' && text !== '[' && text !== '[^')
			return { text: text + ']', end: at + 1 };
		if (pattern[at] === ']')
			throw new Error('] must not be first in []; write \\] outside the brackets, with |');
		if (pattern[at] === '\\')
			throw new Error('a backslash in [] is not supported; write it outside the brackets, with |');
		if (named) {
			if (!CHARACTER_CLASSES[named[1]])
				throw new Error('[: in [] must be part of a class such as [[:alnum:]]');
			text += CHARACTER_CLASSES[named[1]];
			at += named[0].length - 1;
		} else if (/^\[[.=:]/.test(pattern.slice(at, at + 2))) {
			throw new Error(pattern.slice(at, at + 2) + ' in [] is not supported');
		} else {
			text += pattern[at] === '[' ? '\\[' : pattern[at];
		}
	}
	throw new Error('[ without ]');
}

/* Translate a backslash followed by this character. */
function translateEscape(character) {
	if (character === undefined)
		throw new Error('the regular expression ends with a backslash');
	if (/[wWsSbB]/.test(character))
		return '\\' + character;
	if (/[A-Za-z0-9<>`']/.test(character))
		throw new Error('unknown escape \\' + character);
	return /[\^$\\.*+?()[\]{}|/]/.test(character) ? '\\' + character : character;
}

/* Translate a repeat such as "*" or "{2,3}". A repeat must not be repeated itself. */
function translateRepeat(pattern, at, hasAtom) {
	const repeat = /^(?:[*+?]|\{\d+(?:,\d*)?\})/.exec(pattern.slice(at));

	if (!hasAtom)
		throw new Error(pattern[at] + ' has nothing to repeat; write \\' + pattern[at]);
	if (!repeat)
		throw new Error('{ must be {2}, {2,} or {2,3}; write \\{ for the character');
	if (/^[*+?{]/.test(pattern.slice(at + repeat[0].length)))
		throw new Error(pattern[at + repeat[0].length] +
			' follows another repeat; put () around the first one');
	return { text: repeat[0], end: at + repeat[0].length };
}

/* Translate one part of a pattern, starting at `at`. Return { text, end }. */
function translatePart(pattern, at, hasAtom) {
	const character = pattern[at];

	if (character === '[')
		return translateBracket(pattern, at);
	if (character === '\\')
		return { text: translateEscape(pattern[at + 1]), end: at + 2 };
	if (/[*+?{]/.test(character))
		return translateRepeat(pattern, at, hasAtom);
	if (/^\((?:\?|\))/.test(pattern.slice(at, at + 2)))
		throw new Error(pattern.slice(at, at + 2) + ' is not supported; write \\( for the character');
	return { text: /[}\]]/.test(character) ? '\\' + character : character, end: at + 1 };
}

/*
 * Compile a POSIX extended regular expression to a JavaScript one. Throw an Error that
 * explains what is wrong with the pattern.
 */
function compileRegex(pattern) {
	let text = '', depth = 0, hasAtom = false;

	for (let at = 0; at < pattern.length;) {
		const part = translatePart(pattern, at, hasAtom);

		depth += part.text === '(' ? 1 : part.text === ')' ? -1 : 0;
		if (depth < 0)
			throw new Error(') without (; write \\) for the character');
		hasAtom = !/^(?:[(^$|]|\\[bB])$/.test(part.text);
		text += part.text;
		at = part.end;
	}
	if (depth > 0)
		throw new Error('( without ); write \\( for the character');
	return new RegExp(text, 'gsu');
}

function checkText(text, partCount) {
	for (const escape of text.match(/\\[^]?/g) || []) {
		if (escape !== '\\\\' && !/[0-9]/.test(escape[1] || ''))
			throw new Error('a backslash in the replacement must be \\\\ or \\0 to \\9');
		if (Number(escape[1]) > partCount)
			throw new Error(escape + ': the regular expression has only ' + partCount + ' groups');
	}
}

/*
 * Parse a line as a rule; the name of a set gives { kind: 'set', pattern }. Throw an
 * Error that explains what is wrong with the line.
 */
function parseRule(line, sets) {
	const trimmed = line.trim();
	const word = trimmed.split(/\s/, 1)[0];
	let pattern = trimmed.slice(word.length).trim();
	let text = null, arrow;

	if (!RULE_KINDS.includes(word)) {
		if (!sets.has(trimmed))
			throw new Error('unknown rule; use ' + RULE_KINDS.join(', ') + ' or the name of a set');
		return { kind: 'set', pattern: trimmed };
	}
	if (word === 'replace') {
		arrow = /\s=>(?:\s|$)/.exec(' ' + pattern);
		if (!arrow)
			throw new Error('replace requires a regular expression, => and a text');
		text = pattern.slice(arrow.index + 2).trim();
		pattern = pattern.slice(0, arrow.index).trim();
	}
	if (pattern === '')
		throw new Error(word + ' requires a regular expression');
	const regex = compileRegex(pattern);

	if (text !== null)
		checkText(text, new RegExp(regex.source + '|', 'u').exec('').length - 1);
	return { kind: word, pattern: pattern, text: text, regex: regex };
}

/* Parse lines as rules and replace each set by its rules. */
function expandRules(lines, sets, depth = 0) {
	const rules = [];

	for (const line of lines) {
		const rule = parseRule(line, sets);

		if (depth > sets.size)
			throw new Error('the set contains itself');
		if (rule.kind === 'set')
			rules.push(...expandRules(sets.get(rule.pattern), sets, depth + 1));
		else
			rules.push(rule);
		if (rules.length > RULES_MAX)
			throw new Error('more than ' + RULES_MAX + ' rules');
	}
	return rules;
}

/* Return the first non-empty match from `at` on, or null. */
function findMatch(regex, name, at) {
	while (at < name.length) {
		regex.lastIndex = at;
		const match = regex.exec(name);

		if (!match || match[0] !== '')
			return match;
		at = match.index + 1;
	}
	return null;
}

function replaceName(rule, name) {
	let made = '', at = 0, match;

	while (made.length <= NAME_MAX && (match = findMatch(rule.regex, name, at))) {
		const parts = match;

		made += name.slice(at, match.index) + rule.text.replace(/\\([0-9\\])/g,
			(all, which) => which === '\\' ? '\\' : parts[which] || '');
		at = match.index + match[0].length;
	}
	if (made.length > NAME_MAX)
		throw new Error('a name becomes longer than ' + NAME_MAX + ' bytes');
	return at === 0 ? null : made + name.slice(at);
}

/*
 * Match a rule against each name in the tree. Return an array by name: undefined if the
 * name does not match, true if it does or, for replace, the number of the new name, -1
 * for an empty one. Return null if no name matches.
 */
function changeNames(rule, tree, names) {
	const changes = [], seen = new Uint8Array(names.count());
	let isAny = false;

	for (let node = 1; node < tree.count; node++) {
		const name = tree.name[node];
		const text = names.text(name);

		if (seen[name])
			continue;
		seen[name] = 1;
		if (text.length > NAME_MAX)
			continue;
		if (rule.kind !== 'replace') {
			changes[name] = findMatch(rule.regex, text, 0) ? true : undefined;
		} else {
			const made = replaceName(rule, text);

			changes[name] = made === null ? undefined : made === '' ? -1 : names.add(made, name);
		}
		isAny = isAny || changes[name] !== undefined;
	}
	return isAny ? changes : null;
}

/* Return for each node whether the node or one of its ancestors matches. */
function findMatched(tree, changes) {
	const matched = new Uint8Array(tree.count);

	for (let node = 1; node < tree.count; node++)
		matched[node] = changes[tree.name[node]] !== undefined || matched[tree.parent[node]];
	return matched;
}

/* Return whether a rule keeps the amounts that a stack allocates itself. */
function isKept(rule, isMatched) {
	return rule.kind === 'filter' ? isMatched : rule.kind === 'remove' ? !isMatched : true;
}

/* Apply a rule to a tree and return the resulting tree. */
function applyRule(rule, tree, names) {
	const changes = changeNames(rule, tree, names) || [];

	if (changes.length === 0 && rule.kind !== 'filter')
		return tree;
	const matched = findMatched(tree, changes);
	const made = new TreeBuilder(tree.series.length);
	const places = new Int32Array(tree.count);
	/* name assigned by the rule, or -1 */
	const given = new Int32Array(tree.count).fill(-1);
	const needed = findNeeded(rule, tree, matched, changes);

	for (let node = 0; node < tree.count; node++) {
		if (node > 0 && needed[node])
			placeNode(node);
		if (isKept(rule, matched[node]))
			made.addValues(places[node], tree, node);
	}
	return made.finish();

	function placeNode(node) {
		const parent = tree.parent[node], change = changes[tree.name[node]];
		const isNamed = rule.kind === 'replace' && change !== undefined && change !== -1;
		const isHidden = change === -1 || rule.kind === 'hide' && change;
		const isBeyond = rule.kind === 'to' && matched[parent];

		places[node] = places[parent];
		given[node] = isNamed ? change : isHidden ? given[parent] : -1;
		if (isHidden || isBeyond || isNamed && given[parent] === change)
			return;
		places[node] = made.add(isFirst(rule, tree, node, matched, changes) ? 0 : places[parent],
			isNamed ? change : tree.name[node]);
	}
}

/* Return whether stacks begin at this node after the rule is applied. */
function isFirst(rule, tree, node, matched, changes) {
	return rule.kind === 'from' && changes[tree.name[node]] !== undefined &&
		!matched[tree.parent[node]];
}

/* Return which nodes are needed: those whose values are kept, and their ancestors. */
function findNeeded(rule, tree, matched, changes) {
	const needed = new Uint8Array(tree.count);

	for (let node = tree.count - 1; node > 0; node--) {
		if (isKept(rule, matched[node]) && tree.series.some((values) => values[node] > 0))
			needed[node] = 1;
		if (needed[node] && !isFirst(rule, tree, node, matched, changes))
			needed[tree.parent[node]] = 1;
	}
	return needed;
}
