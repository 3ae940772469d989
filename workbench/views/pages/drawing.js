const inks = getComputedStyle(document.documentElement);  // live: it follows the theme
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => network.redraw());
const tip = (words) => Object.assign(document.createElement("div"), {innerText: words});
const place = document.getElementById("mynetwork");
const hint = document.body.appendChild(Object.assign(document.createElement("div"), {id: "hint"}));
const OVER = 16;  // labels that may cover marks
let shown, wide, order = [], labels = [], hovered = null, placed = false;
const gone = new Set();  // ids of hidden nodes
const sift = () => {
  gone.clear();
  for (const node of shown.nodes) if (node.in.some(entries.has)) gone.add(node.id);
  nodes.update(shown.nodes.map(({id}) => ({id, hidden: gone.has(id)})));
  edges.update(shown.edges.map((edge, id) => ({id, hidden: lost(edge)})));
  network.redraw();
};
const lost = (edge) => entries.has(edge.in) || gone.has(edge.from) || gone.has(edge.to);
const entries = legend(
  document.body.appendChild(Object.assign(document.createElement("div"), {id: "legend", className: "legend"})),
  (hidden) => { sift(); parent.postMessage({hidden}, "*"); },
);
const ratio = () => {
  const room = place.getBoundingClientRect();
  placed = room.width > 0 && room.height > 0;
  return placed ? Math.min(Math.max(innerWidth / innerHeight, 1), 2) : 1;  // whatever the legend takes of the height
};
const hide = () => { network.interactionHandler.popup?.hide(); };
const show = (drawn) => {
  hide();
  shown = hovered = null;
  wide = ratio();
  nodes.clear();
  edges.clear();
  nodes.add(drawn.nodes.map(({label, in: _, ...node}) => ({...node, x: node.x * wide, title: tip(node.tooltip)})));
  edges.add(drawn.edges.map(({label, in: _, ...edge}, at) => ({...edge, id: at, title: tip(edge.tooltip)})));
  const weight = ({borderWidth, font, size}) => [borderWidth, font.size, size];
  const before = (a, b) => { for (let i = 0; i < 3; i++) if (a[i] !== b[i]) return b[i] - a[i]; return 0; };
  order = drawn.nodes.filter((node) => node.label).sort((a, b) => before(weight(a), weight(b)));
  shown = drawn;
  entries.show(drawn.legend);
  sift();
  if (!placed) return;
  network.fit();
  network.moveTo({scale: 0.86 * network.getScale()});
};
const meets = (a, b) => a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
network.on("afterDrawing", (ctx) => {
  if (!shown || !placed) return;
  const scale = network.getScale(), room = place.getBoundingClientRect(), dots = ctx.canvas.width / room.width;
  const marks = new Map(shown.nodes.filter(({id}) => !gone.has(id)).map((node) => {
    const {x, y} = network.canvasToDOM(network.getPosition(node.id)), r = node.size * scale + 1;
    return [node.id, {x: x - r, y: y - r, w: 2 * r, h: 2 * r}];
  }));
  labels = [];
  ctx.save();
  ctx.setTransform(dots, 0, 0, dots, 0, 0);
  Object.assign(ctx, {textAlign: "left", textBaseline: "middle", lineJoin: "round"});
  const [paper, ink] = ["--paper", "--ink"].map((name) => inks.getPropertyValue(name));
  Object.assign(ctx, {lineWidth: 3, strokeStyle: paper, fillStyle: ink});
  const write = (box, words) => {
    ctx.strokeText(words, box.x + 2, box.y + box.h / 2);
    ctx.fillText(words, box.x + 2, box.y + box.h / 2);
    labels.push({...box, words});
  };
  const free = (box, over) => box.x >= 0 && box.y >= 0 && box.x + box.w <= room.width && box.y + box.h <= room.height
    && !labels.some((one) => meets(box, one))
    && (over || ![...marks.values()].some((mark) => meets(box, mark)));
  const put = (node, over, always) => {
    const size = node.font.size / shown.zoom, mark = marks.get(node.id);
    if (mark.x > room.width || mark.y > room.height || mark.x + mark.w < 0 || mark.y + mark.h < 0) return;
    ctx.font = `${size}px sans-serif`;
    const w = ctx.measureText(node.label).width + 4, h = size + 3, middle = mark.x + mark.w / 2;
    const boxes = [
      [middle - w / 2, mark.y + mark.h], [mark.x + mark.w + 1, mark.y + mark.h / 2 - h / 2],
      [mark.x - w - 1, mark.y + mark.h / 2 - h / 2], [middle - w / 2, mark.y - h],
    ].map(([x, y]) => ({id: node.id, x, y, w, h}));
    const box = boxes.find((one) => free(one)) ?? boxes.find((one) => over && free(one, true)) ?? (always && boxes[0]);
    if (box) write(box, node.label);
  };
  const tie = (edge, at, sign) => {
    const {x, y} = network.canvasToDOM(network.body.edges[at].edgeType.getPoint(0.5));
    const [from, to] = [edge.from, edge.to].map((id) => marks.get(id));
    const long = Math.hypot(from.x + from.w / 2 - to.x - to.w / 2, from.y + from.h / 2 - to.y - to.h / 2);
    ctx.font = `${edge.font.size}px sans-serif`;
    const w = ctx.measureText(edge.label).width + 4, h = edge.font.size + 3;
    const box = {id: null, x: x - w / 2, y: y - h / 2, w, h};
    if (sign || (long > w && free(box))) write(box, edge.label);
  };
  const ties = shown.edges.map((edge, at) => [edge, at, edge.label && !/\p{L}/u.test(edge.label)])
    .filter(([edge]) => !lost(edge));
  const under = order.find(({id}) => id === hovered && !gone.has(id));
  if (under) put(under, true, true);
  for (const one of ties) if (one[2]) tie(...one);
  order.filter(({id}) => !gone.has(id)).forEach((node, rank) => { if (node !== under) put(node, rank < OVER); });
  for (const one of ties) if (one[0].label && !one[2]) tie(...one);
  ctx.restore();
});
new ResizeObserver(() => { if (shown && (!placed || ratio() !== wide)) show(shown); }).observe(place);
place.addEventListener("mouseleave", hide);
addEventListener("message", ({source, data}) => {
  if (source !== parent || !data) return;
  if (Array.isArray(data.hide)) { entries.set(data.hide); if (shown) sift(); }
  if (data.nodes) show(data);
});
network.on("hoverNode", ({node}) => { hovered = node; network.redraw(); });
network.on("blurNode", () => { hovered = null; network.redraw(); });
network.on("click", ({nodes: [id], pointer: {DOM: {x, y}}}) => {
  const over = labels.find((box) => box.id !== null && meets(box, {x, y, w: 0, h: 0}));
  const found = over ? over.id : id;
  if (Number.isInteger(found)) parent.postMessage({picked: found}, "*");
});
// The wheel scrolls the notebook until the picture is clicked, and again once something else is.
const zoomable = (yes) => network.setOptions({interaction: {zoomView: yes}});
zoomable(false);
addEventListener("focus", () => { zoomable(true); hint.textContent = ""; });
addEventListener("blur", () => zoomable(false));
place.addEventListener("mousedown", () => window.focus());
place.addEventListener("wheel", () => { if (!document.hasFocus()) hint.textContent = "click to zoom with the wheel"; });
place.addEventListener("mouseleave", () => { hint.textContent = ""; });
