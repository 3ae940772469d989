"""The legend of a picture: each entry says what a mark means, and a click on it, or Enter, hides or shows what has it.

It stands in the page of the picture, so that it needs no kernel. What is hidden stays hidden in the next picture."""

from __future__ import annotations

from typing import Any

HEIGHT = 46  # pixels that a page gets for its legend; more entries take room from the picture
LEGEND_CSS = (
    ".legend{display:flex;flex-wrap:wrap;gap:0 2px;font:12px system-ui,sans-serif;padding:2px 4px;max-height:88px;"
    "overflow:auto} .legend :is(button,span){border:1px solid transparent;border-radius:3px;background:none;"
    "color:inherit;font:inherit;padding:1px 5px;white-space:nowrap;max-width:100%;overflow:hidden;"
    "text-overflow:ellipsis} .legend button{cursor:pointer} .legend button:hover,.legend button:focus-visible"
    "{border-color:currentColor} .legend button[aria-pressed=false]{opacity:.5;text-decoration:line-through}"
)
# `legend(place, changed)`: `show(entries)` for a picture, `set(names)` from outside, `has(name)`; a click calls
# `changed(names)` after it has changed what is hidden.
LEGEND_SCRIPT = """
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
"""


def entry(name: str, colour: str, mark: str, of: str = "node") -> dict[str, Any]:
    """An entry; `of` is what it hides, "node" or "edge", or "" for one that only explains."""
    return {"name": name, "colour": colour, "mark": mark, "of": of}
