// `bump(place, told)` draws how passages change their ranks from stage to stage (a bump chart), as SVG in `place`.
//
// show(data)  data.stages: names; data.top: ranks that have a row of their own; data.end: the stage at which passages
//             that were chosen get a triangle, -1 for none; data.passages: {label, gold, chosen, ranks, rows}, where a
//             rank of null was not found and a row of null is not drawn.
// at(stage)   marks a stage; what comes after it is faint. told.stage(at) is called with one whose name is clicked.
const bump = (place, told = {}) => {
  const LEFT = 26, HEAD = 30, ROW = 21, LETTER = 6.7, STAGE = 56, LONGEST = 60, SVG = "http://www.w3.org/2000/svg";
  let data = null, now = 0, wide = 0;
  const made = (tag, attributes, words) => {
    const one = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) one.setAttribute(name, value);
    if (words !== undefined) one.textContent = words;
    return one;
  };
  const short = (words, letters) => words.length > letters ? `${words.slice(0, letters - 1).trimEnd()}…` : words;
  const y = (row) => HEAD + ROW * row - ROW / 2;
  const mark = (passage, at, x, row) => {
    if (passage.chosen && at === data.end) return made("path", {d: `M${x} ${row - 7}l7 12h-14z`, class: "chosen"});
    const missing = passage.ranks[at] === null ? " missing" : "";
    if (passage.gold) return made("path", {d: `M${x} ${row - 6}l6 6l-6 6l-6 -6z`, class: `point${missing}`});
    return made("circle", {cx: x, cy: row, r: 3.5, class: `point${missing}`});
  };
  const line = (x1, y1, x2, y2) => `M${x1} ${y1}C${(x1 + x2) / 2} ${y1} ${(x1 + x2) / 2} ${y2} ${x2} ${y2}`;
  const draw = () => {
    if (!data || !wide) return;
    const {stages, top, passages} = data, last = stages.length - 1;
    const step = Math.max(STAGE, 12 + LETTER * Math.max(...stages.map((name) => name.length)));
    const room = Math.floor((wide - LEFT - step * stages.length) / LETTER) - 1;
    const letters = Math.max(12, Math.min(LONGEST, room)), x = (at) => LEFT + step * (at + 0.5);
    const shown = passages.filter(({rows}) => rows[last]).map(({label}) => short(label, letters).length);
    const width = LEFT + step * stages.length + LETTER * Math.max(0, ...shown) + 10;
    const rows = Math.max(...passages.flatMap((one) => one.rows), passages.length ? 1 : top), height = HEAD + ROW * rows + 8;
    const svg = made("svg", {width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": words()});
    svg.append(made("rect", {x: LEFT + step * now, y: 2, width: step, height: height - 4, rx: 4, class: "now"}));
    stages.forEach((name, at) => {
      const head = made("text", {x: x(at), y: 18, class: at === now ? "stage here" : "stage"}, name);
      if (told.stage) head.addEventListener("click", () => told.stage(at));
      svg.append(head);
    });
    for (let row = 1; row <= Math.min(rows, top); row++) svg.append(made("text", {x: 6, y: y(row) + 4, class: "rank"}, row));
    for (const passage of passages) {
      const one = made("g", {class: passage.gold ? "passage gold" : "passage"});
      passage.rows.forEach((row, at) => {
        const next = passage.rows[at + 1], late = at >= now ? "line late" : "line";
        if (row && next) one.append(made("path", {d: line(x(at), y(row), x(at + 1), y(next)), class: late}));
      });
      passage.rows.forEach((row, at) => {
        if (!row) return;
        const point = made("g", {class: at > now ? "late" : ""}), rank = passage.ranks[at] ?? "not found";
        point.append(made("title", {}, `${passage.label}: ${rank}`), mark(passage, at, x(at), y(row)));
        one.append(point);
        if (row > top) one.append(made("text", {x: x(at) + 6, y: y(row) + 13}, rank));
      });
      const row = passage.rows[last], end = {x: LEFT + step * stages.length, y: y(row) + 4, class: "name"};
      if (row) one.append(made("text", end, short(passage.label, letters)));
      svg.append(one);
    }
    const legend = element("p", {class: "legend"}, "ranks of passages");
    for (const [kind, words] of [["gold", "◆ gold"], ["chosen", "▲ chosen by the verifier"]]) {
      if (passages.some((one) => one[kind])) legend.append(element("span", {class: kind}, words));
    }
    place.replaceChildren(svg, legend);
  };
  const words = () => `Ranks at ${data.stages.join(", ")}. ` + data.passages.filter(({gold}) => gold)
    .map(({label, ranks}) => `${label}: ${ranks.map((rank) => rank ?? "not found").join(", ")}.`).join(" ");
  place.classList.add("hopscope-bump");
  new ResizeObserver(([{contentRect}]) => {
    if (contentRect.width && contentRect.width !== wide) { wide = contentRect.width; draw(); }
  }).observe(place);
  return {
    show: (next) => { data = next.stages ? next : null; if (data) draw(); else place.replaceChildren(); },
    at: (stage) => { now = Math.min(stage, (data?.stages.length ?? 1) - 1); draw(); },
  };
};

// The charts of a page that has no kernel: each draws itself from the data that it carries.
const bumpsOf = (root) => root.querySelectorAll(".hopscope-bump[data-bump]").forEach((place) => {
  const data = JSON.parse(place.dataset.bump);
  place.removeAttribute("data-bump");
  place.bump = bump(place, {stage: (at) => place.stage?.(at)});
  place.bump.show(data);
  place.bump.at(data.at);
});
