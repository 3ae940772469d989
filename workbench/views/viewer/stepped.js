const live = (root) => {
  root.querySelectorAll(".steps").forEach(stepped);
  graphsOf(root);
};
const stepped = (box) => {
  const parts = [...box.children].filter((part) => part.localName === "details");
  if (parts.length < 2 || box.classList.contains("live")) return;
  const made = (tag, attributes, words = "") => {
    const one = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) one.setAttribute(name, value);
    one.textContent = words;
    return one;
  };
  const back = made("button", {type: "button", "aria-label": "step back"}, "◀");
  const next = made("button", {type: "button", "aria-label": "step on"}, "▶");
  const slider = made("input", {type: "range", min: 0, max: parts.length - 1, "aria-label": "step"});
  const output = made("output", {"aria-live": "polite"});
  let now = 0;
  const set = (step) => {
    now = Math.min(Math.max(step, 0), parts.length - 1);
    parts.forEach((part, number) => { part.open = number === now; part.hidden = number !== now; });
    slider.value = now;
    output.textContent = `${parts[now].firstElementChild.textContent} (${now + 1} of ${parts.length})`;
    back.disabled = now === 0;
    next.disabled = now === parts.length - 1;
  };
  back.addEventListener("click", () => set(now - 1));
  next.addEventListener("click", () => set(now + 1));
  slider.addEventListener("input", () => set(Number(slider.value)));
  const bar = made("nav", {"aria-label": "steps"});
  bar.append(back, next, slider, output);
  box.prepend(bar);
  box.classList.add("live");
  set(parts.length - 1);
};
