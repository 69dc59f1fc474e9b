/*
 * The flame graph page. The controls set the state, the address stores the state, and
 * everything visible is computed from the state.
 */

const data = JSON.parse(document.getElementById('data').textContent);
const metrics = data.metrics;
const isDifference = data.labels !== null;
const names = new Names(data.names, data.kinds);
const sets = new Map(data.sets.map((set) => [set.name, set.rules]));
const given = readTree(data);
const canvas = new FlameCanvas(byId('graph'), byId('canvas'), byId('spacer'));
const FUNCTIONS_SHOWN = 200, REDRAW_MS = 120;

const state = {
	metric: data.first, /* name of the metric */
	search: '',
	isInverted: false,
	isReversed: false,
	isSwapped: false, /* after and before are swapped */
	/*
	 * true: the width of a box is its value after; false: the larger of both values
	 */
	isAfterWide: false,
	zoom: [], /* names from the outermost on */
	rules: data.rules.map((text) => ({ text: text, isOn: true })),
};

/*
 * Results computed from the state, cached until the parts of the state
 * they depend on change.
 */
const made = { tree: given, treeKey: null, reversed: given, reversedKey: null, layoutKey: null };
let view = null; /* the current view, see flame_draw.js */
/* Series of the selected metric. A page of a single profile uses only `before`. */
let before = null, after = null;
let totals = null; /* sums of all series, by node */

function byId(id) {
	return document.getElementById(id);
}

function add(parent, name, properties, text) {
	const element = document.createElement(name);

	Object.assign(element, properties || {});
	if (text !== undefined)
		element.textContent = text;
	parent.appendChild(element);
	return element;
}

/* ---- from the state to the drawing ---- */

function metricNumber() {
	return Math.max(0, metrics.findIndex((metric) => metric.name === state.metric));
}

/* Return the enabled rules, and error messages by rule number. */
function readRules() {
	const rules = [], problems = new Map();

	state.rules.forEach(function (rule, number) {
		if (!rule.isOn || rule.text.trim() === '')
			return;
		try {
			rules.push(...expandRules([rule.text], sets).map((r) => ({ rule: r, number: number })));
		} catch (error) {
			problems.set(number, error.message);
		}
	});
	return { rules, problems };
}

/* Apply the rules. A rule that fails is left out; its error message appears beside it. */
function makeTreeByRules() {
	const { rules, problems } = readRules();
	const key = JSON.stringify(rules.map((r) => [r.rule.kind, r.rule.pattern, r.rule.text]));

	if (key !== made.treeKey) {
		made.tree = given;
		made.tooLong = new Map();
		for (const { rule, number } of rules) {
			try {
				made.tree = applyRule(rule, made.tree, names);
			} catch (error) {
				made.tooLong.set(number, error.message);
			}
		}
		made.treeKey = key;
	}
	showProblems(new Map([...problems, ...made.tooLong]));
}

function makeReversed() {
	const key = made.treeKey + state.isReversed;

	if (key !== made.reversedKey) {
		made.reversed = state.isReversed ? reverseTree(made.tree) : made.tree;
		made.reversedKey = key;
		totals = made.reversed.series.map((values) => sumTree(made.reversed, values));
	}
}

function makeLayout() {
	const m = metricNumber();
	const key = [made.reversedKey, m, state.isSwapped, state.isAfterWide].join();
	const series = made.reversed.series;

	if (key === made.layoutKey)
		return;
	made.layoutKey = key;
	made.first = state.isSwapped ? metrics.length + m : m;
	made.second = state.isSwapped ? m : metrics.length + m;
	before = series[made.first];
	after = isDifference ? series[made.second] : null;
	made.layout = layOutTree(made.reversed, names, !isDifference ? before :
		state.isAfterWide ? after : before.map((value, node) => Math.max(value, after[node])));
}

function hashOf(name) {
	let hash = 0x811c9dc5;

	for (let i = 0; i < name.length; i++)
		hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
	return (hash ^ hash >>> 16) >>> 0;
}

function mixColours(from, to, part) {
	return 'rgb(' + from.map((c, i) => Math.round(c + (to[i] - c) * part)).join() + ')';
}

const nameColours = [];

function colourOfName(node) {
	const name = made.layout.tree.name[node];
	const kind = data.kind_colours[name < 0 ? data.nameless : names.kinds[name]];

	if (name < 0)
		return mixColours(kind[0], kind[1], 1);
	if (!nameColours[name])
		nameColours[name] = mixColours(kind[0], kind[1], hashOf(names.text(name)) % 1001 / 1000);
	return nameColours[name];
}

function changeOf(node) {
	return totals[made.second][node] - totals[made.first][node];
}

