/*
 * The panels beside the graph: figures of a frame, functions, and
 * rules that change stacks.
 */

/* ---- figures ---- */

/* Format bytes as "1.5M", in powers of 1024 like memstate's text reports. */
function formatBytes(value) {
	const letters = ['', 'K', 'M', 'G', 'T', 'P', 'E'];
	let i = 0;

	while (value >= 1024 && i + 1 < letters.length) {
		value /= 1024;
		i++;
	}
	return (i ? value.toFixed(1) : value) + letters[i];
}

function format(metric, value) {
	return metric.bytes ? formatBytes(value) : String(value);
}

function formatChange(metric, change) {
	return (change > 0 ? '+' : change < 0 ? '-' : '') + format(metric, Math.abs(change));
}

function formatShare(part, whole) {
	return (whole ? 100 * part / whole : 0).toFixed(1) + '%';
}

/* ---- a frame, and functions ---- */

function addFigure(row, metric, value, text) {
	const cell = add(row, 'td', { title: metric.bytes ? value + ' bytes' : '' }, text);

	cell.dataset.value = value;
}

function addHeading(table, labels) {
	const row = add(add(table, 'thead'), 'tr');

	add(row, 'td');
	for (const label of labels)
		add(row, 'th', { scope: 'col' }, label);
}

/* Add the figures of a frame in a single profile, with and without its callees. */
function addOwnFigures(table, node) {
	const tree = made.layout.tree;

	addHeading(table, ['total', 'share', 'itself']);
	metrics.forEach(function (metric, m) {
		const row = add(table, 'tr', { className: m === metricNumber() ? 'current' : '' });

		add(row, 'th', { scope: 'row' }, metric.what);
		addFigure(row, metric, totals[m][node], format(metric, totals[m][node]));
		add(row, 'td', {}, formatShare(totals[m][node], totals[m][0]));
		addFigure(row, metric, tree.series[m][node], format(metric, tree.series[m][node]));
	});
}

function addBothFigures(table, node) {
	const labels = state.isSwapped ? [data.labels[1], data.labels[0]] : data.labels;

	addHeading(table, [labels[0], labels[1], 'change']);
	metrics.forEach(function (metric, m) {
		const row = add(table, 'tr', { className: m === metricNumber() ? 'current' : '' });
		const a = totals[state.isSwapped ? metrics.length + m : m][node];
		const b = totals[state.isSwapped ? m : metrics.length + m][node];

		add(row, 'th', { scope: 'row' }, metric.what);
		addFigure(row, metric, a, format(metric, a));
		addFigure(row, metric, b, format(metric, b));
		addFigure(row, metric, b - a, formatChange(metric, b - a));
		add(row.lastChild, 'small', {}, a ? (b < a ? '' : '+') + formatShare(b - a, a) : b ? 'new' : '');
	});
}

function showFrame(node) {
	const table = byId('frame-figures');
	const name = made.layout.tree.name[node];
	const module = data.modules[data.name_modules[name]];
	const file = data.files[data.name_files[name]];

	byId('frame-name').textContent = nameOf(node);
	byId('frame-where').textContent = [module, file].filter((text) => text).join(', ');
	table.replaceChildren();
	if (isDifference)
		addBothFigures(table, node);
	else
		addOwnFigures(table, node);
	byId('frame-actions').hidden = node === 0 || node !== view.selected;
}

/* Show a legend of the colours in use. */
function showColours() {
	const place = byId('colours');
	const [same, more, less] = data.change_colours;
	const known = new Set(names.kinds);
	const colours = isDifference ? [[more, 'more than before'], [less, 'less'], [same, 'the same']] :
		data.kind_colours.map((colour, kind) => [colour[0], data.kind_names[kind], kind])
			.filter((colour) => known.has(colour[2]));

	for (const [colour, text] of colours) {
		add(place, 'span', { className: 'swatch' }).style.background = mixColours(colour, colour, 0);
		place.append(text);
	}
}

