const canvas = document.querySelector("canvas"), shown = canvas.getContext("2d", {alpha: false});
const tip = document.getElementById("tip");
const EASE = 700, DOTS = 9, LABELS = 70, MARGIN = 200;
let map = null, view = null, X, Y, fromX, fromY, since = 0, asked = false, wide = 0, high = 0, dpr = 1;
let sprites = new Map(), widths = new Map(), dragged = null, pen = shown, kept = null, before = 0;
// Rows and lines whose style the legend hides are passed over; a click does not meet them.
const entries = legend(document.getElementById("legend"), (hidden) => { sift(); parent.postMessage({hidden}, "*"); });
let out = [];
const gone = (row) => out[map.nodes.s[row]];
const sift = () => {
  if (!map) return;
  out = map.looks.map(([,, name]) => entries.has(name));
  kept = null; tip.style.display = "none"; ask();
};
const inks = getComputedStyle(document.documentElement);
let PAPER, INK;
const dye = () => {
  [PAPER, INK] = ["--paper", "--ink"].map((name) => inks.getPropertyValue(name));
  sprites.clear(); kept = null; ask();
};
const ask = () => { if (!asked) { asked = true; requestAnimationFrame(draw); } };

function show(next) {
  const was = new Map(), same = map && map.space === next.space;
  if (same) map.nodes.id.forEach((id, row) => was.set(id, row));
  const n = next.nodes.id.length, oldX = X, oldY = Y;
  X = Float32Array.from(next.nodes.x); Y = Float32Array.from(next.nodes.y);
  fromX = X.slice(); fromY = Y.slice();
  if (same && !matchMedia("(prefers-reduced-motion: reduce)").matches) {
    for (let row = 0; row < n; row++) {
      const before = was.get(next.nodes.id[row]);
      if (before !== undefined) { fromX[row] = oldX[before]; fromY[row] = oldY[before]; }
    }
    since = performance.now();
  } else since = 0;
  map = next; entries.show(map.legend); sift(); sprites.clear(); widths.clear(); tip.style.display = "none";
  map.rows = Array.from({length: n - map.discs}, (_, at) => at + map.discs)
    .sort((a, b) => map.nodes.s[a] - map.nodes.s[b] || a - b);
  map.ringed = new Set(map.rings);
  if (!same) view = null;
  fit(false);
}

function fit(always = true) {
  const room = canvas.getBoundingClientRect();
  dpr = Math.min(2, devicePixelRatio || 1);
  if (!room.width || !room.height || !map) return;
  if (wide && view && !always) view.x += (room.width - wide) / 2;
  wide = room.width; high = room.height; kept = null;
  canvas.width = wide * dpr; canvas.height = high * dpr;
  if (!view || always) {
    let [a, b, c, d] = [Infinity, Infinity, -Infinity, -Infinity];
    X.forEach((x, row) => {
      const r = map.nodes.r[row];
      a = Math.min(a, x - r); b = Math.min(b, Y[row] - r); c = Math.max(c, x + r); d = Math.max(d, Y[row] + r);
    });
    const k = X.length ? Math.min((wide - 40) / (c - a || 1), (high - 40) / (d - b || 1)) : 1;
    view = {k, x: X.length ? (wide - k * (a + c)) / 2 : 0, y: X.length ? (high - k * (b + d)) / 2 : 0, least: k / 3};
  }
  ask();
}

const SHAPES = {dot: 0, square: [4, -45], triangle: [3, -90], diamond: [4, 0], triangleDown: [3, 90], hexagon: [6, 0]};
function outline(to, shape, r) {
  to.beginPath();
  if (shape === "dot" || !(shape in SHAPES) && shape !== "star") { to.arc(0, 0, r, 0, 7); return; }
  const [corners, turn] = shape === "star" ? [10, -90] : SHAPES[shape];
  for (let at = 0; at < corners; at++) {
    const angle = (turn + 360 * at / corners) * Math.PI / 180, reach = shape === "star" && at % 2 ? 0.55 * r : 1.15 * r;
    to.lineTo(reach * Math.cos(angle), reach * Math.sin(angle));
  }
  to.closePath();
}

function sprite(style, r) {
  const key = style * 100 + r;
  if (!sprites.has(key)) {
    const made = document.createElement("canvas"), size = Math.ceil(2.6 * r + 3);
    made.width = made.height = size * dpr;
    const to = made.getContext("2d");
    to.scale(dpr, dpr); to.translate(size / 2, size / 2);
    outline(to, map.looks[style][1], r);
    to.fillStyle = map.looks[style][0]; to.fill();
    if (r > 3) { to.strokeStyle = PAPER; to.lineWidth = 1; to.stroke(); }
    sprites.set(key, [made, size]);
  }
  return sprites.get(key);
}

