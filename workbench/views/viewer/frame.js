function render({ model, el }) {
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-scripts");
  frame.style.cssText = "width:100%;border:1px solid #8884;display:block;box-sizing:border-box";
  frame.style.height = model.get("height") + "px";
  const send = (message) => frame.contentWindow?.postMessage(message, "*");
  const show = () => { if (model.get("drawn").nodes) send(model.get("drawn")); };
  // Only once and in the document: a load that interrupts another one can leave the frame blank.
  const load = () => { if (model.get("page")) frame.srcdoc = model.get("page"); };
  const hide = () => send({hide: model.get("hidden")});
  const select = () => send({select: model.get("selected")});
  const heard = (event) => {
    const told = event.source === frame.contentWindow && event.data || {};
    if (Number.isInteger(told.picked)) model.set("picked", told.picked);
    else if (Array.isArray(told.hidden)) model.set("hidden", told.hidden.map(String));
    else return;
    model.save_changes();
  };
  window.addEventListener("message", heard);
  frame.addEventListener("load", () => { hide(); show(); select(); });
  model.on("change:hidden", hide);
  model.on("change:selected", select);
  model.on("change:drawn", () => { show(); select(); });
  model.on("change:page", load);
  load();
  el.append(frame);
  return () => window.removeEventListener("message", heard);
}
export default { render };