/* List the functions by amount, or by change for a difference, largest first. */
function showFunctions() {
	const table = byId('functions-table');
	const metric = metrics[metricNumber()];
	const amount = (sums) => isDifference ? sums[1] - sums[0] : sums[0];

	table.replaceChildren();
	if (!byId('functions').open)
		return;
	const functions = sumFunctions(made.layout, view.zoom, isDifference ? [before, after] : [before]);

	functions.sort((a, b) => Math.abs(amount(b.selves)) - Math.abs(amount(a.selves)) ||
		Math.abs(amount(b.totals)) - Math.abs(amount(a.totals)));
	byId('functions-note').textContent = metric.what + ' within ' + nameOf(view.zoom) +
		(functions.length > FUNCTIONS_SHOWN ? '; the first ' + FUNCTIONS_SHOWN + ' of ' + functions.length : '');
	addHeading(table, isDifference ? ['itself', 'total change'] : ['itself', 'total']);
	for (const f of functions.slice(0, FUNCTIONS_SHOWN)) {
		const row = add(table, 'tr');
		const show = isDifference ? formatChange : format;

		add(add(row, 'th', { scope: 'row' }), 'button', {
			type: 'button', onclick: () => change({ search: '^' + escapeRegex(names.text(f.name)) + '$' }),
		}, names.text(f.name));
		addFigure(row, metric, amount(f.selves), show(metric, amount(f.selves)));
		addFigure(row, metric, amount(f.totals), show(metric, amount(f.totals)));
	}
}

/* ---- rules ---- */

function changeRules(rules) {
	change({ rules: rules }, true);
	showRules();
	update(true);
}

/*
 * Return the rules with the one at index `from` moved to index `to`, or
 * removed if `to` is -1.
 */
function movedRules(from, to) {
	const rules = state.rules.slice();
	const [rule] = rules.splice(from, 1);

	if (to >= 0)
		rules.splice(to, 0, rule);
	return rules;
}

function addRuleButton(row, label, what, isOff, action) {
	add(row, 'button', { type: 'button', title: what, ariaLabel: what, disabled: isOff, onclick: action }, label);
}

function showRules() {
	const list = byId('rules');

	list.replaceChildren();
	state.rules.forEach(function (rule, number) {
		const row = add(list, 'li');
		const changeText = soon(() => change({}, true));

		add(row, 'input', {
			type: 'checkbox', checked: rule.isOn, ariaLabel: 'use this rule',
			onchange: (event) => { rule.isOn = event.target.checked; change({}, true); },
		});
		add(row, 'input', {
			type: 'text', value: rule.text, spellcheck: false, autocapitalize: 'off', ariaLabel: 'rule',
			oninput: (event) => { rule.text = event.target.value; changeText(); },
		});
		addRuleButton(row, '↑', 'earlier', number === 0,
			() => changeRules(movedRules(number, number - 1)));
		addRuleButton(row, '↓', 'later', number + 1 === state.rules.length,
			() => changeRules(movedRules(number, number + 1)));
		addRuleButton(row, '×', 'remove this rule', false, () => changeRules(movedRules(number, -1)));
		add(row, 'p', { className: 'problem', role: 'alert' });
	});
}

function showProblems(problems) {
	document.querySelectorAll('#rules .problem').forEach(function (place, number) {
		place.textContent = problems.get(number) || '';
	});
}

function addRule(text) {
	changeRules(state.rules.concat([{ text: text, isOn: true }]));
}

/* Escape a name so that rules and searches match it literally. */
function escapeRegex(name) {
	return name.replace(/[\\.[()*+?{|^$]/g, '\\$&');
}

function listenToRules() {
	const select = byId('new-rule');
	const actions = {
		filter: 'Keep only stacks with it', remove: 'Remove stacks with it', hide: 'Hide it', from: 'Begin here'
	};

	add(select, 'option', { value: '' }, 'Add a rule or a set…');
	for (const kind of RULE_KINDS)
		add(select, 'option', { value: kind + (kind === 'replace' ? ' RE => TEXT' : ' ') }, kind);
	for (const [name, rules] of sets)
		add(select, 'option', { value: name, title: rules.join('\n') },
			name + ' (set of ' + rules.length + (rules.length === 1 ? ' rule)' : ' rules)'));
	select.onchange = function () {
		addRule(select.value);
		select.value = '';
		byId('rules').lastChild.querySelector('input[type=text]').focus();
	};
	for (const kind of Object.keys(actions))
		add(byId('frame-actions'), 'button', {
			type: 'button', onclick: () => addRule(kind + ' ^' + escapeRegex(nameOf(view.selected)) + '$'),
		}, actions[kind]);
}
