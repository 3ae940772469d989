// `tablesOf(root)` lets the tables of a part of a page be sorted by a click on a header, or Enter, and those of many
// rows be filtered by words. Rows come as they were written; a third click brings that order back.
const MANY_ROWS = 12;
const tablesOf = (root) => root.querySelectorAll("table").forEach((table) => {
  const heads = [...table.querySelectorAll("thead th")], body = table.tBodies[0];
  if (table.classList.contains("sorts") || !body || body.rows.length < 3 || !heads.some((head) => head.textContent)) return;
  if (heads.some((head) => head.colSpan > 1 || head.rowSpan > 1)) return;
  table.classList.add("sorts");
  const written = [...body.rows];
  // Numbers as they are written, with signs of direction; what is none comes last.
  const value = (row, at) => {
    const words = row.cells[at]?.textContent.trim() ?? "";
    const plain = words.replace(/[\s,%$×]/g, "").replace("−", "-").replace("▲", "").replace("▼", "-");
    return plain && Number.isFinite(Number(plain)) ? Number(plain) : words && words !== "–" ? words : null;
  };
  const compare = (a, b) => typeof a === "number" && typeof b === "number" ? a - b
    : String(a).localeCompare(String(b), undefined, {numeric: true});
  const sort = (at) => {
    const before = heads[at].getAttribute("aria-sort"), first = heads[at].classList.contains("n") ? "descending" : "ascending";
    const next = !before ? first : before === first ? (first === "ascending" ? "descending" : "ascending") : null;
    heads.forEach((head) => head.removeAttribute("aria-sort"));
    if (next) heads[at].setAttribute("aria-sort", next);
    const keyed = written.map((row) => [value(row, at), row]), sign = next === "ascending" ? 1 : -1;
    if (next) keyed.sort(([a], [b]) => a === null || b === null ? (a === null) - (b === null) : sign * compare(a, b));
    body.append(...keyed.map(([, row]) => row));
  };
  heads.forEach((head, at) => {
    if (!head.textContent) return;
    head.tabIndex = 0;
    head.title = "sort";
    head.addEventListener("click", () => sort(at));
    head.addEventListener("keydown", ({key}) => { if (key === "Enter") sort(at); });
  });
  if (written.length <= MANY_ROWS) return;
  const find = element("input", {type: "search", placeholder: `filter ${written.length} rows`, "aria-label": "filter rows"});
  const count = element("span", {class: "q", role: "status"}), bar = element("div", {class: "filter"});
  find.addEventListener("input", () => {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of written) row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word));
    const left = written.filter((row) => !row.hidden).length;
    count.textContent = left < written.length ? ` ${left} of ${written.length}` : "";
  });
  bar.append(find, count);
  table.before(bar);
});
