// `graph(place, told)` draws a graph, or a map of discs and points, on a canvas in `place`, from plain data.
//
// show(data)  data.nodes: {id, x, y, r, s, label, tip, font, ring}, data.edges: {source, target, s, label, tip, width,
//             arrows, curve, fade}; `s` is a row of data.looks [colour, shape, [entries]] or of data.lines [colour,
//             width, opacity, dashes, entry, strong]. data.round: places keep their proportions and radii grow with
//             them. data.discs: the first rows are discs. data.bounds: what the frame has to hold.
// hide(names)  hides what these entries of the legend stand for; select(id) marks a node.
// told.picked(id) is called with a node that is clicked, told.hidden(names) when the legend hides something.
//
// Names reach the page as text of the canvas and of elements, never as HTML; nothing moves by itself.
const RING = "#D55E00", RIM = "#88888899", ROUGH = 900, DOT = 9, MARGIN = 240, EASE = 700;

// Boxes that are taken, in cells of a grid, so that a question about thousands of them is short.
const takenBoxes = () => {
  const cells = new Map(), SIZE = 64;
  const each = ({x, y, w, h}, visit) => {
    for (let a = Math.floor(x / SIZE); a <= (x + w) / SIZE; a++) {
      for (let b = Math.floor(y / SIZE); b <= (y + h) / SIZE; b++) if (visit(`${a} ${b}`)) return true;
    }
    return false;
  };
  const add = (box) => { each(box, (cell) => { (cells.get(cell) ?? cells.set(cell, []).get(cell)).push(box); }); };
  return {add, meets: (box) => each(box, (cell) => cells.get(cell)?.some((other) => meet(box, other)))};
};
const meet = (a, b) => a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;

const CORNERS = {
  square: [4, -45], triangle: [3, -90], diamond: [4, 0], triangleDown: [3, 90], hexagon: [6, 0], star: [10, -90],
};
const outline = (to, shape, x, y, r) => {
  const [corners, turn] = CORNERS[shape] ?? [0, 0];
  to.beginPath();
  if (!corners) to.arc(x, y, r, 0, 7);
  for (let at = 0; at < corners; at++) {
    const angle = (turn + 360 * at / corners) * Math.PI / 180, reach = shape === "star" && at % 2 ? 0.55 * r : 1.15 * r;
    to.lineTo(x + reach * Math.cos(angle), y + reach * Math.sin(angle));
  }
  to.closePath();
};

