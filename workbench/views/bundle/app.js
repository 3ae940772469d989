"use strict";
// The page of a bundle. Texts become text nodes; no HTML is set. Nothing is fetched: data are scripts beside the page,
// or blocks in it, read on demand.
(() => {
  const ROW = 56, KEPT = 64, SCORES = 6; // pixels of a row of the list; unpacked chunks that are kept; scores that stand unfolded
  const nonce = document.currentScript.nonce;
  const $ = (id) => document.getElementById(id);
  const el = (tag, attributes = {}, ...children) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
      else if (value !== null && value !== false) made.setAttribute(name, value === true ? "" : value);
    }
    made.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
    return made;
  };
  const show = (value) => value === null || value === undefined ? "–"
    : Number.isInteger(value) ? value.toLocaleString("en") : Math.abs(value) < 1e-3 || Math.abs(value) >= 1e6
      ? value.toPrecision(3) : value.toFixed(4).replace(/0{1,2}$/, "");

  // -- data ---------------------------------------------------------------------------------------------------------

  const unpack = async (packed) => {
    const bytes = Uint8Array.from(atob(packed.trim()), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  };
  const arrived = new Map(), chunks = new Map();
  window.hopscope = (name, packed) => { arrived.get(name)?.(packed); };
  const packed = (name) => new Promise((resolve, reject) => {
    const block = $(name);
    if (block) { resolve(block.textContent); return; }
    if (document.readyState === "loading") { // one file, of which this part is still being read
      document.addEventListener("DOMContentLoaded", () => packed(name).then(resolve, reject));
      return;
    }
    arrived.set(name, resolve);
    const script = el("script", {src: `data/${name}.js`});
    script.nonce = nonce;
    script.onload = () => script.remove();
    script.onerror = () => reject(new Error(`data/${name}.js is missing: keep the folder of the bundle whole`));
    document.head.append(script);
  });
  const chunk = (name) => {
    const found = chunks.get(name) ?? packed(name).then(unpack);
    chunks.delete(name);
    chunks.set(name, found); // the last ones used stay
    found.catch(() => chunks.delete(name));
    if (chunks.size > KEPT) chunks.delete(chunks.keys().next().value);
    return found;
  };
  // The chunk in which a number lies, when each chunk begins at one of `firsts`.
  const holds = (firsts, number) => {
    let low = 0, high = firsts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (firsts[middle] <= number) low = middle; else high = middle - 1;
    }
    return low;
  };
  const details = async (at) => {
    const of = holds(all.chunks, at);
    return (await chunk(`q${of}`))[at - all.chunks[of]];
  };

  // -- state --------------------------------------------------------------------------------------------------------

  let all, found = [], at = -1, shown = [], measure = 0, drawn = 0, repeat = 0; // which time a question was asked, from 0
  const opened = new Set(["ranking", "replay", "DOTs", "steering", "routes", "messages", "stages"]); // parts that stand open
  const filters = {find: "", show: "", cause: "", kind: "", sort: ""};

  const value = (column, question) => all.cells[column][question]?.scores[measure];
  const outcome = (score) => score === null || score === undefined ? "none" : score >= 1 ? "right" : score > 0 ? "part" : "wrong";
  const MARKS = {right: "✓", wrong: "✗", none: "–"};
  const WORDS = {right: "right", wrong: "wrong", part: "in part", none: "not defined"};
  const mark = (column, question) => marking(value(column, question), all.columns[column].name);
  const marking = (score, name) => {
    const what = outcome(score);
    return el("span", {class: `mark ${what}`, title: `${name}: ${WORDS[what]}`, "aria-label": `${name}: ${WORDS[what]}`, role: "img"},
      what === "part" ? score.toFixed(2).replace(/^0/, "") : MARKS[what]);
  };

  const passes = {
    "": () => true,
    right: (q) => all.columns.every((_, c) => !all.cells[c][q] || outcome(value(c, q)) === "right"),
    wrong: (q) => all.columns.every((_, c) => !all.cells[c][q] || outcome(value(c, q)) !== "right"),
    differ: (q) => new Set(all.columns.map((_, c) => outcome(value(c, q)) === "right")).size > 1,
    answers: (q) => new Set(all.columns.map((_, c) => (all.cells[c][q]?.answer ?? "").toLowerCase())).size > 1,
    abstained: (q) => all.columns.some((_, c) => all.cells[c][q]?.abstained),
    failed: (q) => all.columns.some((_, c) => all.cells[c][q]?.failed),
    fallback: (q) => all.columns.some((_, c) => all.cells[c][q]?.fallback),
  };
  const pair = (code) => {
    const [what, first, second] = code.split(":");
    const a = Number(first), b = Number(second);
    if (!all.columns[a] || !all.columns[b]) return passes[""];
    const right = (c, q) => outcome(value(c, q)) === "right";
    return (q) => all.cells[a][q] && all.cells[b][q] && right(a, q) === ["both", "only"].includes(what) && right(b, q) === (what === "both");
  };
  const filtered = () => {
    const words = filters.find.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = filters.show.includes(":") ? pair(filters.show) : passes[filters.show] ?? passes[""];
    const kept = [];
    for (let q = 0; q < all.questions.length; q++) {
      if (!wanted(q)) continue;
      if (filters.cause && !all.cells.some((of) => of[q]?.cause === filters.cause)) continue;
      if (filters.kind && !all.questions[q].kinds.includes(filters.kind)) continue;
      if (words.length) {
        all.searched[q] ??= [all.questions[q].id, all.questions[q].text, ...all.questions[q].gold,
          ...all.columns.map((_, c) => all.cells[c][q]?.answer ?? "")].join("\n").toLowerCase();
        if (!words.every((word) => all.searched[q].includes(word))) continue;
      }
      kept.push(q);
    }
    if (filters.sort === "differ" && all.columns.length > 1) {
      const [a, b] = [shown[0] ?? 0, shown[1] ?? 1];
      const gap = (q) => (value(a, q) ?? 0) - (value(b, q) ?? 0);
      kept.sort((p, q) => gap(q) - gap(p) || p - q);
    } else if (filters.sort === "hard") {
      const mean = (q) => all.columns.reduce((sum, _, c) => sum + (value(c, q) ?? 0), 0);
      kept.sort((p, q) => mean(p) - mean(q) || p - q);
    }
    return kept;
  };

  // -- the list: only the rows in sight exist ------------------------------------------------------------------------

  const list = $("list"), sheet = $("sheet");
  const paint = () => {
    const first = Math.max(0, Math.floor(list.scrollTop / ROW) - 6);
    const last = Math.min(found.length, Math.ceil((list.scrollTop + list.clientHeight) / ROW) + 6);
    const rows = [];
    for (let place = first; place < last; place++) {
      const q = found[place], one = all.questions[q];
      const row = el("div", {class: "row", role: "option", id: `row${q}`, "aria-selected": String(q === at),
        "aria-setsize": found.length, "aria-posinset": place + 1},
        el("div", {class: "text"}, one.text || one.id),
        el("div", {class: "under"}, el("span", {}, [one.id, ...one.kinds].join(" · ")), ...all.columns.slice(0, 8).map((_, c) => mark(c, q))));
      row.style.top = `${place * ROW}px`;
      row.dataset.q = q;
      rows.push(row);
    }
    sheet.replaceChildren(...rows);
    if (found.includes(at)) list.setAttribute("aria-activedescendant", `row${at}`);
    else list.removeAttribute("aria-activedescendant");
  };
  const relist = (keep = false) => {
    found = filtered();
    sheet.style.height = `${found.length * ROW}px`;
    if (!keep) list.scrollTop = 0;
    $("count").textContent = found.length === all.questions.length ? `${found.length.toLocaleString("en")} questions`
      : `${found.length.toLocaleString("en")} of ${all.questions.length.toLocaleString("en")} questions`;
    $("clear").disabled = !(filters.find || filters.show || filters.cause || filters.kind || filters.sort);
    paint();
  };
  const reveal = () => {
    const place = found.indexOf(at), top = place * ROW;
    if (place < 0) return;
    if (top < list.scrollTop) list.scrollTop = top;
    else if (top + ROW > list.scrollTop + list.clientHeight) list.scrollTop = top + ROW - list.clientHeight;
  };
  let asked = false;
  list.addEventListener("scroll", () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => { asked = false; paint(); });
  }, {passive: true});
  new ResizeObserver(() => { if (all) paint(); }).observe(list);
  list.addEventListener("click", (event) => {
    const row = event.target.closest(".row");
    if (row) go(Number(row.dataset.q));
  });

  const options = (select, entries, chosen) => {
    select.replaceChildren(...entries.map(([key, words]) => el("option", {value: key, selected: key === chosen}, words)));
    select.value = chosen;
  };
  const controls = () => {
    const names = all.columns.map((column) => column.short), pairs = [];
    const [a, b] = [shown[0] ?? 0, shown[1] ?? (shown[0] === 0 || !shown.length ? 1 : 0)];
    if (all.columns.length > 1) {
      for (const [x, y] of [[a, b], [b, a]]) pairs.push([`only:${x}:${y}`, `right: ${names[x]}, wrong: ${names[y]}`]);
      pairs.push([`both:${a}:${b}`, `both right: ${names[a]}, ${names[b]}`], [`neither:${a}:${b}`, `neither right: ${names[a]}, ${names[b]}`]);
    }
    if (filters.show.includes(":") && !pairs.some(([key]) => key === filters.show)) {
      const [what, x, y] = filters.show.split(":");
      pairs.push([filters.show, `${{only: "right, wrong", both: "both right", neither: "neither right"}[what] ?? what}: ${names[x] ?? x}, ${names[y] ?? y}`]);
    }
    const any = (name) => all.cells.some((of) => of.some((cell) => cell?.[name]));
    options($("show"), [["", "any outcome"], ["right", "all right"], ["wrong", "all wrong"],
      ...(all.columns.length > 1 ? [["differ", "outcomes differ"], ...(all.answered ? [["answers", "answers differ"]] : [])] : []), ...pairs,
      ...(any("abstained") ? [["abstained", "abstained"]] : []), ...(any("failed") ? [["failed", "failed"]] : []), ...(any("fallback") ? [["fallback", "fell back"]] : [])], filters.show);
    options($("cause"), [["", "any cause"], ...all.causes.map((name) => [name, name])], filters.cause);
    $("cause").hidden = !all.causes.length;
    options($("kind"), [["", "any kind"], ...all.kinds.map((name) => [name, name])], filters.kind);
    $("kind").hidden = all.kinds.length < 2;
    options($("measure"), all.measures.map((name, number) => [String(number), `by ${name}`]), String(measure));
    options($("sort"), [["", "in their order"], ["hard", "hardest first"],
      ...(all.columns.length > 1 ? [["differ", `${names[a]} before ${names[b]}`]] : [])], filters.sort);
    $("find").value = filters.find;
  };

  // -- one question ---------------------------------------------------------------------------------------------------

  const page = $("page");
  const part = (data) => {
    const made = el("div", {}, data && partOf(data));
    live(made);
    return made;
  };
  const folded = (name, fill) => {
    const part = el("details", {class: "part"}, el("summary", {}, name)), body = el("div");
    part.append(body);
    const open = () => { if (!body.childNodes.length) body.append(fill()); };
    part.addEventListener("toggle", () => {
      if (part.open) { opened.add(name); open(); } else opened.delete(name);
    });
    if (opened.has(name)) { part.open = true; open(); }
    return part;
  };

  const column = (number, one) => {
    const about = all.columns[number], times = one.cells[number] ? [one.cells[number], ...one.cells[number].repeats ?? []] : [];
    const time = Math.min(repeat, Math.max(0, times.length - 1)), cell = times[time];
    const head = el("header", {}, el("h2", {}, about.name), el("span", {class: "tag"}, about.by));
    if (!cell) return el("article", {class: "column"}, head, el("div", {}, el("p", {class: "q"}, "not asked")));
    const body = el("div", {}), scored = (cell) => cell?.scores[all.measures[measure]];
    if (times.length > 1) head.append(el("div", {class: "choose", role: "group", "aria-label": `times that ${about.name} was asked`}, "repeat:",
      ...times.map((other, count) => el("button", {type: "button", "aria-pressed": String(count === time), disabled: !other, onclick: () => { repeat = count; remember(); draw(); }},
        marking(scored(other), `repeat ${count + 1}`), String(count + 1)))));
    const answer = cell.failure ? el("span", {class: "answer bad"}, "failed") : cell.answer === null ? el("span", {class: "answer none"}, "no reader")
      : cell.abstained ? el("span", {class: "answer none"}, "abstained") : el("span", {class: "answer"}, cell.answer || "(empty)");
    body.append(el("p", {class: "verdict"}, marking(scored(cell), about.name), answer));
    if (cell.short) body.append(el("p", {class: "q small"}, `made short for EM and F1: ${cell.short}`));
    if (cell.failure) body.append(el("p", {class: "why"}, cell.failure));
    if (cell.fallback) body.append(el("p", {class: "bad small"}, `fall-back: ${cell.fallback}`));
    if (cell.cause) {
      const [cause, hop, why, basis] = cell.cause;
      body.append(el("div", {class: "why"}, el("b", {}, cause + (hop ? `, step ${hop}` : "")), `: ${why} `, el("span", {class: "q"}, `rests on ${basis}`)));
    }
    if (cell.reading) body.append(el("p", {class: "q small"}, cell.reading));
    if (cell.judge) body.append(el("p", {class: "q small"}, `judged: ${cell.judge}`));
    const scores = Object.entries(cell.scores).map(([name, score]) => [all.measures.indexOf(name), el("span", {}, `${name} `, el("b", {}, show(score)))]);
    const first = scores.filter(([place]) => place >= 0 && place < SCORES).sort(([a], [b]) => a - b), others = scores.filter(([place]) => place < 0 || place >= SCORES);
    body.append(el("div", {class: "scores"}, ...first.map(([, words]) => words),
      others.length ? el("details", {}, el("summary", {}, `${others.length} more`), el("div", {}, ...others.map(([, words]) => words))) : ""));
    const parts = cell.parts.map(([name, data]) => folded(name, () => part(data)));
    return el("article", {class: "column", "aria-label": about.name}, head, body, ...parts);
  };

  const draw = async () => {
    const turn = ++drawn, question = all.questions[at];
    if (!question) { page.replaceChildren(el("p", {class: "nothing"}, "Choose a question; arrow keys move, / searches.")); return; }
    let one;
    try { one = await details(at); } catch (error) {
      if (turn === drawn) page.replaceChildren(el("p", {class: "bad"}, error.message));
      return;
    }
    if (turn !== drawn) return;
    const place = found.indexOf(at);
    const step = (words, label, by) => el("button", {type: "button", "aria-label": label, disabled: !found.length, onclick: () => move(by)}, words);
    const head = el("div", {class: "head"},
      el("button", {type: "button", class: "back", onclick: () => { document.querySelector(".questions").classList.remove("reading"); list.focus(); }}, "☰ list"),
      el("span", {}, question.id), ...question.kinds.map((kind) => el("span", {class: "tag"}, kind)),
      el("span", {class: "move"}, el("span", {}, place < 0 ? "" : `${(place + 1).toLocaleString("en")} of ${found.length.toLocaleString("en")} `),
        step("◀", "previous question", -1), step("▶", "next question", 1)));
    const gold = question.gold.length ? question.gold.flatMap((name, number) => [number ? " · " : "", el("b", {}, name)]) : [el("i", {}, "not in the corpus")];
    const choose = all.columns.length < 2 ? "" : el("div", {class: "choose", role: "group", "aria-label": "methods side by side"}, "side by side:",
      ...all.columns.map((about, c) => el("button", {type: "button", "aria-pressed": String(shown.includes(c)), title: about.name, onclick: () => {
        shown = shown.includes(c) ? shown.filter((other) => other !== c) : [...shown, c].sort((a, b) => a - b);
        if (!shown.length) shown = [c];
        controls(); remember(); draw();
      }}, mark(c, at), about.short)));
    const columns = el("div", {class: "columns"}, ...shown.map((number) => column(number, one)));
    columns.style.setProperty("--columns", shown.length);
    page.replaceChildren(head, el("h2", {class: "asked"}, question.text || question.id), el("p", {class: "answers-gold"}, "gold: ", ...gold),
      one.gold ? part(one.gold) : "", choose, columns);
    document.title = `${question.id} · ${all.title}`;
    const next = found[place + 1];
    if (next !== undefined) details(next).catch(() => {}); // the arrow that is likely to follow
  };

  const go = (q, {push = true} = {}) => {
    at = q;
    document.querySelector(".questions").classList.add("reading");
    page.scrollTop = 0;
    reveal(); paint();
    if (push) remember();
    return draw();
  };
  const move = (by) => {
    if (!found.length) return;
    const place = found.indexOf(at);
    go(found[place < 0 ? 0 : Math.min(Math.max(place + by, 0), found.length - 1)]);
  };

  // -- addresses: #results, #conditions, #q=ID&method=NAME… -----------------------------------------------------------

  const remember = () => {
    const parts = at >= 0 ? [["q", all.questions[at].id], ...shown.map((c) => ["method", all.columns[c].name])] : [["questions", ""]];
    for (const [name, words] of Object.entries(filters)) if (words) parts.push([name, words]);
    if (repeat) parts.push(["repeat", String(repeat + 1)]);
    if (measure) parts.push(["measure", all.measures[measure]]);
    const hash = `#${new URLSearchParams(parts)}`;
    if (hash !== location.hash) history.replaceState(null, "", hash);
  };
  const arrive = () => {
    const hash = location.hash.slice(1), given = new URLSearchParams(hash);
    const asks = given.has("q") || given.has("questions"), view = asks ? "questions" : hash === "conditions" ? "conditions" : "results";
    for (const name of ["results", "questions", "conditions"]) {
      $(name).hidden = name !== view;
      const link = document.querySelector(`nav a[href="#${name}"]`);
      if (name === view) link.setAttribute("aria-current", "page"); else link.removeAttribute("aria-current");
    }
    if (!asks) { document.title = all.title; return; }
    const columns = given.getAll("method").map((name) => all.columns.findIndex((about) => about.name === name)).filter((c) => c >= 0);
    if (columns.length) shown = [...new Set(columns)].sort((a, b) => a - b);
    for (const name of Object.keys(filters)) filters[name] = given.get(name) ?? "";
    repeat = Math.max(0, (parseInt(given.get("repeat"), 10) || 1) - 1);
    const wanted = all.measures.indexOf(given.get("measure") ?? "");
    measure = wanted < 0 ? 0 : wanted;
    controls();
    relist();
    const q = given.has("q") ? all.questions.findIndex((one) => one.id === given.get("q")) : -1;
    const wide = matchMedia("(min-width: 46.01rem)").matches;
    document.querySelector(".questions").classList.toggle("reading", q >= 0);
    at = q >= 0 ? q : wide ? found[0] ?? -1 : -1;
    reveal(); paint();
    draw();
    list.focus({preventScroll: true});
  };

  const typing = (target) => target.matches("input:not([type=range]), select, textarea");
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !all) return;
    if (event.key === "/" && !typing(event.target)) {
      event.preventDefault();
      if ($("questions").hidden) location.hash = "#questions";
      document.querySelector(".questions").classList.remove("reading");
      $("find").focus();
      $("find").select();
      return;
    }
    if ($("questions").hidden) return;
    if (event.target === $("find") && (event.key === "Escape" || event.key === "Enter" || event.key === "ArrowDown")) {
      if (event.key === "Escape" && filters.find) { $("find").value = filters.find = ""; relist(); remember(); }
      list.focus();
      if (event.key !== "Escape" && found.length && !found.includes(at)) go(found[0]);
      event.preventDefault();
      return;
    }
    if (typing(event.target) || event.target.matches("input[type=range]") || event.target.closest(".page")?.contains(event.target) && !["ArrowLeft", "ArrowRight"].includes(event.key)) return;
    const page = Math.max(1, Math.floor(list.clientHeight / ROW) - 1);
    const by = {ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity}[event.key];
    if (by !== undefined) { event.preventDefault(); move(by); }
  });
  let pause;
  $("find").addEventListener("input", () => {
    clearTimeout(pause);
    pause = setTimeout(() => { filters.find = $("find").value; relist(); remember(); }, 60);
  });
  for (const name of ["show", "cause", "kind", "sort"]) $(name).addEventListener("change", () => {
    filters[name] = $(name).value;
    relist(); remember();
  });
  $("measure").addEventListener("change", () => { measure = Number($("measure").value); relist(); remember(); draw(); });
  $("clear").addEventListener("click", () => {
    for (const name of Object.keys(filters)) filters[name] = "";
    controls(); relist(); reveal(); paint(); remember();
  });
  addEventListener("hashchange", arrive);

  unpack($("summary").textContent).then((summary) => {
    all = {...summary, searched: []};
    all.kinds = [...new Set(all.questions.flatMap((one) => one.kinds))];
    shown = all.columns.map((_, c) => c).slice(0, 2);
    arrive();
    document.body.dataset.ready = "";
  }).catch((error) => {
    document.body.prepend(el("p", {class: "bad", role: "alert"}, `This page cannot be read here (${error.message}); it needs a browser of 2023 or later.`));
  });
})();
