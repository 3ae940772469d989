function render({ model, el }) {
  const box = document.createElement("div");
  box.className = "hopscope-grid";
  el.append(box);
  const made = (tag, text, parent, attributes = {}) => {
    const element = document.createElement(tag);
    if (text !== null) element.textContent = text;
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    parent.append(element);
    return element;
  };
  const buttons = () => [...box.querySelectorAll("button")];
  const mark = () => {
    const all = buttons(), picked = model.get("picked");
    const chosen = all.find(one => one.cell === picked);
    for (const one of all) {
      one.setAttribute("aria-pressed", one === chosen);
      one.tabIndex = one === (chosen ?? all[0]) ? 0 : -1;
    }
  };
  const draw = () => {
    const shown = model.get("shown");
    box.replaceChildren();
    if (!shown.rows) return;
    const table = made("table", null, box, {"aria-label": shown.title});
    const head = made("thead", null, table);
    const first = made("tr", null, head), second = made("tr", null, head);
    for (const key of shown.keys) made("th", key, first, {scope: "col", rowspan: 2, class: "name"});
    for (const group of shown.groups)
      made("th", group.name, first, {scope: "colgroup", colspan: group.width, class: "group"});
    for (const [at, name] of shown.measures.entries())
      made("th", name, second, {scope: "col", class: shown.starts.includes(at) ? "group" : ""});
    const body = made("tbody", null, table);
    for (const [y, row] of shown.rows.entries()) {
      const tr = made("tr", null, body, row.begins ? {class: "begins"} : {});
      for (const name of row.names) made("th", name, tr, {scope: "row", class: "name"});
      for (const [x, cell] of row.cells.entries()) {
        const td = made("td", null, tr, shown.starts.includes(x) ? {class: "group"} : {});
        if (!cell) continue;
        const button = made("button", null, td, {type: "button", class: cell.kind, "aria-label": cell.says,
                                                 title: cell.says});
        button.cell = cell.id;
        button.at = [y, x];
        made("span", cell.printed, button, {class: "printed"});
        made("span", cell.ours, button, {class: "ours"});
      }
    }
    mark();
  };
  box.addEventListener("click", event => {
    const button = event.target.closest("button");
    if (button) { model.set("picked", button.cell); model.save_changes(); mark(); }
  });
  box.addEventListener("keydown", event => {
    const step = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]}[event.key];
    const from = event.target.closest("button");
    if (!step || !from) return;
    event.preventDefault();
    event.stopPropagation();
    const line = buttons().filter(one => step[0] ? one.at[1] === from.at[1] : one.at[0] === from.at[0]);
    const to = line[line.indexOf(from) + step[0] + step[1]];
    if (!to) return;
    from.tabIndex = -1;
    to.tabIndex = 0;
    to.focus();
  });
  model.on("change:shown", draw);
  model.on("change:picked", mark);
  draw();
}
export default { render };
