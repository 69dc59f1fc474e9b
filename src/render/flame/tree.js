/*
 * Stacks as a tree, and the positions of its boxes. This file is independent of the page.
 *
 * Node 0 is the root, which includes all stacks; parents have lower numbers than their
 * children. `series` holds the values of each node without its callees: one array per
 * metric, followed, for a difference, by one per metric of the second profile.
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

	/*
	 * Return the number of the name `text`. A new name gets the kind of the
	 * name that it replaces.
	 */
	add(text, other) {
		if (!this.numbers.has(text)) {
			this.numbers.set(text, this.texts.length);
			this.texts.push(text);
			this.kinds.push(this.kinds[other]);
		}
		return this.numbers.get(text);
	}
}

/* Builds a tree; a hash table of parent and name finds existing children. */
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

/*
 * Read the tree from the page's data, in which a parent is given as its
 * distance from the child.
 */
function readTree(data) {
	return makeTree(data.parents.map((back, node) => node - back), data.frames, data.values);
}

/*
 * Return the tree with reversed stacks: the allocating function first, its callers above.
 */
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

/* Return the sum of the values of each node and its descendants. */
function sumTree(tree, values) {
	const sums = Float64Array.from(values);

	for (let node = tree.count - 1; node > 0; node--)
		sums[tree.parent[node]] += sums[node];
	return sums;
}

/*
 * Sort the numbers 0 to count - 1 by their keys (0 to keyCount - 1). The sort is stable:
 * numbers with equal keys keep their order in `from`.
 */
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
 * Lay out the boxes: start and width by node, in units of the metric. The children of a
 * node are children[firsts[node]] to children[firsts[node + 1] - 1], sorted by name.
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

/* Return the names on the path to a node, from the outermost on. */
function pathOf(tree, node) {
	const path = [];

	for (let at = node; at > 0; at = tree.parent[at])
		path.unshift(tree.name[at]);
	return path;
}

/* Return the node at the end of a path, or the last one on the path that exists. */
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
 * Sum up self and total by function within a node, for one or two series. Recursive calls
 * count once. Return [{ name, selves, totals }].
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
	found.delete(-1); /* the root */
	return Array.from(found.values());
}

/*
 * Visit the nodes from the root on. If enter() returns false, the node's
 * children are skipped.
 */
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
