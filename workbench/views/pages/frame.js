function render({ model, el }) {
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-scripts");
  frame.style.cssText = "width:100%;border:1px solid #8884;display:block;box-sizing:border-box";
  frame.style.height = model.get("height") + "px";
  const show = () => { if (model.get("drawn").nodes) frame.contentWindow.postMessage(model.get("drawn"), "*"); };
  // Only once and in the document: a load that interrupts another one can leave the frame blank.
  const load = () => { if (model.get("page")) frame.srcdoc = model.get("page"); };
  const hide = () => frame.contentWindow.postMessage({hide: model.get("hidden")}, "*");
  const heard = (event) => {
    const said = event.source === frame.contentWindow && event.data || {};
    if (Number.isInteger(said.picked)) model.set("picked", said.picked);
    else if (Array.isArray(said.hidden)) model.set("hidden", said.hidden.map(String));
    else return;
    model.save_changes();
  };
  window.addEventListener("message", heard);
  frame.addEventListener("load", () => { hide(); show(); });
  model.on("change:hidden", hide);
  model.on("change:drawn", show);
  model.on("change:page", load);
  load();
  el.append(frame);
  return () => window.removeEventListener("message", heard);
}
export default { render };
