// A picture that fills the page of a frame, and speaks with the widget around it.
const view = graph(document.body, {
  picked: (id) => parent.postMessage({picked: id}, "*"),
  hidden: (names) => parent.postMessage({hidden: names}, "*"),
});
addEventListener("message", ({source, data}) => {
  if (source !== parent || !data) return;
  if (Array.isArray(data.hide)) view.hide(data.hide);
  if (Number.isInteger(data.select)) view.select(data.select);
  if (data.nodes) view.show(data);
});
