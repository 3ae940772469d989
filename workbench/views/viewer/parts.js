// `partOf(data)` makes the elements of a part of a page from plain data: a string, or [kind, look, facts, ...inside], as
// docs/formats.md has it. Strings become text, never HTML. `views/render.py` writes the same where no script runs.
const TAGS = {
  line: "p", code: "pre", points: "ul", point: "li", group: "div", strong: "b", italic: "i", span: "span", row: "tr",
  cell: "td", link: "a", fold: "details", picture: "figure",
};
const partOf = (data) => {
  if (typeof data === "string") return document.createTextNode(data);
  const [kind, look, facts, ...inside] = data;
  if (kind === "table") return tableOf(facts, inside);
  if (kind === "interval") return intervalOf(facts);
  if (kind === "image") return imageOf(facts, look);
  const tag = kind === "heading" ? `h${facts.level}` : TAGS[kind];
  const made = tag ? element(tag) : document.createDocumentFragment();
  if (look || facts.numeric) made.className = look || "n";
  if (kind === "link") made.setAttribute("href", `#${facts.to}`);
  if (kind === "picture") {
    made.className = `hopscope-${facts.of}`;
    made.dataset[facts.of] = JSON.stringify(facts.data);
  }
  const parts = inside.map(partOf);
  if (kind !== "fold") return made.append(...parts), made;
  const summary = element("summary");
  summary.append(parts[0]);
  made.append(summary, ...parts.slice(1));
  made.open = Boolean(facts.open);
  return made;
};
const imageOf = ({svg, width, says}, look) =>
  element("img", {class: look, width, alt: says, src: `data:image/svg+xml;base64,${svg}`});
const tableOf = ({head}, rows) => {
  const table = element("table"), line = element("tr"), top = element("thead"), body = element("tbody");
  line.append(...head.map(({name, numeric}) => element("th", numeric ? {class: "n"} : {}, name)));
  top.append(line);
  body.append(...rows.map(partOf));
  table.append(top, body);
  return table;
};
const intervalOf = ({says, colour, at: [left, middle, right, zero], printed}) => {
  const draw = (tag, attributes, words = "") => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.textContent = words;
    return made;
  };
  const picture = draw("svg", {class: "interval", width: 140, height: 16, role: "img"});
  picture.append(
    draw("title", {}, says),
    draw("path", {d: `M6 8 H134 M${zero} 2 V14`, stroke: "currentColor", opacity: ".35"}),
    draw("path", {d: `M${left} 8 H${right}`, stroke: colour, "stroke-width": 3}),
    draw("circle", {cx: middle, cy: 8, r: 4, fill: colour}),
  );
  const diamond = {d: `M${printed} 1 l6 7 -6 7 -6 -7z`, fill: "none", stroke: "#D55E00", "stroke-width": 2};
  if (printed !== null) picture.append(draw("path", diamond));
  return picture;
};
// A part in the page of a notebook, which is drawn anew with other data.
const part = (place) => {
  place.className = "hopscope mathjax_ignore";
  return {show: (data) => { place.replaceChildren(...(data.part ? [partOf(data.part)] : [])); live(place); }};
};
