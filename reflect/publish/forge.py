"""Pull requests over the REST APIs of GitHub and GitLab: found, opened, updated. Nothing is followed elsewhere."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol
from urllib.parse import quote, urlsplit

import httpx

from reflect.errors import PublishError

SECONDS = 30.0
LONGEST_WAIT_S = 60.0
"""A forge that asks for more patience than this is left for the next night."""

PER_PAGE = 100
MOST_PAGES = 20

Kind = Literal["github", "gitlab"]


@dataclass(frozen=True)
class PullRequest:
    """One request as the forge tells it."""

    number: int
    url: str
    body: str
    state: Literal["open", "closed", "merged"]


@dataclass(frozen=True)
class Text:
    """What a pull request says."""

    title: str
    body: str
    labels: tuple[str, ...] = ()
    draft: bool = False


@dataclass(frozen=True)
class Place:
    """Where a repository lies on which forge: `path` is `owner/name`, with groups in between on GitLab."""

    kind: Kind
    api: str
    path: str


class Forge(Protocol):
    """What a write-back asks of a forge."""

    def requests(self, head: str) -> tuple[PullRequest, ...]: ...

    def open(self, head: str, base: str, text: Text) -> PullRequest: ...

    def update(self, request: PullRequest, text: Text) -> PullRequest: ...


def place_of(address: str, kind: Kind | None = None, api: str | None = None) -> Place:
    """The forge behind a remote's address. Raises PublishError where nothing says which one it is."""
    host, path = _host_and_path(address)
    found = kind or ("github" if host == "github.com" else "gitlab" if host.startswith("gitlab.") else None)
    if found is None or (api is None and not host) or "/" not in path:
        raise PublishError(
            f"The remote at {host or 'a local path'} is no forge that is known; no pull request was opened; name "
            "`forge` and `api_url` in the policy."
        )
    if api is None and found == "github":
        api = "https://api.github.com" if host == "github.com" else f"https://{host}/api/v3"
    return Place(found, (api or f"https://{host}/api/v4").rstrip("/"), path)


def forge_at(place: Place, token: str | None) -> Forge:
    """The forge at `place`. Raises PublishError without a token."""
    if not token:
        raise PublishError(
            f"No token for {place.kind} is set; no pull request was opened; set REFLECT_FORGE_TOKEN or "
            f"{'GITHUB_TOKEN' if place.kind == 'github' else 'GITLAB_TOKEN'}."
        )
    return GitHub(place, Api(place, token)) if place.kind == "github" else GitLab(place, Api(place, token))


@dataclass(frozen=True)
class GitHub:
    place: Place
    api: Api

    def requests(self, head: str) -> tuple[PullRequest, ...]:
        """Every request from branch `head`, newest first."""
        owner = self.place.path.split("/")[0]
        rows = self.api.pages(f"{self._base}/pulls", {"head": f"{owner}:{head}", "state": "all"})
        return _newest_first(self._read(row) for row in rows)

    def open(self, head: str, base: str, text: Text) -> PullRequest:
        sent = {"title": text.title, "body": text.body, "head": head, "base": base, "draft": text.draft}
        made = self._read(self.api.call("POST", f"{self._base}/pulls", sent))
        self._label(made, text)
        return made

    def update(self, request: PullRequest, text: Text) -> PullRequest:
        sent = {"title": text.title, "body": text.body}
        updated = self._read(self.api.call("PATCH", f"{self._base}/pulls/{request.number}", sent))
        self._label(request, text)
        return updated

    def _label(self, request: PullRequest, text: Text) -> None:
        if text.labels:
            self.api.call("POST", f"{self._base}/issues/{request.number}/labels", {"labels": list(text.labels)})

    @property
    def _base(self) -> str:
        return f"/repos/{self.place.path}"

    def _read(self, row: Any) -> PullRequest:
        if row.get("merged_at"):
            return PullRequest(row["number"], row["html_url"], row.get("body") or "", "merged")
        return PullRequest(
            row["number"], row["html_url"], row.get("body") or "", "open" if row["state"] == "open" else "closed"
        )


@dataclass(frozen=True)
class GitLab:
    place: Place
    api: Api

    def requests(self, head: str) -> tuple[PullRequest, ...]:
        """Every request from branch `head`, newest first."""
        rows = self.api.pages(f"{self._base}/merge_requests", {"source_branch": head, "state": "all"})
        return _newest_first(self._read(row) for row in rows)

    def open(self, head: str, base: str, text: Text) -> PullRequest:
        sent = {"source_branch": head, "target_branch": base, **self._text(text)}
        return self._read(self.api.call("POST", f"{self._base}/merge_requests", sent))

    def update(self, request: PullRequest, text: Text) -> PullRequest:
        return self._read(self.api.call("PUT", f"{self._base}/merge_requests/{request.number}", self._text(text)))

    def _text(self, text: Text) -> dict[str, str]:
        sent = {"title": f"Draft: {text.title}" if text.draft else text.title, "description": text.body}
        return {**sent, "labels": ",".join(text.labels)} if text.labels else sent

    @property
    def _base(self) -> str:
        return f"/projects/{quote(self.place.path, safe='')}"

    def _read(self, row: Any) -> PullRequest:
        states: dict[str, Literal["open", "closed", "merged"]] = {"opened": "open", "merged": "merged"}
        return PullRequest(row["iid"], row["web_url"], row.get("description") or "", states.get(row["state"], "closed"))


