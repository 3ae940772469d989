// `cells(place, told)` draws a paper's table whose cells can be chosen, by mouse, or with tab, arrows and enter.
//
// show(data)  data.title, data.keys: headers of the names of rows; data.columns: [data set, measure]; data.rows: {names,
//             cells}, where a cell is null or {id, kind, printed, ours, says}. A data set stands once above its columns,
//             and a backbone in the first of its rows, as printed.
// pick(id)    marks a cell; told.picked(id) is called with one that is chosen.
const cells = (place, told = {}) => {
  place.classList.add("hopscope-grid");
  let picked = -1;
  const add = (parent, ...made) => parent.appendChild(element(...made));
  const buttons = () => [...place.querySelectorAll("button")];
  const pick = (id) => {
    picked = id;
    const all = buttons(), chosen = all.find((one) => one.cell === picked);
    for (const one of all) {
      one.setAttribute("aria-pressed", one === chosen);
      one.tabIndex = one === (chosen ?? all[0]) ? 0 : -1;
    }
  };
  const show = (data) => {
    place.replaceChildren();
    if (!data.rows) return;
    const table = add(place, "table", {"aria-label": data.title}), head = add(table, "thead");
    const first = add(head, "tr"), second = add(head, "tr"), body = add(table, "tbody");
    const begins = data.columns.map(([name], at) => name !== data.columns[at - 1]?.[0]);
    const group = (at) => begins[at] ? {class: "group"} : {};
    for (const key of data.keys) add(first, "th", {scope: "col", rowspan: 2, class: "name"}, key);
    data.columns.forEach(([name, measure], at) => {
      const next = begins.indexOf(true, at + 1), width = (next < 0 ? begins.length : next) - at;
      if (begins[at]) add(first, "th", {scope: "colgroup", colspan: width, class: "group"}, name);
      add(second, "th", {scope: "col", ...group(at)}, measure);
    });
    data.rows.forEach((row, y) => {
      const grouped = data.keys[0] === "backbone", goesOn = grouped && row.names[0] === data.rows[y - 1]?.names[0];
      const line = add(body, "tr", grouped && !goesOn ? {class: "begins"} : {});
      row.names.forEach((name, at) => add(line, "th", {scope: "row", class: "name"}, goesOn && !at ? "" : name));
      row.cells.forEach((cell, x) => {
        const place = add(line, "td", group(x));
        if (!cell) return;
        const button = add(place, "button", {type: "button", class: cell.kind, "aria-label": cell.says, title: cell.says});
        Object.assign(button, {cell: cell.id, at: [y, x]});
        add(button, "span", {class: "printed"}, cell.printed);
        add(button, "span", {class: "ours"}, cell.ours);
      });
    });
    pick(picked);
  };
  place.addEventListener("click", ({target}) => {
    const button = target.closest("button");
    if (button) { pick(button.cell); told.picked?.(button.cell); }
  });
  place.addEventListener("keydown", (event) => {
    const step = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]}[event.key];
    const from = event.target.closest("button");
    if (!step || !from) return;
    event.preventDefault();
    event.stopPropagation();
    const line = buttons().filter((one) => step[0] ? one.at[1] === from.at[1] : one.at[0] === from.at[0]);
    const to = line[line.indexOf(from) + step[0] + step[1]];
    if (!to) return;
    [from.tabIndex, to.tabIndex] = [-1, 0];
    to.focus();
  });
  return {show, pick};
};
