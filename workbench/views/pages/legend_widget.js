function render({ model, el }) {
  const place = document.createElement("div");
  place.className = "legend";
  place.style.color = model.get("colour");
  const shown = legend(place, (hidden) => { model.set("hidden", hidden); model.save_changes(); });
  const hide = () => shown.set(model.get("hidden"));
  shown.show(model.get("entries"));
  hide();
  model.on("change:hidden", hide);
  el.append(place);
}
export default { render };
