"""A bundle opened from the disk, as whoever it is sent to opens it: no server, no network, no kernel."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from test_views import HOSTILE
from tiny import PASSAGES, QUESTIONS, TinyEncoder

import workbench as wb
from workbench.data import Dataset, Extraction
from workbench.llm.call import Reply
from workbench.llm.chat import ChatEngine
from workbench.records import Passage, Question

pytestmark = pytest.mark.browser

ATTACKS = (
    "<script>window.pwned = 1</script>",
    "<img src=x onerror='window.pwned = 1'>",
    "</style></details><iframe srcdoc='<script>top.pwned = 1</script>'></iframe>",
    "</script><script>window.pwned = 1</script>",
    *(text.replace("\ud800", "?") for text in HOSTILE),
)


def evaluated(folder: Path, passages, questions, name: str) -> tuple[wb.Run, wb.Index]:
    """A run of two methods, with traces, read by rules with compression."""
    extractions = tuple(Extraction(one.id, (), ((one.title, "is", one.text),), "by hand") for one in passages)
    data = Dataset(name, tuple(passages), tuple(questions), extractions)
    index = wb.Index.build(data, None, folder / "index", encoder=TinyEncoder(), progress=False)
    methods = [wb.method(spec, index) for spec in ("dense", "bdtr[backbone=dense]")]
    reader = wb.reader("direct[compress=similarity]", index=index)
    return wb.evaluate(questions, methods, reader, folder / name, progress=False), index


@pytest.fixture(scope="module")
def tiny_run(tmp_path_factory):
    many = [
        Question(f"n{at}", f"Where is number {at}?", (str(at),), "bridge" if at % 2 else "other", 2, ("p1",))
        for at in range(60)
    ]
    return evaluated(tmp_path_factory.mktemp("tiny"), PASSAGES, [*QUESTIONS, *many], "tiny")


@pytest.fixture(scope="module")
def folder(tiny_run, tmp_path_factory):
    run, index = tiny_run
    return wb.bundle(run, out=tmp_path_factory.mktemp("b") / "bundle", index=index, progress=False)


def open_page(page: Page, path: Path, place: str = "") -> list[str]:
    """Open a bundle; the addresses that it asks for are in the list, now and later."""
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((path if path.is_file() else path / "index.html").as_uri() + place)
    page.wait_for_selector("body[data-ready]")
    return asked


def test_each_time_that_a_question_was_asked_can_be_chosen(page, tmp_path, tiny_run):
    run, index = tiny_run
    engine = ChatEngine("openai:scripted", lambda request: Reply(f"Answer: told {request.seed}"), concurrency=1)
    dense = wb.method("dense", index, engine)
    run = wb.evaluate(
        run.questions[:2], [dense], wb.reader("direct", engine), tmp_path / "run", repeats=3, progress=False
    )
    told = wb.bundle(run, out=tmp_path / "bundle", index=index, progress=False)
    open_page(page, told, f"#q={run.questions[0].id}")
    answer, times = page.locator(".column .answer"), page.locator(".column .choose button")
    expect(times).to_have_count(3)
    expect(answer).to_have_text("told 0")
    times.nth(2).click()
    expect(answer).to_have_text("told 2")
    assert "repeat=3" in page.url and times.nth(2).get_attribute("aria-pressed") == "true"
    page.keyboard.press("Escape")
    page.get_by_role("button", name="next question").click()
    expect(answer).to_have_text("told 2")  # the same time
    open_page(page, told, f"#q={run.questions[0].id}&repeat=2")
    page.reload()
    expect(answer).to_have_text("told 1")


def test_only_its_own_files_are_read(page, folder):
    asked = open_page(page, folder)
    assert [Path(url.partition("#")[0]).name for url in asked] == ["index.html"]  # results need no more
    page.get_by_role("link", name="Questions").click()
    expect(page.locator(".column")).to_have_count(2)
    page.locator(".part > summary", has_text="context").first.click()
    expect(page.locator(".part pre").first).to_be_visible()
    assert all(url.startswith(folder.as_uri() + "/") for url in asked)
    assert {Path(url.partition("#")[0]).name for url in asked} == {"index.html", "q0.js"}


def test_the_network_is_closed_even_to_its_own_scripts(page, guard, folder):
    open_page(page, folder)
    tried = page.evaluate("""async () => {
      const loads = (tag, set) => new Promise((done) => {
        const made = Object.assign(document.createElement(tag), set);
        made.onload = () => done("loaded"); made.onerror = () => done("refused");
        document.body.append(made);
      });
      return [
        await fetch("http://127.0.0.1:9/").then(() => "loaded", () => "refused"),
        await loads("img", {src: "http://127.0.0.1:9/x.png"}),
        await loads("img", {src: "data:image/gif;base64,R0lGODlhAQABAAAAACw="}),
        await loads("script", {src: "data/q0.js"}),
      ];
    }""")
    assert tried == ["refused"] * 4
    refused, guard.problems[:] = list(guard.problems), []
    assert len(refused) >= 4 and all("Content Security Policy" in one for one in refused)


def test_arrows_search_filters_and_addresses(page, folder):
    open_page(page, folder, "#q=q2&method=dense")
    asked, columns = page.locator(".asked"), page.locator(".column h2")
    expect(asked).to_have_text("Where was the founder of Orsby born?")
    expect(columns).to_have_text(["dense"])
    page.keyboard.press("ArrowDown")
    expect(asked).to_have_text("Who painted the fog?")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Home")
    expect(asked).to_have_text("Which lake does the river at Orsby flow into?")
    assert "q=q1" in page.url and "method=dense" in page.url
    page.get_by_role("button", name="bdtr").click()
    expect(columns).to_have_text(["dense", "bdtr[backbone=dense]"])
    page.keyboard.press("/")
    page.keyboard.type("number 41")
    expect(page.locator("#count")).to_have_text("1 of 63 questions")
    page.keyboard.press("Enter")
    expect(asked).to_have_text("Where is number 41?")
    found = page.url
    page.locator("#clear").click()
    page.locator("#kind").select_option("other")
    expect(page.locator("#count")).to_have_text("30 of 63 questions")
    page.goto("about:blank")
    page.goto(found)  # an address that was sent along
    expect(asked).to_have_text("Where is number 41?")
    expect(page.locator("#count")).to_have_text("1 of 63 questions")


def test_only_the_rows_in_sight_exist_and_the_last_can_be_reached(page, folder):
    open_page(page, folder, "#questions")
    assert page.locator(".row").count() < 40
    page.locator("#list").press("End")
    expect(page.locator(".row[aria-selected=true]")).to_contain_text("Where is number 59?")
    expect(page.locator(".row[aria-selected=true]")).to_be_in_viewport()
    assert page.locator("#list").get_attribute("aria-activedescendant") == "row62"
    assert page.locator(".row").count() < 40


def test_a_number_of_the_results_leads_to_its_questions(page, folder, tiny_run):
    run, _ = tiny_run
    open_page(page, folder)
    link = page.locator("a[href*='neither']").first
    count = int(link.inner_text())
    scores = [run.scores("accuracy", method) for method in run.methods]
    assert count == sum(all(one[question.id] < 1 for one in scores) for question in run.questions)
    link.click()
    expect(page.locator("#count")).to_have_text(re.compile(rf"^{count} (of 63 )?questions$"))


def test_a_replay_is_stepped_through_and_passages_unfold(page, folder):
    open_page(page, folder, "#q=q1&method=bdtr[backbone%3Ddense]")
    replay = page.locator(".part", has=page.locator(".steps"))
    output = replay.locator("output")
    expect(output).to_contain_text("end")
    replay.get_by_role("button", name="step back").click()
    expect(output).not_to_contain_text("end")
    expect(replay.locator(".steps > details:visible")).to_have_count(1)
    ranked = page.locator(".part", has_text="ranking").locator("td details").first
    ranked.locator("summary").click()
    expect(ranked.locator("p")).to_contain_text("flows into Lake Mira")


def test_a_method_without_a_view_of_its_own_is_stepped_through(page, tiny_run, tmp_path):
    run, index = tiny_run
    asked, reader = run.questions[:1], wb.reader("direct", index=index)
    run = wb.evaluate(asked, [wb.method("bm25", index)], reader, tmp_path / "run", progress=False)
    open_page(page, wb.bundle(run, out=tmp_path / "bundle", index=index, progress=False), f"#q={asked[0].id}")
    stages = page.locator(".part", has=page.locator(".steps"))
    expect(stages.locator("output")).to_contain_text("direct")
    shown = stages.locator(".steps > details:visible")
    expect(shown).to_have_count(1)
    expect(shown).to_contain_text("out: answer")
    stages.get_by_role("button", name="step back").click()
    expect(stages.locator("output")).to_contain_text("match words")
    expect(shown).to_contain_text("out: words")


def test_one_file_does_the_same(page, tiny_run, tmp_path):
    run, index = tiny_run
    made = wb.bundle(run, out=tmp_path / "one.html", index=index, progress=False)
    asked = open_page(page, made, "#q=q1&method=dense")
    expect(page.locator(".asked")).to_have_text("Which lake does the river at Orsby flow into?")
    page.locator(".part > summary", has_text="context").click()
    expect(page.locator(".part pre").first).to_be_visible()
    assert {url.partition("#")[0] for url in asked} == {made.as_uri()}


@pytest.mark.parametrize("form", ["bundle", "bundle.html"])
def test_hostile_text_is_text(page, tmp_path, form):
    """In questions, answers, passages, ids and the title; the guard also fails on dialogs, errors and requests."""
    passages = [Passage(f"{at} {text}", text, text) for at, text in enumerate(ATTACKS)]
    questions = [
        Question(f"{at} {text}", text, (text,), text, 2, (passages[at].id,), ({"question": text, "answer": text},))
        for at, text in enumerate(ATTACKS)
    ]
    run, index = evaluated(tmp_path, passages, questions, "hostile")
    made = wb.bundle(run, out=tmp_path / form, index=index, title="".join(ATTACKS), progress=False)
    open_page(page, made, "#questions")
    page.keyboard.press("Home")
    for text in ATTACKS:
        expect(page.locator(".column")).to_have_count(2)
        page.locator("#page details").evaluate_all("all => all.forEach(one => { one.open = true })")
        first = re.split(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]", text.strip())[0].split("\n")[0]
        expect(page.locator(".asked")).to_contain_text(first)
        page.keyboard.press("ArrowRight")
    for place in ("#results", "#conditions"):
        page.locator(f"nav a[href='{place}']").click()
    assert page.evaluate("window.pwned === undefined")
    assert page.locator("iframe, object, embed, link, base, form").count() == 0
    assert page.locator("img:not([src^='data:image/svg+xml;base64,'])").count() == 0
    attributes = page.locator("body *").evaluate_all("all => [...new Set(all.flatMap(one => one.getAttributeNames()))]")
    assert "class" in attributes and not [name for name in attributes if name.startswith("on")]


@pytest.mark.parametrize(("scheme", "width"), [("light", 1400), ("dark", 1400), ("light", 400)])
def test_it_fits_screens_and_themes(page, folder, scheme, width):
    """Nothing is wider than its window, and ink stands out from paper (the ratio of WCAG for text)."""
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    open_page(page, folder, "#q=q1&method=dense&method=bdtr[backbone%3Ddense]")
    expect(page.locator(".column")).to_have_count(2)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.locator("#page").evaluate("one => one.scrollWidth <= one.clientWidth + 1")
    ratio = page.evaluate("""() => {
      const linear = (n) => n / 255 <= 0.03928 ? n / 255 / 12.92 : ((n / 255 + 0.055) / 1.055) ** 2.4;
      const light = (words) => {
        const [r, g, b] = words.match(/\\d+/g).map(linear);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
      };
      const paper = light(getComputedStyle(document.documentElement).backgroundColor);
      return ["html", ".asked", ".q", ".mark.wrong", "nav a:not([aria-current])"]
        .map((place) => document.querySelector(place)).filter(Boolean).map((one) => light(getComputedStyle(one).color))
        .map((ink) => (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05));
    }""")
    assert min(ratio) >= 4.5