// What a pan only moves is drawn once, with a margin, and kept until the map, the zoom or the size changes.
function draw(now) {
  asked = false;
  if (!map || !view || !wide) return;
  const part = since ? Math.min(1, (now - since) / EASE) : 1, done = part * part * (3 - 2 * part);
  const at = (to, from, origin) => (row) => origin + view.k * (from[row] + done * (to[row] - from[row]));
  const moved = kept && [view.x - kept.x, view.y - kept.y];
  if (!kept || kept.k !== view.k || Math.abs(moved[0]) > MARGIN || Math.abs(moved[1]) > MARGIN) {
    kept = part === 1 && before === view.k ? picture(at) : null;
  }
  pen.setTransform(dpr, 0, 0, dpr, 0, 0);
  const px = at(X, fromX, view.x), py = at(Y, fromY, view.y);
  if (kept) pen.drawImage(kept.made, view.x - kept.x - MARGIN, view.y - kept.y - MARGIN, kept.wide, kept.high);
  else paint(px, py, wide, high);
  labels(px, py);
  before = view.k;
  if (part < 1) ask(); else since = 0;
}

function picture(at) {
  const made = document.createElement("canvas"), [w, h] = [wide + 2 * MARGIN, high + 2 * MARGIN];
  made.width = w * dpr; made.height = h * dpr;
  pen = made.getContext("2d", {alpha: false});
  pen.setTransform(dpr, 0, 0, dpr, 0, 0);
  paint(at(X, fromX, view.x + MARGIN), at(Y, fromY, view.y + MARGIN), w, h);
  pen = shown;
  return {made, k: view.k, x: view.x, y: view.y, wide: w, high: h};
}

function paint(px, py, w, h) {
  pen.fillStyle = PAPER; pen.fillRect(0, 0, w, h);
  lines(px, py); discs(px, py, w, h); points(px, py, w, h);
}

function lines(px, py) {
  const {ends, s} = map.edges;
  map.lines.forEach(([colour, width, opacity, dash, name], style) => {
    if (entries.has(name)) return;
    pen.beginPath();
    for (let at = 0; at < s.length; at++) if (s[at] === style && !gone(ends[2 * at]) && !gone(ends[2 * at + 1])) {
      pen.moveTo(px(ends[2 * at]), py(ends[2 * at])); pen.lineTo(px(ends[2 * at + 1]), py(ends[2 * at + 1]));
    }
    pen.setLineDash(dash); pen.globalAlpha = opacity; pen.strokeStyle = colour; pen.lineWidth = width; pen.stroke();
  });
  pen.setLineDash([]); pen.globalAlpha = 1;
}

function discs(px, py, w, h) {
  for (let row = 0; row < map.discs; row++) {
    if (gone(row)) continue;
    const x = px(row), y = py(row), r = view.k * map.nodes.r[row], [colour, shape] = map.looks[map.nodes.s[row]];
    if (x + r < 0 || y + r < 0 || x - r > w || y - r > h) continue;
    pen.beginPath(); pen.arc(x, y, r, 0, 7);
    pen.globalAlpha = 0.16; pen.fillStyle = colour; pen.fill(); pen.globalAlpha = 1;
    pen.strokeStyle = map.ringed.has(row) ? RING : colour; pen.lineWidth = map.ringed.has(row) ? 4 : 1.5; pen.stroke();
  }
}

function points(px, py, w, h) {
  let style = -1;
  for (const row of map.rows) {
    if (gone(row)) continue;
    const x = px(row), y = py(row), r = Math.min(DOTS, Math.round(view.k * map.nodes.r[row]));
    if (x < -20 || y < -20 || x > w + 20 || y > h + 20) continue;
    if (r < 1) {
      if (map.nodes.s[row] !== style) pen.fillStyle = map.looks[style = map.nodes.s[row]][0];
      pen.fillRect(x, y, 1.6, 1.6);
    } else {
      const [made, size] = sprite(map.nodes.s[row], r);
      pen.drawImage(made, x - size / 2, y - size / 2, size, size);
      style = -1;
    }
    if (map.ringed.has(row)) {
      pen.beginPath(); pen.arc(x, y, r + 3, 0, 7); pen.strokeStyle = RING; pen.lineWidth = 3; pen.stroke();
    }
  }
}