function colourOfChange(node) {
	const change = changeOf(node);
	const larger = Math.max(totals[made.first][node], totals[made.second][node]);
	const [same, more, less] = data.change_colours;

	return mixColours(same, change > 0 ? more : less, larger ? Math.abs(change) / larger : 0);
}

function nameOf(node) {
	return node === 0 ? 'all' : names.text(made.layout.tree.name[node]);
}

/*
 * Labels of a difference include the signed change, since not everyone
 * can tell red from blue.
 */
function labelOf(node) {
	return isDifference ? nameOf(node) + ' ' + formatChange(metrics[metricNumber()], changeOf(node))
			    : nameOf(node);
}

/*
 * Compile a search text. Text that is not a valid regular expression
 * is searched literally.
 */
function compileSearch(text) {
	const flags = text === text.toLowerCase() ? 'i' : '';

	try {
		return new RegExp(text, flags);
	} catch (error) {
		return new RegExp(text.replace(/[^A-Za-z0-9_]/g, '\\$&'), flags);
	}
}

/*
 * Find the matching boxes. A box inside another matching box is not
 * added to the sum again.
 */
function search(layout, zoom) {
	const wanted = state.search ? compileSearch(state.search) : null;
	const found = wanted && names.texts.map((text) => wanted.test(text));
	const functions = new Set();
	let sum = 0, within = 0;

	if (!wanted) {
		byId('matched').textContent = '';
		return null;
	}
	walkTree(layout, zoom, function (node) {
		if (layout.widths[node] === 0)
			return false;
		if (found[layout.tree.name[node]]) {
			functions.add(layout.tree.name[node]);
			sum += within++ === 0 ? layout.widths[node] : 0;
		}
		return true;
	}, function (node) {
		within -= found[layout.tree.name[node]] ? 1 : 0;
	});
	byId('matched').textContent = formatShare(sum, layout.widths[zoom]) + ' in ' + functions.size +
		(functions.size === 1 ? ' function' : ' functions');
	byId('matched').dataset.value = sum;
	return found;
}

function update(keepScroll) {
	makeTreeByRules();
	makeReversed();
	makeLayout();
	const zoom = findPath(made.layout, names, state.zoom);

	view = {
		layout: made.layout, zoom: zoom, selected: zoom,
		found: search(made.layout, zoom), isInverted: state.isInverted,
		colourOf: isDifference ? colourOfChange : colourOfName, labelOf: labelOf,
	};
	byId('reset').disabled = zoom === 0;
	canvas.show(view, keepScroll);
	showFrame(zoom);
	showFunctions();
}

/* ---- the address ---- */

/*
 * Store the state in the address. A disabled rule starts with "#", like a
 * comment in a file of rules.
 */
function writeAddress() {
	const parts = new URLSearchParams();
	const isGiven = JSON.stringify(state.rules) ===
		JSON.stringify(data.rules.map((text) => ({ text: text, isOn: true })));

	if (state.metric !== data.first)
		parts.append('m', state.metric);
	if (state.search)
		parts.append('s', state.search);
	for (const [key, isOn] of [['i', state.isInverted], ['r', state.isReversed], ['x', state.isSwapped],
		['w', state.isAfterWide]])
		if (isOn)
			parts.append(key, '1');
	for (const name of state.zoom)
		parts.append('z', name);
	if (!isGiven)
		for (const rule of state.rules.length ? state.rules : [{ text: '', isOn: true }])
			parts.append('t', (rule.isOn ? '' : '#') + rule.text);
	history.replaceState(null, '', '#' + parts);
}

