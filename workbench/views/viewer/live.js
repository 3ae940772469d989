// A widget that shows one of the viewer's drawings from plain data, at a stage of it. The kind "page" draws nothing: it
// makes the tables, charts and steps live that the texts of the widget around it have.
const around = (place) => {
  const begin = () => {
    const root = place.closest(".hopscope-widget");
    if (!root) return;
    live(root);
    new MutationObserver(() => live(root)).observe(root, {childList: true, subtree: true});
  };
  requestAnimationFrame(begin);
  return {};
};
const KINDS = {ranks: bump, cells, page: around};
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
