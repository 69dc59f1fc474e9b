/*
 * Stacks as a tree, and where its boxes are: nothing here knows the page.
 *
 * Node 0 is all; a parent has a lower number than its children. series are the values of each node
 * itself, without those that go on from it: one array for each metric, then, of a difference, one
 * for each of the second profile.
 */

class Names {
	constructor(texts, kinds) {
		this.texts = texts;
		this.kinds = kinds;
		this.numbers = new Map(texts.map((text, number) => [text, number]));
	}

	count() {
		return this.texts.length;
	}

	text(number) {
		return this.texts[number];
	}

	/* A name that another has now: of the same kind, where it is new. */
	add(text, other) {
		if (!this.numbers.has(text)) {
			this.numbers.set(text, this.texts.length);
			this.texts.push(text);
			this.kinds.push(this.kinds[other]);
		}
		return this.numbers.get(text);
	}
}

/* The child of a parent by its name is found by a hash of both. */
class TreeBuilder {
	constructor(seriesCount) {
		this.parent = [-1];
		this.name = [-1];
		this.series = Array.from({ length: seriesCount }, () => [0]);
		this.slots = new Int32Array(1024);
	}

	find(parent, name) {
		const mask = this.slots.length - 1;
		const hash = Math.imul(parent, 0x9e3779b1) ^ Math.imul(name + 1, 0x85ebca6b);
		let slot = (hash ^ hash >>> 15) & mask;

		while (this.slots[slot] !== 0 && (this.parent[this.slots[slot]] !== parent ||
						  this.name[this.slots[slot]] !== name))
			slot = slot + 1 & mask;
		return slot;
	}

	grow() {
		this.slots = new Int32Array(2 * this.slots.length);
		for (let node = 1; node < this.parent.length; node++)
			this.slots[this.find(this.parent[node], this.name[node])] = node;
	}

	add(parent, name) {
		const slot = this.find(parent, name);
		const node = this.parent.length;

		if (this.slots[slot] !== 0)
			return this.slots[slot];
		this.slots[slot] = node;
		this.parent.push(parent);
		this.name.push(name);
		for (const values of this.series)
			values.push(0);
		if (2 * node > this.slots.length)
			this.grow();
		return node;
	}

	addValues(node, from, fromNode) {
		for (let s = 0; s < this.series.length; s++)
			this.series[s][node] += from.series[s][fromNode];
	}

	finish() {
		return makeTree(this.parent, this.name, this.series);
	}
}

function makeTree(parent, name, series) {
	return {
		count: parent.length,
		parent: Int32Array.from(parent),
		name: Int32Array.from(name),
		series: series.map((values) => Float64Array.from(values)),
	};
}

/* The tree of the page's data: parents are said as how far back they are. */
function readTree(data) {
	return makeTree(data.parents.map((back, node) => node - back), data.frames, data.values);
}

/* The same stacks with who allocates first, and who called it above. */
function reverseTree(tree) {
	const made = new TreeBuilder(tree.series.length);

	for (let node = 0; node < tree.count; node++) {
		let place = 0;

		if (!tree.series.some((values) => values[node] > 0))
			continue;
		for (let at = node; at > 0; at = tree.parent[at])
			place = made.add(place, tree.name[at]);
		made.addValues(place, tree, node);
	}
	return made.finish();
}

/* Values of each node with all that go on from it. */
function sumTree(tree, values) {
	const sums = Float64Array.from(values);

	for (let node = tree.count - 1; node > 0; node--)
		sums[tree.parent[node]] += sums[node];
	return sums;
}

/* Numbers 0 to count - 1 in the order of their keys (0 to keyCount - 1); equal ones stay as in from. */
function sortByKey(from, keys, keyCount) {
	const starts = new Int32Array(keyCount + 1);
	const sorted = new Int32Array(from.length);

	for (const item of from)
		starts[keys[item] + 1]++;
	for (let key = 0; key < keyCount; key++)
		starts[key + 1] += starts[key];
	for (const item of from)
		sorted[starts[keys[item]]++] = item;
	return sorted;
}

/*
 * Where boxes are: start and width by node, in units of the metric; the children of a node are
 * children[firsts[node]] to children[firsts[node + 1] - 1], sorted by name.
 */
function layOutTree(tree, names, selfWidths) {
	const order = Int32Array.from(names.texts.keys());
	const ranks = new Int32Array(names.count() + 1);
	const nodes = new Int32Array(tree.count - 1);
	const nameRanks = new Int32Array(tree.count);
	const firsts = new Int32Array(tree.count + 2);
	const starts = new Float64Array(tree.count);
	const widths = sumTree(tree, selfWidths);
	const depths = new Int32Array(tree.count);

	order.sort((a, b) => names.texts[a] < names.texts[b] ? -1 : 1);
	order.forEach((name, rank) => { ranks[name] = rank; });
	for (let node = 1; node < tree.count; node++) {
		nodes[node - 1] = node;
		nameRanks[node] = ranks[tree.name[node]];
		firsts[tree.parent[node] + 1]++;
		depths[node] = depths[tree.parent[node]] + 1;
	}
	const children = sortByKey(sortByKey(nodes, nameRanks, names.count()), tree.parent, tree.count);

	for (let node = 0; node < tree.count; node++)
		firsts[node + 1] += firsts[node];
	for (let node = 0; node < tree.count; node++) {
		let end = starts[node];

		for (let c = firsts[node]; c < firsts[node + 1]; c++) {
			starts[children[c]] = end;
			end += widths[children[c]];
		}
	}
	return { tree: tree, starts: starts, widths: widths, depths: depths,
		children: children, firsts: firsts };
}

/* Names from the outside in, of a node. */
function pathOf(tree, node) {
	const path = [];

	for (let at = node; at > 0; at = tree.parent[at])
		path.unshift(tree.name[at]);
	return path;
}

/* The node of that path, or of as much of it as there is. */
function findPath(layout, names, path) {
	let node = 0;

	for (const text of path) {
		const { children, firsts, tree } = layout;
		let next = -1;

		for (let c = firsts[node]; c < firsts[node + 1]; c++)
			if (names.text(tree.name[children[c]]) === text)
				next = children[c];
		if (next < 0)
			break;
		node = next;
	}
	return node;
}

/*
 * Self and total by function within a node, each in two series: a function that calls itself
 * counts once. As [{ name, selves, totals }].
 */
function sumFunctions(layout, root, series) {
	const { tree } = layout;
	const sums = series.map((values) => sumTree(tree, values));
	const found = new Map();
	const onPath = new Map();

	walkTree(layout, root, function (node) {
		const name = tree.name[node];
		const own = found.get(name) || { name: name, selves: [0, 0], totals: [0, 0] };
		const depth = onPath.get(name) || 0;

		found.set(name, own);
		series.forEach(function (values, s) {
			own.selves[s] += values[node];
			own.totals[s] += depth === 0 ? sums[s][node] : 0;
		});
		onPath.set(name, depth + 1);
	}, function (node) {
		onPath.set(tree.name[node], onPath.get(tree.name[node]) - 1);
	});
	found.delete(-1); /* all */
	return Array.from(found.values());
}

/* From the outside in; enter() may return false to leave out what goes on from a node. */
function walkTree(layout, root, enter, leave) {
	const stack = [root];
	const { children, firsts } = layout;

	while (stack.length > 0) {
		const node = stack.pop();

		if (node < 0) {
			leave(-node - 1);
			continue;
		}
		if (enter(node) === false)
			continue;
		if (leave)
			stack.push(-node - 1);
		for (let c = firsts[node + 1] - 1; c >= firsts[node]; c--)
			stack.push(children[c]);
	}
}