function labels(px, py) {
  const taken = [];
  pen.textAlign = "center"; pen.textBaseline = "middle"; pen.lineJoin = "round";
  for (let row = 0; row < map.nodes.label.length && taken.length < LABELS; row++) {
    const label = map.nodes.label[row];
    if (!label || gone(row)) continue;
    const disc = row < map.discs, size = disc ? 13 : 12, r = view.k * map.nodes.r[row];
    pen.font = `${disc ? "600 " : ""}${size}px system-ui, sans-serif`;
    if (!widths.has(row)) widths.set(row, pen.measureText(label).width);
    const half = widths.get(row) / 2 + 3, at = px(row);
    const x = at < 0 || at > wide ? at : Math.max(half, Math.min(wide - half, at));
    const y = py(row) + (!disc ? Math.min(DOTS, r) + 10 : r > 70 ? -r - 10 : 0);
    if (x + half < 0 || y < 0 || x - half > wide || y > high) continue;
    if (taken.some(([l, t, w]) => Math.abs(l - x) < w + half && Math.abs(t - y) < size + 3)) continue;
    taken.push([x, y, half]);
    pen.strokeStyle = PAPER; pen.lineWidth = 3.5; pen.strokeText(label, x, y);
    pen.fillStyle = INK; pen.fillText(label, x, y);
  }
  map.labelled = taken.length;
}

function hit(x, y) {
  const at = {x: (x - view.x) / view.k, y: (y - view.y) / view.k}, {r} = map.nodes;
  let best = -1, least = Infinity;
  for (let row = map.discs; row < map.nodes.tip.length; row++) {
    if (gone(row)) continue;
    const away = Math.hypot(X[row] - at.x, Y[row] - at.y);
    const reach = Math.max(6, Math.min(DOTS, view.k * r[row])) / view.k;
    if (away < reach && away < least) { least = away; best = row; }
  }
  if (best >= 0) return best;
  for (let row = 0; row < map.discs; row++) {
    if (gone(row) || Math.hypot(X[row] - at.x, Y[row] - at.y) > r[row]) continue;
    if (r[row] < least) { least = r[row]; best = row; }
  }
  return best;
}

function zoom(factor, x = wide / 2, y = high / 2) {
  const k = Math.min(Math.max(view.k * factor, view.least), 200 * view.least);
  view = {...view, k, x: x - (x - view.x) * k / view.k, y: y - (y - view.y) * k / view.k};
  ask();
}
const pan = (x, y) => { view.x += x; view.y += y; ask(); };

canvas.addEventListener("pointerdown", (event) => {
  canvas.setPointerCapture(event.pointerId);
  dragged = {x: event.offsetX, y: event.offsetY, far: false};
});
canvas.addEventListener("pointermove", ({offsetX: x, offsetY: y}) => {
  if (!view) return;
  if (dragged) {
    dragged.far ||= Math.hypot(x - dragged.x, y - dragged.y) > 4;
    if (dragged.far) { pan(x - dragged.x, y - dragged.y); Object.assign(dragged, {x, y}); }
    tip.style.display = "none";
    return;
  }
  const row = hit(x, y);
  tip.style.display = row < 0 ? "none" : "block";
  if (row < 0) return;
  tip.innerText = map.nodes.tip[row] ?? "";
  tip.style.left = Math.max(4, Math.min(x + 12, wide - tip.offsetWidth - 6)) + "px";
  tip.style.top = (y + 16 + tip.offsetHeight > high ? Math.max(4, y - tip.offsetHeight - 8) : y + 16) + "px";
});
canvas.addEventListener("pointerup", ({offsetX: x, offsetY: y}) => {
  const clicked = dragged && !dragged.far;
  dragged = null;
  const row = clicked ? hit(x, y) : -1;
  if (row >= 0) parent.postMessage({picked: map.nodes.id[row]}, "*");
});
canvas.addEventListener("pointerleave", () => { tip.style.display = "none"; });
canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  zoom(Math.exp(-0.0015 * event.deltaY), event.offsetX, event.offsetY);
}, {passive: false});
const KEYS = {ArrowLeft: () => pan(60, 0), ArrowRight: () => pan(-60, 0), ArrowUp: () => pan(0, 60),
  ArrowDown: () => pan(0, -60), "+": () => zoom(1.4), "-": () => zoom(1 / 1.4), 0: () => fit()};
canvas.addEventListener("keydown", (event) => {
  if (KEYS[event.key]) { KEYS[event.key](); event.preventDefault(); }
});
const [closer, further, all] = document.querySelectorAll("#zoom button");
closer.onclick = () => zoom(1.4); further.onclick = () => zoom(1 / 1.4); all.onclick = () => fit();
new ResizeObserver(() => fit(false)).observe(canvas);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", dye);
dye();
addEventListener("message", ({source, data}) => {
  if (source !== parent || !data) return;
  if (Array.isArray(data.hide)) { entries.set(data.hide); sift(); }
  if (data.nodes) show(data);
});
