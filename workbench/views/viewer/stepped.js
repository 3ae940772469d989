// `live(root)` draws the graphs and the charts of a part of a page, gives a slider to its folded steps, and lets its
// tables be sorted.
const live = (root) => {
  if (typeof graphsOf === "function") graphsOf(root);
  bumpsOf(root);
  tablesOf(root);
  root.querySelectorAll(".steps").forEach(stepped);
};
const stepped = (box) => {
  const parts = [...box.children].filter((part) => part.localName === "details");
  if (parts.length < 2 || box.classList.contains("live")) return;
  const charts = [...box.children].filter((part) => part.bump);
  const back = element("button", {type: "button", "aria-label": "step back"}, "◀");
  const next = element("button", {type: "button", "aria-label": "step on"}, "▶");
  const slider = element("input", {type: "range", min: 0, max: parts.length - 1, "aria-label": "step"});
  const output = element("output", {"aria-live": "polite"});
  let now = 0;
  const set = (step) => {
    now = Math.min(Math.max(step, 0), parts.length - 1);
    parts.forEach((part, number) => { part.open = number === now; part.hidden = number !== now; });
    slider.value = now;
    output.textContent = `${parts[now].firstElementChild.textContent} (${now + 1} of ${parts.length})`;
    back.disabled = now === 0;
    next.disabled = now === parts.length - 1;
    charts.forEach((chart) => chart.bump.at(now));
  };
  back.addEventListener("click", () => set(now - 1));
  next.addEventListener("click", () => set(now + 1));
  slider.addEventListener("input", () => set(Number(slider.value)));
  const bar = element("nav", {"aria-label": "steps"});
  bar.append(back, next, slider, output);
  box.prepend(bar);
  charts.forEach((chart) => { chart.stage = set; });
  box.classList.add("live");
  set(parts.length - 1);
};