@dataclass(frozen=True)
class Api:
    """One forge's API. The token travels in a header and is in no message of ours; without one, only what is public is
    answered."""

    place: Place
    token: str | None = field(repr=False)

    def pages(self, path: str, query: Mapping[str, str], most: int = MOST_PAGES) -> Iterator[Any]:
        """The rows of every page, of at most `most` of them.

        The number of the next page is taken from the answer, its address is not: a token goes to this forge alone.
        """
        number: int | None = 1
        for _ in range(most):
            asked = {**query, "per_page": str(PER_PAGE), "page": str(number)}
            answer = self._accepted("GET", path, None, asked)
            rows = self._read(answer, "GET", path)
            if not isinstance(rows, list):
                raise PublishError(self._said("GET", path, "answered with something that is no list"))
            yield from rows
            number = _next_page(answer, int(asked["page"]), len(rows))
            if number is None:
                return

    def call(self, method: str, path: str, sent: Any = None, query: Mapping[str, str] | None = None) -> Any:
        """The parsed answer. Raises PublishError for a refusal, and where none can be understood."""
        return self._read(self._accepted(method, path, sent, query), method, path)

    def _accepted(self, method: str, path: str, sent: Any, query: Mapping[str, str] | None) -> httpx.Response:
        answer = self._answer(method, path, sent, query)
        wait = _asked_to_wait(answer)
        if wait is not None and wait <= LONGEST_WAIT_S:
            time.sleep(wait)
            answer = self._answer(method, path, sent, query)
        if _asked_to_wait(answer) is not None:
            raise PublishError(self._said(method, path, f"limits how often it may be asked ({answer.status_code})"))
        if answer.status_code >= 500:
            raise PublishError(self._said(method, path, f"failed with {answer.status_code}"))
        if answer.status_code >= 300:
            raise PublishError(self._said(method, path, f"refused with {answer.status_code}{_reason(answer)}"))
        return answer

    def _read(self, answer: httpx.Response, method: str, path: str) -> Any:
        try:
            return answer.json()
        except ValueError as error:
            raise PublishError(self._said(method, path, "answered with something that is no JSON")) from error

    def _answer(self, method: str, path: str, sent: Any, query: Mapping[str, str] | None) -> httpx.Response:
        try:
            return httpx.request(
                method,
                self.place.api + path,
                json=sent,
                params=query,
                headers=self._headers(),
                timeout=SECONDS,
                follow_redirects=False,
            )
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise PublishError(self._said(method, path, f"gave no answer ({type(error).__name__})")) from None

    def _headers(self) -> dict[str, str]:
        if self.place.kind == "gitlab":
            return {"PRIVATE-TOKEN": self.token} if self.token else {}
        accepted = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}
        return {**accepted, "Authorization": f"Bearer {self.token}"} if self.token else accepted

    def _said(self, method: str, path: str, what: str) -> str:
        host = urlsplit(self.place.api).netloc
        return f"{host} {what} for `{method} {path}`; the next night tries again."


def _asked_to_wait(answer: httpx.Response) -> float | None:
    """For how many seconds a limit asks to wait; None where the answer is no limit."""
    if answer.status_code not in (403, 429):
        return None
    after, left = answer.headers.get("retry-after"), answer.headers.get("x-ratelimit-remaining")
    if after is not None:
        return float(after) if after.isdigit() else LONGEST_WAIT_S + 1
    return LONGEST_WAIT_S + 1 if answer.status_code == 429 or left == "0" else None


def _next_page(answer: httpx.Response, this: int, rows: int) -> int | None:
    """The number of the page after `this`; None after the last. Where a forge does not say, a short one is the last."""
    told = answer.headers.get("x-next-page")
    if told is not None:
        return int(told) if told.isdigit() else None
    if "link" in answer.headers:
        following = httpx.URL(answer.links.get("next", {}).get("url", "")).params.get("page", "")
        return int(following) if following.isdigit() else None
    return this + 1 if rows == PER_PAGE else None


def _reason(answer: httpx.Response) -> str:
    try:
        told = answer.json()
    except ValueError:
        return ""
    message = told.get("message") if isinstance(told, dict) else None
    return f": {' '.join(str(message).split())[:200]}" if message else ""


def _newest_first(requests: Iterator[PullRequest]) -> tuple[PullRequest, ...]:
    return tuple(sorted(requests, key=lambda one: -one.number))


def _host_and_path(address: str) -> tuple[str, str]:
    if "://" in address:
        parts = urlsplit(address)
        host, path = parts.hostname or "", parts.path
    elif ":" in address and not address.startswith(("/", ".")):
        host, path = address.split(":", 1)
        host = host.rsplit("@", 1)[-1]
    else:
        host, path = "", "/".join(address.strip("/").split("/")[-2:])
    return host.lower(), path.strip("/").removesuffix(".git")