function readAddress() {
	const parts = new URLSearchParams(location.hash.slice(1));
	const rules = parts.getAll('t');

	state.metric = metrics.some((metric) => metric.name === parts.get('m')) ? parts.get('m') : data.first;
	state.search = parts.get('s') || '';
	state.isInverted = parts.get('i') === '1';
	state.isReversed = parts.get('r') === '1';
	state.isSwapped = parts.get('x') === '1';
	state.isAfterWide = parts.get('w') === '1';
	state.zoom = parts.getAll('z');
	if (parts.has('t'))
		state.rules = rules.filter((text) => text !== '').map((text) =>
			({ text: text.replace(/^#\s*/, ''), isOn: !text.startsWith('#') }));
	else
		state.rules = data.rules.map((text) => ({ text: text, isOn: true }));
	showControls();
	showRules();
	update();
}

/* ---- controls ---- */

/* Change parts of the state and update the page. */
function change(parts, keepScroll) {
	Object.assign(state, parts);
	writeAddress();
	showControls();
	update(keepScroll);
}

function showControls() {
	byId('metric').value = state.metric;
	byId('width').value = state.isAfterWide ? 'after' : 'larger';
	byId('inverted').checked = state.isInverted;
	byId('reversed').checked = state.isReversed;
	byId('swapped').checked = state.isSwapped;
	if (byId('search').value !== state.search)
		byId('search').value = state.search;
}

/*
 * Return a function that runs the action once, REDRAW_MS after the last of several calls.
 */
function soon(action) {
	let timer = 0;

	return function () {
		clearTimeout(timer);
		timer = setTimeout(action, REDRAW_MS);
	};
}

function listenToControls() {
	for (const metric of metrics)
		add(byId('metric'), 'option', { value: metric.name }, metric.what);
	byId('width-label').hidden = byId('swap-label').hidden = !isDifference;
	byId('metric').onchange = () => change({ metric: byId('metric').value });
	byId('width').onchange = () => change({ isAfterWide: byId('width').value === 'after' });
	byId('inverted').onchange = () => change({ isInverted: byId('inverted').checked });
	byId('reversed').onchange = () => change({ isReversed: byId('reversed').checked, zoom: [] });
	byId('swapped').onchange = () => change({ isSwapped: byId('swapped').checked });
	byId('search').oninput = soon(() => change({ search: byId('search').value }, true));
	byId('reset').onclick = () => change({ zoom: [] });
	byId('functions').ontoggle = showFunctions;
}

/* ---- the graph ---- */

function zoomTo(node) {
	change({ zoom: pathOf(made.layout.tree, node).map((name) => names.text(name)) }, true);
	canvas.reveal(node);
}

function select(node) {
	view.selected = node;
	canvas.reveal(node);
	canvas.draw();
	showFrame(node);
}

function nodeAtPointer(event) {
	const box = byId('canvas').getBoundingClientRect();

	return canvas.nodeAt(event.clientX - box.left, event.clientY - box.top);
}

/* Return the widest child of a node, or the node itself if it has no children. */
function widestChild(node) {
	const { children, firsts, widths } = made.layout;
	let best = node;

	for (let c = firsts[node]; c < firsts[node + 1]; c++)
		if (widths[children[c]] > 0 && (best === node || widths[children[c]] > widths[best]))
			best = children[c];
	return best;
}

/* Return the node next to the selected one in the same row, or the selected one. */
function neighbour(step) {
	const y = canvas.yOf(made.layout.depths[view.selected]) + ROW_HEIGHT / 2;
	const x = canvas.xOf(view.selected);
	const node = canvas.nodeAt(step < 0 ? x - 1 : x + canvas.widthOf(view.selected) + 1, y);

	return node >= 0 ? node : view.selected;
}

function press(key) {
	const inwards = state.isInverted ? 'ArrowDown' : 'ArrowUp';
	const outwards = state.isInverted ? 'ArrowUp' : 'ArrowDown';
	const tree = made.layout.tree;

	switch (key) {
	case inwards: return select(widestChild(view.selected));
	case outwards: return select(Math.max(0, tree.parent[view.selected]));
	case 'ArrowLeft': return select(neighbour(-1));
	case 'ArrowRight': return select(neighbour(1));
	case 'Enter': return zoomTo(view.selected);
	case 'Backspace': return zoomTo(Math.max(0, tree.parent[view.zoom]));
	case 'Escape': return zoomTo(0);
	}
	return false;
}

/*
 * Handle pointer events. A touch cannot hover, so the first tap selects a box and a tap
 * on the selected box zooms.
 */
function listenToGraph() {
	const graph = byId('graph');
	let pointer = 'mouse';

	graph.onpointerdown = (event) => { pointer = event.pointerType; };
	graph.onpointermove = function (event) {
		const node = event.pointerType === 'mouse' ? nodeAtPointer(event) : -1;

		showFrame(node >= 0 ? node : view.selected);
		graph.style.cursor = node >= 0 ? 'pointer' : '';
	};
	graph.onpointerleave = () => showFrame(view.selected);
	graph.onclick = function (event) {
		const node = nodeAtPointer(event);

		if (node < 0)
			return;
		if (pointer === 'mouse' || node === view.selected)
			zoomTo(node);
		else
			select(node);
	};
	graph.onkeydown = function (event) {
		if (!event.ctrlKey && !event.altKey && !event.metaKey && press(event.key) !== false)
			event.preventDefault();
	};
	graph.onscroll = () => canvas.draw();
	new ResizeObserver(() => canvas.show(view, true)).observe(graph);
	matchMedia('(prefers-color-scheme: dark)').onchange = () => canvas.draw();
}

function isTyping(element) {
	return element instanceof HTMLInputElement && element.type !== 'checkbox';
}

listenToControls();
listenToRules();
listenToGraph();
showColours();
document.onkeydown = function (event) {
	if (event.key !== '/' || event.ctrlKey || event.altKey || event.metaKey || isTyping(event.target))
		return;
	event.preventDefault();
	byId('search').focus();
};
window.onhashchange = readAddress;
readAddress();
