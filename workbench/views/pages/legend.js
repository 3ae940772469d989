const legend = (place, changed) => {
  const hidden = new Set();
  let buttons = [];
  const press = () => buttons.forEach(([button, name]) => button.setAttribute("aria-pressed", !hidden.has(name)));
  const set = (names) => { hidden.clear(); names.forEach((name) => hidden.add(name)); press(); };
  const entry = ({name, colour, mark, of}) => {
    const made = document.createElement(of ? "button" : "span"), sign = document.createElement("span");
    sign.style.cssText = `color:${colour};padding:0 4px 0 0`;
    sign.textContent = mark;
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
