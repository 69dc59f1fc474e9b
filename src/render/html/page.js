/*
 * Charts of memory by owner over time, for memstate's HTML pages. The data is
 * in the element "data".
 */
(function () {
	const bytes = chartLib.bytes, add = chartLib.add;
	const data = JSON.parse(document.getElementById('data').textContent);
	const HEIGHT = 230, LEFT = 52, RIGHT = 8, TOP = 16, BOTTOM = 22;
	const REST = { name: 'rest', label: 'anon and heap', help: 'the heap was not read in this sample' };
	const layers = data.layers.concat([REST]);
	const ANON = indexOf('anon'), LIVE = indexOf('live');
	const charts = [];

	function indexOf(name) {
		return data.layers.findIndex(function (layer) { return layer.name === name; });
	}

	function seconds(us) {
		const s = us / 1e6;

		return s < 1 ? Math.round(us / 1e3) + 'ms' : s < 100 ? s.toFixed(1) + 's' :
			Math.floor(s / 60) + 'm' + String(Math.floor(s % 60)).padStart(2, '0') + 's';
	}

	function isRead(chart, point) {
		return chart.own[LIVE][point] !== null;
	}

	/*
	 * Return the amount of each layer at a point, with the remainder of Rss
	 * as the last layer.
	 */
	function amounts(chart, point) {
		const known = chart.own.map(function (layer, l) {
			return l === ANON && !isRead(chart, point) ? null : layer[point];
		});
		const sum = known.reduce(function (a, b) { return a + (b || 0); }, 0);
		const rss = chart.rss[point];

		return known.concat([rss === null ? null : Math.max(0, rss - sum)]);
	}

	function scaled(amounts, rss, newRss) {
		return amounts.map(function (v) { return v && rss ? v * newRss / rss : v; });
	}

	/*
	 * Return the corner points of the areas. Where the heap was read at only one of
	 * two neighbouring points, there is nothing to interpolate: the areas change
	 * abruptly between them.
	 */
	function corners(view) {
		const chart = view.chart;
		const all = [];

		chart.t.forEach(function (t, p) {
			const next = p + 1;
			let middle;

			all.push({ t: t, amounts: view.amounts[p] });
			if (next === chart.t.length || isRead(chart, p) === isRead(chart, next))
				return;
			t = (t + chart.t[next]) / 2;
			middle = (chart.rss[p] + chart.rss[next]) / 2;
			all.push({ t: t, amounts: scaled(view.amounts[p], chart.rss[p], middle) });
			all.push({ t: t, amounts: scaled(view.amounts[next], chart.rss[next], middle) });
		});
		return all;
	}

	function xOf(view, t) {
		return LEFT + (view.width - LEFT - RIGHT) * t / data.end;
	}

	function yOf(value) {
		return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * Math.min(value, data.top) / data.top;
	}

	function at(view, t, value) {
		return xOf(view, t).toFixed(1) + ',' + yOf(value).toFixed(1);
	}

	/*
	 * Return an SVG path. Unknown points leave a gap; a point between two gaps
	 * is drawn as a dot.
	 */
	function path(view, times, values) {
		let d = '', isDown = false;

		for (let i = 0; i < times.length; i++) {
			if (values[i] !== null)
				d += (isDown ? 'L' : 'M') + at(view, times[i], values[i]);
			if (values[i] !== null && !isDown)
				d += 'h1';
			isDown = values[i] !== null;
		}
		return d;
	}

	function drawAreas(view, svg) {
		const points = corners(view);
		let below = points.map(function () { return 0; });

		layers.forEach(function (layer, l) {
			const above = points.map(function (point, p) {
				return below[p] + (point.amounts[l] || 0);
			});
			const up = points.map(function (point, p) { return at(view, point.t, above[p]); });
			const down = points.map(function (point, p) { return at(view, point.t, below[p]); });

			if (above.some(function (v, p) { return v > below[p]; }))
				add(svg, 'path', {
					d: 'M' + up.concat(down.reverse()).join('L') + 'Z',
					fill: 'var(--' + layer.name + ')',
				});
			below = above;
		});
	}

	function drawAxes(view, svg) {
		const bottom = HEIGHT - BOTTOM;

		for (let i = 0; i <= 4; i++) {
			const y = yOf(data.top * i / 4);

			add(svg, 'line', { class: 'grid', x1: LEFT, x2: view.width - RIGHT, y1: y, y2: y });
			add(svg, 'text', { x: LEFT - 5, y: y + 4, 'text-anchor': 'end' },
				bytes(data.top * i / 4));
		}
		[0, 0.5, 1].forEach(function (part) {
			add(svg, 'text', {
				x: xOf(view, data.end * part), y: bottom + 15,
				'text-anchor': part === 0 ? 'start' : part === 1 ? 'end' : 'middle',
			}, part === 0 ? '0' : seconds(data.end * part));
		});
	}

	/* Draw the marks. A label that would overlap the previous one is left out. */
	function drawMarks(view, svg) {
		let free = LEFT;

		view.chart.marks.slice().sort(function (a, b) { return a.t - b.t; }).forEach(function (mark) {
			const x = xOf(view, mark.t);
			const half = mark.label.length * 3.2;
			const middle = Math.min(Math.max(x, LEFT + half), view.width - RIGHT - half);

			add(svg, 'line', { class: 'mark', x1: x, x2: x, y1: TOP - 3, y2: HEIGHT - BOTTOM });
			if (middle - half < free)
				return;
			add(svg, 'text', { x: middle, y: TOP - 5, 'text-anchor': 'middle' }, mark.label);
			free = middle + half;
		});
	}

	function draw(view) {
		const chart = view.chart;
		const old = view.plot.querySelector('svg');
		const firm = chart.rss.map(function (rss, p) {
			return rss === null || chart.lazyfree[p] === null ? null : rss - chart.lazyfree[p];
		});
		let svg;

		view.width = Math.max(view.plot.clientWidth, 160);
		svg = add(view.plot, 'svg', {
			viewBox: '0 0 ' + view.width + ' ' + HEIGHT, height: HEIGHT, tabindex: 0, role: 'img',
			'aria-label': 'Rss of ' + chart.title + ' over time by owner; the table below has the values',
		});
		drawAxes(view, svg);
		drawAreas(view, svg);
		chart.lines.forEach(function (line) {
			add(svg, 'path', { class: 'line', d: path(view, line.t, line.rss) });
		});
		add(svg, 'path', { class: 'rss', d: path(view, chart.t, chart.rss) });
		if (chart.lazyfree.some(function (v) { return v > 0; }))
			add(svg, 'path', { class: 'firm', d: path(view, chart.t, firm) });
		drawMarks(view, svg);
		view.cursor = add(svg, 'line', { class: 'cursor', y1: TOP, y2: HEIGHT - BOTTOM });
		listen(view, svg);
		if (old)
			view.plot.replaceChild(svg, old);
		else
			view.plot.insertBefore(svg, view.plot.firstChild);
	}

	function row(table, kind, name, help, colour) {
		const tr = add(table, 'tr', { class: kind });
		const th = add(tr, 'th', { scope: 'row', title: help });

		if (colour)
			add(th, 'span', { class: 'bar' }).style.background = 'var(--' + colour + ')';
		th.appendChild(document.createTextNode(name));
		return add(tr, 'td', {});
	}

	/* Create the table of values: its cells, and how each is computed. */
	function makeValues(view) {
		const chart = view.chart;
		const table = add(view.plot, 'table', { class: 'values' });
		const beside = [['LazyFree part', chart.lazyfree, 'freed; the kernel reclaims it under memory pressure'],
			['unbacked', chart.unbacked, 'address space without pages'],
			['swap', chart.swap, 'swapped out']];

		view.time = row(table, '', 'at', 'time since the start');
		view.cells = [];
		for (let l = layers.length - 1; l >= 0; l--) {
			const isRest = layers[l] === REST;

			if (isRest && !view.amounts.some(function (a) { return a[l] > 0; }))
				continue;
			view.cells.push([row(table, '', layers[l].label || layers[l].name, layers[l].help, layers[l].name),
				function (p) { return view.amounts[p][l]; }]);
		}
		view.cells.push([row(table, 'total', 'Rss', 'resident memory'),
			function (p) { return chart.rss[p]; }]);
		beside.forEach(function (b) {
			if (b[1].some(function (v) { return v !== 0; }))
				view.cells.push([row(table, 'beside', b[0], b[2]),
					function (p) { return b[1][p]; }]);
		});
	}

	function nearest(times, t) {
		let best = 0;

		for (let i = 1; i < times.length; i++)
			if (Math.abs(times[i] - t) < Math.abs(times[best] - t))
				best = i;
		return best;
	}

	/* Show the values at a point in the chart's table. */
	function show(view, point) {
		const x = xOf(view, view.chart.t[point]);

		view.point = point;
		view.cursor.setAttribute('x1', x);
		view.cursor.setAttribute('x2', x);
		view.time.textContent = seconds(view.chart.t[point]);
		view.cells.forEach(function (cell) { cell[0].textContent = bytes(cell[1](point)); });
	}

	/* Show the same time in all charts. */
	function showTime(t) {
		charts.forEach(function (view) { show(view, nearest(view.chart.t, t)); });
	}

	function listen(view, svg) {
		function follow(event) {
			const box = svg.getBoundingClientRect();
			const x = (event.clientX - box.left) * view.width / box.width;

			showTime((x - LEFT) / (view.width - LEFT - RIGHT) * data.end);
		}

		svg.addEventListener('pointermove', follow);
		svg.addEventListener('pointerdown', follow);
		svg.addEventListener('keydown', function (event) {
			const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
			const next = view.point + step;

			if (!step)
				return;
			event.preventDefault();
			if (next >= 0 && next < view.chart.t.length)
				showTime(view.chart.t[next]);
		});
	}

	/*
	 * Until the pointer moves, show the last mark of each chart, to which
	 * the verdict refers.
	 */
	function showFirst(view) {
		const marks = view.chart.marks;
		const times = view.chart.t;
		const t = marks.length ? marks[marks.length - 1].t : times[times.length - 1];

		show(view, nearest(times, t));
	}

	document.querySelectorAll('.plot').forEach(function (plot, i) {
		const chart = data.charts[i];
		const view = { chart: chart, plot: plot };

		if (!chart.t.length)
			return;
		view.amounts = chart.t.map(function (t, p) { return amounts(chart, p); });
		draw(view);
		makeValues(view);
		showFirst(view);
		charts.push(view);
	});
	window.addEventListener('resize', function () {
		charts.forEach(function (view) {
			draw(view);
			show(view, view.point);
		});
	});
}());