const graph = (place, told = {}) => {
  const canvas = element("canvas", {tabindex: 0, role: "img"}), pen = canvas.getContext("2d", {alpha: false});
  const tip = element("div", {class: "tip", role: "status"}), hint = element("div", {class: "hint"});
  const bar = element("div", {class: "zoom"}), below = element("div", {class: "legend"});
  place.replaceChildren(canvas, bar, hint, tip, below);
  let data = null, view = null, wide = 0, high = 0, dots = 1, scale = [1, 1], shrink = 1, asked = false, wait = 0;
  let X, Y, fromX, fromY, since = 0, done = 1, paper, ink, kept = null;
  let order = [], rank = [], groups = [], joined = [], out = [], labels = [];
  let hovered = -1, edgeUnder = -1, selected = -1, dragged = null;

  const entries = legend(below, (hidden) => { sift(); told.hidden?.(hidden); });
  const ask = () => { if (!asked) { asked = true; requestAnimationFrame(draw); } };
  const stale = () => { kept = null; ask(); };
  const sift = () => {
    if (!data) return;
    const looks = data.looks.map(([,, names]) => names.some(entries.has));
    out = data.nodes.map(({s}) => looks[s]);
    leave();
    stale();
  };
  const lost = (edge) => out[edge.source] || out[edge.target] || entries.has(data.lines[edge.s][4]);

  // -- what is shown, and where --------------------------------------------------------------------------------------
  const show = (next) => {
    const places = new Map(), same = next.space && data?.space === next.space;
    if (same) data.nodes.forEach(({id}, row) => places.set(id, [X[row], Y[row]]));
    const mark = data?.nodes[selected]?.id;
    data = next;
    X = Float32Array.from(data.nodes, ({x}) => x);
    Y = Float32Array.from(data.nodes, ({y}) => y);
    [fromX, fromY, since] = [X.slice(), Y.slice(), 0];
    if (same && !matchMedia("(prefers-reduced-motion: reduce)").matches) {
      data.nodes.forEach(({id}, row) => { [fromX[row], fromY[row]] = places.get(id) ?? [X[row], Y[row]]; });
      since = performance.now();
    }
    arrange();
    entries.show(data.legend);
    selected = data.nodes.findIndex(({id}) => id === mark);
    canvas.setAttribute("aria-label", words());
    if (!same) view = null;
    sift();
    fit(!view);
  };
  const weight = ({ring, font, r}) => [ring ?? 0, font ?? 0, data.round ? 0 : r];
  const arrange = () => {
    const before = (a, b) => {
      const [one, other] = [weight(data.nodes[a]), weight(data.nodes[b])], at = one.findIndex((w, i) => w !== other[i]);
      return at < 0 ? a - b : other[at] - one[at];
    };
    order = data.nodes.map((_, row) => row).filter((row) => data.nodes[row].label);
    if (!data.round) order.sort(before);
    rank = data.nodes.map(({s}, row) => [s, row]).slice(data.discs ?? 0).sort((a, b) => a[0] - b[0] || b[1] - a[1]);
    joined = data.nodes.map(() => []);
    const made = new Map();
    data.edges.forEach((edge, at) => {
      joined[edge.source].push(at);
      joined[edge.target].push(at);
      const look = [edge.s, edge.width ?? data.lines[edge.s][1], Math.round(20 * (edge.fade ?? 1)) / 20];
      (made.get(look.join()) ?? made.set(look.join(), {look, edges: []}).get(look.join())).edges.push(edge);
    });
    // The first style lies on top, and paths that matter on all others.
    const depth = ({look: [s]}) => (data.lines[s][5] ? 1000 : 0) - s;
    groups = [...made.values()].sort((a, b) => depth(a) - depth(b));
  };
  const fit = (whole = true) => {
    const room = canvas.getBoundingClientRect();
    if (!room.width || !room.height || !data) { wide = 0; return; }
    const [before, was] = [wide, high];
    [wide, high, dots] = [room.width, room.height, Math.min(2, devicePixelRatio || 1)];
    [canvas.width, canvas.height] = [wide * dots, high * dots];
    const grows = data.round ? data.nodes.map(({r}) => r) : null;
    let [a, b, c, d] = data.bounds ?? [Infinity, Infinity, -Infinity, -Infinity];
    if (!data.bounds) X.forEach((x, row) => {
      const r = grows?.[row] ?? 0;
      [a, b, c, d] = [Math.min(a, x - r), Math.min(b, Y[row] - r), Math.max(c, x + r), Math.max(d, Y[row] + r)];
    });
    const side = data.round ? 20 : Math.min(80, wide / 9), edge = data.round ? 20 : Math.min(36, high / 7);
    const fits = [c - a > 1e-6 ? (wide - 2 * side) / (c - a) : 1, d - b > 1e-6 ? (high - 2 * edge) / (d - b) : 1];
    const old = scale;
    scale = data.round ? [Math.min(...fits), Math.min(...fits)] : fits;
    shrink = data.round ? 1 : Math.min(1, Math.sqrt(wide * high / (4000 * Math.max(1, X.length))));
    if (whole || !view || !before) {
      const middle = X.length ? [scale[0] * (a + c), scale[1] * (b + d)] : [wide, high];
      view = {z: 1, x: (wide - middle[0]) / 2, y: (high - middle[1]) / 2};
    } else {
      // What was in the middle stays there.
      const middle = [(before / 2 - view.x) / view.z / old[0], (was / 2 - view.y) / view.z / old[1]];
      view = {z: view.z, x: wide / 2 - middle[0] * scale[0] * view.z, y: high / 2 - middle[1] * scale[1] * view.z};
    }
    stale();
  };
  const px = (row) => view.x + view.z * scale[0] * (fromX[row] + done * (X[row] - fromX[row]));
  const py = (row) => view.y + view.z * scale[1] * (fromY[row] + done * (Y[row] - fromY[row]));
  const isDisc = (row) => row < (data.discs ?? 0);
  const radius = (row) => {
    const {r} = data.nodes[row];
    if (data.round) return isDisc(row) ? r * scale[0] * view.z : Math.min(DOT, r * scale[0] * view.z);
    return Math.max(1, r * shrink * Math.min(2.5, Math.sqrt(view.z)));
  };

  // -- the picture ---------------------------------------------------------------------------------------------------
  const draw = (now) => {
    asked = false;
    if (!data || !view || !wide) return;
    const part = since ? Math.min(1, (now - since) / EASE) : 1;
    done = part * part * (3 - 2 * part);
    pen.setTransform(dots, 0, 0, dots, 0, 0);
    if (data.nodes.length + data.edges.length > ROUGH && part === 1) moved(); else paint(pen, wide, high);
    emphasise();
    write();
    if (part < 1) ask(); else since = 0;
  };
  // Of thousands of marks, what a hand moves is a picture of them; it is drawn anew when the hand rests.
  const moved = () => {
    const far = kept && (kept.z !== view.z || Math.abs(view.x - kept.x) > MARGIN || Math.abs(view.y - kept.y) > MARGIN);
    if (!kept || (far && !wait)) kept = copy();
    pen.fillStyle = paper;
    pen.fillRect(0, 0, wide, high);
    const grown = view.z / kept.z, left = view.x - grown * (kept.x + MARGIN), top = view.y - grown * (kept.y + MARGIN);
    pen.drawImage(kept.made, left, top, grown * (wide + 2 * MARGIN), grown * (high + 2 * MARGIN));
  };
  const copy = () => {
    const made = element("canvas"), [w, h] = [wide + 2 * MARGIN, high + 2 * MARGIN], here = view;
    [made.width, made.height] = [w * dots, h * dots];
    const to = made.getContext("2d", {alpha: false});
    to.setTransform(dots, 0, 0, dots, 0, 0);
    view = {...here, x: here.x + MARGIN, y: here.y + MARGIN};
    paint(to, w, h);
    view = here;
    return {made, ...here};
  };
  const move = (next) => {
    view = next;
    clearTimeout(wait);
    wait = setTimeout(() => { wait = 0; ask(); }, 120);
    ask();
  };
  const paint = (to, w, h) => {
    to.fillStyle = paper;
    to.fillRect(0, 0, w, h);
    for (const {look, edges} of groups) lines(to, look, edges.filter((edge) => !lost(edge)));
    for (let row = 0; row < (data.discs ?? 0); row++) if (!out[row]) disc(to, row, w, h);
    for (const [, row] of rank) if (!out[row]) mark(to, row, w, h);
  };
  const lines = (to, [s, width, fade], edges, strong = false) => {
    const [colour, , opacity, dashes,, path] = data.lines[s];
    const thick = strong ? width + 1.5 : width * (data.round || path ? 1 : Math.max(0.3, shrink));
    Object.assign(to, {strokeStyle: colour, fillStyle: colour, lineWidth: thick});
    to.globalAlpha = strong ? 1 : opacity * fade;
    to.setLineDash(dashes);
    to.beginPath();
    for (const edge of edges) way(to, edge);
    to.stroke();
    to.setLineDash([]);
    to.beginPath();
    for (const edge of edges) if (edge.arrows) heads(to, edge, 4.5 + 1.1 * thick);
    to.fill();
    to.globalAlpha = 1;
  };
  // An edge that bends keeps its bend in pixels: the middle of its way, and the point that pulls it there.
  const bend = (edge, share = 0.5) => {
    const [x1, y1, x2, y2] = [px(edge.source), py(edge.source), px(edge.target), py(edge.target)];
    const [bx, by] = [(x1 + x2) / 2 + (edge.curve ?? 0) * (y2 - y1), (y1 + y2) / 2 - (edge.curve ?? 0) * (x2 - x1)];
    const [p, q, r] = [(1 - share) ** 2, 2 * (1 - share) * share, share ** 2];
    return {x1, y1, x2, y2, bx, by, x: p * x1 + q * bx + r * x2, y: p * y1 + q * by + r * y2};
  };
  const way = (to, edge) => {
    const {x1, y1, x2, y2, bx, by} = bend(edge);
    to.moveTo(x1, y1);
    if (edge.source === edge.target) to.arc(x1, y1 - radius(edge.source) - 8, 8, Math.PI / 2, 2.5 * Math.PI);
    else if (edge.curve) to.quadraticCurveTo(bx, by, x2, y2);
    else to.lineTo(x2, y2);
  };
  const heads = (to, edge, size) => {
    const {x1, y1, x2, y2, bx, by} = bend(edge);
    for (const [name, row, x, y] of [["to", edge.target, x2, y2], ["from", edge.source, x1, y1]]) {
      if (!edge.arrows.split(",").includes(name) || edge.source === edge.target) continue;
      const far = Math.hypot(x - bx, y - by) || 1, [dx, dy] = [(x - bx) / far, (y - by) / far];
      const [tx, ty] = [x - dx * (radius(row) + 1), y - dy * (radius(row) + 1)];
      to.moveTo(tx, ty);
      to.lineTo(tx - dx * size + dy * size / 2, ty - dy * size - dx * size / 2);
      to.lineTo(tx - dx * size - dy * size / 2, ty - dy * size + dx * size / 2);
      to.closePath();
    }
  };
  const disc = (to, row, w, h) => {
    const [x, y, r] = [px(row), py(row), radius(row)], {s, ring} = data.nodes[row], [colour] = data.looks[s];
    if (x + r < 0 || y + r < 0 || x - r > w || y - r > h) return;
    outline(to, "dot", x, y, r);
    Object.assign(to, {globalAlpha: 0.16, fillStyle: colour});
    to.fill();
    Object.assign(to, {globalAlpha: 1, strokeStyle: ring ? RING : colour, lineWidth: ring ? 4 : 1.5});
    to.stroke();
  };
  const mark = (to, row, w, h) => {
    const [x, y, r] = [px(row), py(row), radius(row)], node = data.nodes[row], [colour, shape] = data.looks[node.s];
    if (x < -30 || y < -30 || x > w + 30 || y > h + 30) return;
    to.fillStyle = colour;
    if (r < 1.6 && !node.ring) { to.fillRect(x - 1, y - 1, 2, 2); return; }
    outline(to, shape, x, y, r);
    to.fill();
    if (r > 3) { Object.assign(to, {strokeStyle: RIM, lineWidth: 1}); to.stroke(); }
    if (!node.ring) return;
    outline(to, "dot", x, y, r + 3.5);
    Object.assign(to, {strokeStyle: RING, lineWidth: 3});
    to.stroke();
  };
  // What the mouse or the keyboard is on, and what was picked: thicker edges, a ring in the colour of letters.
  const emphasise = () => {
    const near = hovered >= 0 ? joined[hovered] : edgeUnder >= 0 ? [edgeUnder] : [];
    for (const at of near.filter((at) => !lost(data.edges[at])).slice(0, 100)) {
      const edge = data.edges[at];
      lines(pen, [edge.s, edge.width ?? data.lines[edge.s][1], 1], [edge], true);
      for (const row of [edge.source, edge.target]) if (!isDisc(row)) mark(pen, row, wide, high);
    }
    for (const row of new Set([selected, hovered])) {
      if (row < 0 || out[row]) continue;
      outline(pen, "dot", px(row), py(row), radius(row) + (data.nodes[row].ring ? 7 : 4));
      Object.assign(pen, {strokeStyle: ink, lineWidth: row === selected ? 2.5 : 1.5});
      pen.stroke();
    }
  };

  // -- labels: by importance, none on another; the rest when the mouse is there --------------------------------------
  const OVER = 16;  // labels of nodes that may cover marks
  const write = () => {
    const most = data.round ? 70 : 160;
    labels = [];
    const marks = takenBoxes(), taken = takenBoxes(), few = data.nodes.length <= 1500 && !data.round;
    taken.add({x: wide - 92, y: 0, w: 92, h: 34});  // the buttons
    if (few) data.nodes.forEach((_, row) => { if (!out[row]) marks.add(box(row)); });
    Object.assign(pen, {textAlign: "left", textBaseline: "middle", lineJoin: "round", lineWidth: 3.5});
    const inside = ({x, y, w, h}) => x >= 0 && y >= 0 && x + w <= wide && y + h <= high;
    const put = (id, text, size, seats, {over = false, always = false, bold = false} = {}) => {
      pen.font = `${bold ? "600 " : ""}${size}px system-ui, sans-serif`;
      const rows = text.split("\n"), h = (size + 3) * rows.length;
      const wides = rows.map((row) => pen.measureText(row).width), w = Math.max(...wides) + 4;
      const boxes = seats(w, h).map(([x, y]) => ({id, words: text, x, y, w, h}));
      const free = (covers) => boxes.find((one) => inside(one) && !taken.meets(one) && (covers || !marks.meets(one)));
      const at = free(false) ?? (over ? free(true) : undefined) ?? (always ? boxes[0] : undefined);
      if (!at) return;
      Object.assign(pen, {strokeStyle: paper, fillStyle: ink});
      rows.forEach((row, line) => {
        const x = at.x + (w - wides[line]) / 2, y = at.y + (size + 3) * (line + 0.5);
        pen.strokeText(row, x, y);
        pen.fillText(row, x, y);
      });
      taken.add(at);
      labels.push(at);
    };
    // The name of a disc is as wide as the disc, so that it lies on no other.
    const wrapped = (label, room) => {
      const rows = label.split(" ").reduce((rows, word) => {
        const longer = `${rows.at(-1) ?? ""} ${word}`.trim();
        if (rows.length && pen.measureText(longer).width <= room) rows[rows.length - 1] = longer; else rows.push(word);
        return rows;
      }, []);
      return (rows.length > 3 ? [...rows.slice(0, 2), `${rows[2]} …`] : rows).join("\n");
    };
    const name = (row, settings) => {
      const node = data.nodes[row], disc = isDisc(row);
      const size = disc ? 12 : Math.max(11, Math.min(15, node.font ?? 12));
      pen.font = `600 ${size}px system-ui, sans-serif`;
      const label = disc ? wrapped(node.label, Math.max(60, 2 * radius(row))) : node.label;
      put(node.id, label, size, seatsOf(row), {bold: disc || node.ring, ...settings});
    };
    // On its edge, or where that has no room beside it; those of a path that matters also further away.
    const relation = (edge, settings, aside = [0]) => {
      const along = [0.5, 0.4, 0.6, 0.3, 0.7].map((share) => bend(edge, share)), [{x1, y1, x2, y2}] = along;
      const far = Math.hypot(x2 - x1, y2 - y1) || 1, [dx, dy] = [(y1 - y2) / far, (x2 - x1) / far];
      const seats = (w, h) => aside.flatMap((by) => {
        const away = by * (Math.abs(dx) * w / 2 + Math.abs(dy) * h / 2 + 2), lefts = by ? [-w / 2, 0, -w] : [-w / 2];
        return lefts.flatMap((left) => along.map(({x, y}) => [x + away * dx + left, y + away * dy - h / 2]));
      });
      put(null, edge.label, 11, seats, settings);
    };
    const seen = (row) => !out[row] && meet(box(row), {x: 0, y: 0, w: wide, h: high});
    const tied = data.edges.filter((edge) => edge.label && !lost(edge));
    const strong = tied.filter((edge) => data.lines[edge.s][5]);
    const onPath = new Set(strong.flatMap(({source, target}) => [source, target]));
    const important = (row) => row === hovered || row === selected || data.nodes[row].ring;
    if (hovered >= 0 && !out[hovered] && data.nodes[hovered].label) name(hovered, {over: true, always: true});
    for (const edge of tied) if (!/\p{L}/u.test(edge.label)) relation(edge, {over: true});  // a sign
    // Among discs, a member waits until its disc is looked at: names of members would lie on those of the discs.
    const close = (row) => isDisc(row) || (data.discs ?? 0) < 2 || radius(row) >= DOT;
    const ready = order.filter((row) => row !== hovered && seen(row) && (close(row) || important(row)));
    const first = ready.filter((row) => onPath.has(row) || important(row));
    first.forEach((row) => name(row, {over: true}));
    for (const edge of strong) if (/\p{L}/u.test(edge.label)) relation(edge, {over: true}, [0, 1, -1, 2, -2, 3, -3, 5, -5]);
    const later = ready.filter((row) => !onPath.has(row) && !important(row)).slice(0, 4 * most);
    later.forEach((row, at) => { if (labels.length < most) name(row, {over: at < OVER && few}); });
    const near = tied.filter((edge) => important(edge.source) || important(edge.target));
    for (const edge of near.slice(0, 80)) if (!data.lines[edge.s][5] && long(edge)) relation(edge);
    if (edgeUnder >= 0 && data.edges[edgeUnder].label) relation(data.edges[edgeUnder], {over: true});
  };
  const long = (edge) => {
    const {x1, y1, x2, y2} = bend(edge);
    return Math.hypot(x2 - x1, y2 - y1) > 5.5 * edge.label.length;
  };
  const box = (row) => { const r = radius(row) + 1; return {x: px(row) - r, y: py(row) - r, w: 2 * r, h: 2 * r}; };
  const seatsOf = (row) => (w, h) => {
    const [x, y, r] = [px(row), py(row), radius(row) + (data.nodes[row].ring ? 5 : 1)];
    if (isDisc(row)) return [[x - w / 2, r > 70 ? y - r - h : y - h / 2]];
    const middle = Math.max(0, Math.min(wide - w, x - w / 2));
    return [[middle, y + r], [x + r + 1, y - h / 2], [x - r - 1 - w, y - h / 2], [middle, y - r - h],
      [x + r / 2, y + r / 2], [x - w - r / 2, y + r / 2], [x + r / 2, y - h - r / 2], [x - w - r / 2, y - h - r / 2]];
  };

  // The picture in words, for who does not see it.
  const words = () => {
    const called = (row) => data.nodes[row].label || data.nodes[row].tip?.split("\n")[0] || "";
    const starts = data.nodes.map((_, row) => row).filter((row) => data.nodes[row].ring).slice(0, 12).map(called);
    const path = data.edges.filter((edge) => data.lines[edge.s][5]).slice(0, 20)
      .map(({source, target, label}) => `${called(source)} – ${label ? `${label} – ` : ""}${called(target)}`);
    return [
      `${data.name}: ${data.nodes.length} nodes, ${data.edges.length} edges.`,
      starts.length ? `Marked: ${starts.join(", ")}.` : "",
      path.length ? `Paths: ${path.join("; ")}.` : `Largest: ${order.slice(0, 8).map(called).join(", ")}.`,
      "Arrow keys go from node to node, Enter picks one, shift and arrow keys pan, + and - zoom, 0 shows all.",
    ].filter(Boolean).join(" ");
  };

  // -- mouse and keyboard --------------------------------------------------------------------------------------------
  const hit = (x, y) => {
    let best = -1, least = Infinity;
    for (let row = data.discs ?? 0; row < X.length; row++) {
      const away = Math.hypot(px(row) - x, py(row) - y);
      if (out[row] || data.nodes[row].tip === undefined || away >= Math.max(6, radius(row) + 2)) continue;
      if (away < least) [least, best] = [away, row];
    }
    for (let row = 0; best < 0 && row < (data.discs ?? 0); row++) {
      const r = radius(row);
      if (!out[row] && Math.hypot(px(row) - x, py(row) - y) < r && r < least) [least, best] = [r, row];
    }
    return best;
  };
  const edgeAt = (x, y) => {
    let best = -1, least = 6;
    data.edges.forEach((edge, at) => {
      if (lost(edge) || !(edge.tip || edge.label)) return;
      const parts = edge.curve ? 8 : 1;
      for (let part = 0; part < parts; part++) {
        const [one, other] = [bend(edge, part / parts), bend(edge, (part + 1) / parts)];
        const [dx, dy] = [other.x - one.x, other.y - one.y], length = dx * dx + dy * dy || 1;
        const t = Math.max(0, Math.min(1, ((x - one.x) * dx + (y - one.y) * dy) / length));
        const away = Math.hypot(one.x + t * dx - x, one.y + t * dy - y);
        if (away < least) [least, best] = [away, at];
      }
    });
    return best;
  };
  const tell = (text, x, y) => {
    tip.style.display = text ? "block" : "none";
    if (!text) return;
    tip.textContent = text;
    tip.style.left = `${Math.max(4, Math.min(x + 12, wide - tip.offsetWidth - 6))}px`;
    tip.style.top = `${y + 16 + tip.offsetHeight > high ? Math.max(4, y - tip.offsetHeight - 10) : y + 16}px`;
  };
  const at = (row, edge, x, y) => {
    if (row !== hovered || edge !== edgeUnder) { [hovered, edgeUnder] = [row, edge]; ask(); }
    canvas.style.cursor = row >= 0 ? "pointer" : "";
    tell(row >= 0 ? data.nodes[row].tip : edge >= 0 ? data.edges[edge].tip || data.edges[edge].label : "", x, y);
  };
  const leave = () => { if (data) at(-1, -1, 0, 0); hint.textContent = ""; };
  const pick = (row) => {
    if (row < 0) return;
    selected = row;
    ask();
    told.picked?.(data.nodes[row].id);
  };
  const under = (x, y) => {
    const row = hit(x, y), label = labels.find((one) => one.id !== null && meet(one, {x, y, w: 0, h: 0}));
    return row < 0 && label ? data.nodes.findIndex(({id}) => id === label.id) : row;
  };
  const zoom = (factor, x = wide / 2, y = high / 2) => {
    const z = Math.min(Math.max(view.z * factor, 1 / 3), 60);
    move({z, x: x - (x - view.x) * z / view.z, y: y - (y - view.y) * z / view.z});
  };
  const pan = (x, y) => move({...view, x: view.x + x, y: view.y + y});
  const go = (dx, dy) => {
    let best = hovered < 0 ? order.find((row) => !out[row]) ?? -1 : -1, least = Infinity;
    for (const row of hovered < 0 ? [] : data.nodes.keys()) {
      const along = (px(row) - px(hovered)) * dx + (py(row) - py(hovered)) * dy;
      const across = Math.abs((px(row) - px(hovered)) * dy) + Math.abs((py(row) - py(hovered)) * dx);
      if (out[row] || along < 1 || data.nodes[row].tip === undefined) continue;
      if (along + 2 * across < least) [least, best] = [along + 2 * across, row];
    }
    if (best < 0) return;
    const [x, y] = [px(best), py(best)];
    if (x < 0 || y < 0 || x > wide || y > high) pan(wide / 2 - x, high / 2 - y);
    at(best, -1, px(best), py(best));
  };
  const ARROWS = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]};
  const keys = {
    "+": () => zoom(1.4), "-": () => zoom(1 / 1.4), 0: () => fit(), Escape: () => leave(), Enter: () => pick(hovered),
  };
  canvas.addEventListener("keydown", (event) => {
    const way = ARROWS[event.key], action = keys[event.key];
    if (!data || !view || !(way || action)) return;
    if (way) { if (event.shiftKey) pan(-60 * way[0], -60 * way[1]); else go(...way); } else action();
    event.preventDefault();
  });
  canvas.addEventListener("pointerdown", ({pointerId, offsetX: x, offsetY: y}) => {
    canvas.setPointerCapture(pointerId);
    dragged = {x, y, far: false};
  });
  canvas.addEventListener("pointermove", ({offsetX: x, offsetY: y}) => {
    if (!view || !wide) return;
    if (!dragged) { const row = under(x, y); at(row, row < 0 ? edgeAt(x, y) : -1, x, y); return; }
    dragged.far ||= Math.hypot(x - dragged.x, y - dragged.y) > 4;
    if (!dragged.far) return;
    pan(x - dragged.x, y - dragged.y);
    Object.assign(dragged, {x, y});
    tell("");
  });
  canvas.addEventListener("pointerup", ({offsetX: x, offsetY: y}) => {
    const clicked = dragged && !dragged.far;
    dragged = null;
    if (clicked && data && view) pick(under(x, y));
  });
  canvas.addEventListener("pointerleave", leave);
  // The wheel scrolls the page until the picture is clicked, and again once something else is.
  canvas.addEventListener("wheel", (event) => {
    const active = document.activeElement === canvas && document.hasFocus();
    hint.textContent = active || event.ctrlKey ? "" : "click to zoom with the wheel";
    if (!view || !(active || event.ctrlKey)) return;
    event.preventDefault();
    zoom(Math.exp(-0.0015 * event.deltaY), event.offsetX, event.offsetY);
  }, {passive: false});
  for (const [sign, title, key] of [["+", "zoom in", "+"], ["−", "zoom out", "-"], ["⤢", "see all", "0"]]) {
    bar.append(Object.assign(element("button", {type: "button", title}, sign), {onclick: keys[key]}));
  }
  const dye = () => {
    const {backgroundColor, color} = getComputedStyle(canvas);
    [paper, ink] = [backgroundColor, color];
    stale();
  };
  new ResizeObserver(() => { dye(); fit(false); }).observe(canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", dye);
  dye();
  return {
    show, fit, zoom, hit,
    hide: (names) => { entries.set(names); sift(); },
    select: (id) => {
      selected = data?.nodes.findIndex((node) => node.id === id) ?? -1;
      ask();
    },
    stands: () => wide > 0 && !asked && !since && !wait,
    labels: () => labels,
    at: (row) => ({x: px(row), y: py(row), r: radius(row)}),
    shown: () => data.nodes.filter((_, row) => !out[row]).map(({id}) => id),
    edges: () => [...data.edges.keys()].filter((at) => !lost(data.edges[at])),
    data: () => data,
  };
};

// The pictures of a page that has no kernel: each draws itself from the data that it carries.
const graphsOf = (root) => root.querySelectorAll(".hopscope-graph[data-graph]").forEach((place) => {
  const data = JSON.parse(place.dataset.graph);
  place.removeAttribute("data-graph");
  place.graph = graph(place);
  place.style.setProperty("--ratio", data.ratio ?? 1.6);
  place.graph.show(data);
});
