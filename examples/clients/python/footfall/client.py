"""Sends the operations of the API, as the client for JavaScript does: with retries, waits and Idempotency-Key."""

from __future__ import annotations

import copy
import email.utils
import json
import re
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from http.client import HTTPException
from typing import Any, Callable, Iterator, Mapping, ParamSpec, TypeVar

from .operations import Operations

P = ParamSpec("P")
Page = TypeVar("Page", bound=Mapping[str, Any])


class ApiError(Exception):
    """An answer that is an error; `status` is 0 and `error` is `unreachable` if there was none."""

    def __init__(self, status: int, body: Mapping[str, Any], retry_after: float | None = None):
        self.status = status
        #: For programs, in words that never change.
        self.error: str = body.get("error", "unknown")
        #: For programs: the cause.
        self.code: str = body.get("code", self.error)
        self.message: str = body.get("message", f"The service answered {status} without a reason.")
        self.details = {k: v for k, v in body.items() if k not in ("error", "code", "message")}
        #: Seconds that the service asks to wait.
        self.retry_after = retry_after
        super().__init__(f"{status} {self.error}: {self.message}")


class Client(Operations):
    """The API of a Footfall service. Each operation is a method that takes its parameters by name."""

    def __init__(
        self,
        base_url: str,
        key: str,
        secret: str,
        *,
        max_tries: int = 5,
        max_wait: float = 30,
        timeout: float = 60,
        headers: Mapping[str, str] | None = None,
    ):
        self._base_url = base_url.rstrip("/")
        self._headers = {"X-Api-Key": key, "X-Api-Secret": secret, **(headers or {})}
        self._max_tries = max_tries
        self._max_wait = max_wait
        self._timeout = timeout
        self._idempotency_key: str | None = None

    def with_idempotency_key(self, key: str) -> Client:
        """A client whose charged calls have this key: the same call with the same key is charged once in 24 hours."""
        client = copy.copy(self)
        client._idempotency_key = key
        return client

    def _call(self, operation: str, params: Mapping[str, Any]) -> Any:
        request, is_charged = self._request_of(operation, params)
        tries = 0
        while True:
            tries += 1
            try:
                return self._send(request)
            except ApiError as error:
                wait = _wait_before_retry(error, request.method or "GET", is_charged, tries)
                if tries >= self._max_tries or wait is None or wait > self._max_wait:
                    raise
                time.sleep(wait)

    def _request_of(
        self, operation: str, params: Mapping[str, Any]
    ) -> tuple[urllib.request.Request, bool]:
        """`PATCH /api/v1/audiences/{audience_id}?project_id`: path, then query, and the rest in the body."""
        method, target, *charged = operation.split(" ")
        template, _, query_names = target.partition("?")
        rest = dict(params)

        def fill(match: re.Match[str]) -> str:
            if match[1] not in rest:
                raise TypeError(f"{match[1]} is missing, which {template} names")
            value = _text(rest.pop(match[1]))
            # Such a segment would lead to another operation (RFC 3986, 5.2.4).
            if value in ("", ".", ".."):
                raise ValueError(f'{match[1]} must not be empty, "." or ".." in {template}')
            return urllib.parse.quote(value, safe="")

        path = re.sub(r"\{(\w+)\}", fill, template)
        in_query = rest if method == "GET" else query_names.split("&")
        query = {name: _text(rest[name]) for name in in_query if rest.get(name) is not None}
        body = {} if method == "GET" else {k: v for k, v in rest.items() if k not in query}
        url = self._base_url + path + (f"?{urllib.parse.urlencode(query)}" if query else "")
        has_body = method != "GET" and (method != "DELETE" or bool(body))
        request = urllib.request.Request(
            url,
            method=method,
            headers=self._headers,
            data=json.dumps(body).encode() if has_body else None,
        )
        if has_body:
            request.add_header("Content-Type", "application/json")
        if charged:
            request.add_header("Idempotency-Key", self._idempotency_key or str(uuid.uuid4()))
        return request, bool(charged)

    def _send(self, request: urllib.request.Request) -> Any:
        try:
            with urllib.request.urlopen(request, timeout=self._timeout) as answer:
                data = answer.read()
                if answer.status == 204:
                    return None
                is_json = answer.headers.get_content_type() == "application/json"
                return json.loads(data) if is_json else data
        except urllib.error.HTTPError as error:
            raise _error_of(error) from None
        except (OSError, HTTPException) as error:
            message = f"The service cannot be reached ({error}). Check the connection and try again."
            raise ApiError(0, {"error": "unreachable", "message": message}) from error


def pages(operation: Callable[P, Page], *args: P.args, **params: P.kwargs) -> Iterator[Page]:
    """All pages of a list: `for page in pages(client.list_events, limit=1000)`."""
    given: dict[str, Any] = dict(params)
    while True:
        page = operation(*args, **given)  # type: ignore[arg-type]
        yield page
        meta = {**page, **(page.get("meta") or {})}
        # The feed in order of arrival has a cursor even if it has no more.
        if meta.get("next_cursor") is None or meta.get("has_more") is False:
            return
        given["cursor"] = meta["next_cursor"]


def each(operation: Callable[P, Mapping[str, Any]], *args: P.args, **params: P.kwargs) -> Iterator[Any]:
    """All items of all pages of a list: `for event in each(client.list_events, limit=1000)`."""
    for page in pages(operation, *args, **params):
        yield from next((value for value in page.values() if isinstance(value, list)), [])


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _error_of(error: urllib.error.HTTPError) -> ApiError:
    try:
        body = json.loads(error.read())
    except (ValueError, OSError, HTTPException):
        body = {}
    retry_after = _seconds_of(error.headers.get("Retry-After"))
    return ApiError(error.code, body if isinstance(body, dict) else {}, retry_after)


def _seconds_of(header: str | None) -> float | None:
    """Seconds, or an HTTP date (RFC 9110)."""
    if header is None:
        return None
    if header.isdigit():
        return float(header)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(header).timestamp() - time.time())
    except ValueError:
        return None


def _wait_before_retry(error: ApiError, method: str, is_charged: bool, tries: int) -> float | None:
    """Seconds to wait; None if the request may have been done and would be done twice."""
    if error.status in (429, 503) and error.retry_after is not None:
        return error.retry_after
    back_off = 2.0 ** (tries - 1)
    if error.status == 429:
        return None if error.error == "platform_cap_exceeded" else back_off
    is_unknown = error.status == 0 or error.status >= 500
    return back_off if is_unknown and (method == "GET" or is_charged) else None
