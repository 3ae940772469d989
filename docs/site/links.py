"""What is wrong with the links and the assets of a built site: it has to work from a disk, without a network."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"link": "href", "script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src",
          "audio": "src", "object": "data", "embed": "src"}  # fmt: skip
UNLOADED = {"canonical", "next", "prev", "index", "search", "author", "top"}  # relations that fetch nothing


class _Page(HTMLParser):
    """The ids of a page, what it links to, and what it loads."""

    def __init__(self, file: Path):
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.ids |= {given[name] for name in ("id", "name") if given.get(name)}
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        source = given.get(LOADED.get(tag, ""), "")
        if source and not (tag == "link" and set(given.get("rel", "").split()) & UNLOADED):
            self.loads.append(source)


def faults(site: Path) -> list[str]:
    """`page: what is wrong`, for every link within the site that leads nowhere, and every asset from elsewhere."""
    read = cache(_Page)
    return [
        f"{file.relative_to(site)}: {fault}"
        for file in sorted(site.rglob("*.html"))
        for fault in _faults_of(file, site, read)
    ]


def _faults_of(file: Path, site: Path, read) -> Iterator[str]:
    page = read(file)
    for source in page.loads:
        if urlsplit(source).scheme not in ("", "data") or source.startswith("//"):
            yield f"loads {source} from elsewhere"
        elif not source.startswith("data:") and not _target(file, source).exists():
            yield f"loads {source}, which is not there"
    for link in dict.fromkeys(page.links):
        parts = urlsplit(link)
        if parts.scheme or link.startswith("//"):
            continue
        target = _target(file, link) if parts.path else file
        if not target.is_relative_to(site.resolve()) and parts.path:
            yield f"links to {link}, outside the site"
        elif not target.is_file():
            yield f"links to {link}, which is not there"
        elif parts.fragment and target.suffix == ".html" and unquote(parts.fragment) not in read(target).ids | {"top"}:
            yield f"links to {link}, where there is no such place"


def _target(file: Path, link: str) -> Path:
    return (file.parent / unquote(urlsplit(link).path)).resolve()
