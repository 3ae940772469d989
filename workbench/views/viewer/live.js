// A widget that shows one of the viewer's drawings from plain data, at a stage of it.
const KINDS = {ranks: bump, cells, part};
function render({ model, el }) {
  const place = el.appendChild(element("div")), choose = (name) => (value) => { model.set(name, value); model.save_changes(); };
  const view = KINDS[model.get("kind")](place, {stage: choose("at"), picked: choose("picked")});
  for (const [name, act] of [["data", view.show], ["at", view.at], ["picked", view.pick]]) {
    if (!act) continue;
    model.on(`change:${name}`, () => act(model.get(name)));
    act(model.get(name));
  }
}
export default { render };
