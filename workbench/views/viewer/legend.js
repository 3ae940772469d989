const element = (tag, attributes = {}, words = "") => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.textContent = words;
  return made;
};

// The legend: an entry says what a mark means, and a click on it, or Enter, hides or shows what has it.
const legend = (place, changed) => {
  const hidden = new Set();
  let buttons = [];
  const press = () => buttons.forEach(([button, name]) => button.setAttribute("aria-pressed", !hidden.has(name)));
  const set = (names) => { hidden.clear(); names.forEach((name) => hidden.add(name)); press(); };
  const entry = ({name, colour, mark, of}) => {
    const made = element(of ? "button" : "span"), sign = element("span", {}, mark);
    sign.style.color = colour;
    made.append(sign, name);
    if (of) {
      made.type = "button";
      made.title = `hide or show: ${name}`;
      made.onclick = () => {
        if (!hidden.delete(name)) hidden.add(name);
        press();
        changed([...hidden]);
      };
      buttons.push([made, name]);
    }
    return made;
  };
  const show = (entries) => { buttons = []; place.replaceChildren(...entries.map(entry)); press(); };
  return {show, set, has: (name) => hidden.has(name)};
};
