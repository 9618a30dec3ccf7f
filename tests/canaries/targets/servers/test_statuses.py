"""Each status is one typed line that says what to do."""

from __future__ import annotations

import pytest

from draftgate.canaries.targets.servers.errors import (
    Busy,
    NotServed,
    NotTheApi,
    ServerFailed,
    Unauthorised,
    Unsupported,
)
from draftgate.canaries.targets.servers.statuses import refusal, refuse_error


@pytest.mark.parametrize(
    ("status", "headers", "kind", "told"),
    [
        (400, {}, Unsupported, "400 .*says so"),
        (401, {}, Unauthorised, "key_env"),
        (403, {}, Unauthorised, "key_env"),
        (404, {}, NotServed, "/v1/models"),
        (422, {}, Unsupported, "422"),
        (429, {"retry-after": "7"}, Busy, "wait 7 s and resume, or lower concurrency"),
        (429, {}, Busy, "wait and resume, or lower concurrency"),
        (307, {"location": "https://b/"}, NotTheApi, "307 to https://b/"),
        (418, {"content-type": "text/html"}, NotTheApi, "web page"),
        (500, {}, ServerFailed, "500 .*says so.*log"),
        (501, {}, Unsupported, "501"),
        (503, {}, ServerFailed, "503"),
    ],
)
def test_a_status_is_its_error(status, headers, kind, told):
    error = refusal("http://a", status, headers, "it says so")

    assert type(error) is kind
    with pytest.raises(kind, match=told):
        raise error


@pytest.mark.parametrize(
    ("document", "kind", "told"),
    [
        ({"error": {"message": "out of memory", "code": 500}}, ServerFailed, "out of memory"),
        ({"error": "broke"}, ServerFailed, "broke"),
        ({"object": "error", "message": "no such field", "code": 400}, Unsupported, "no such field"),
        ({"error": {"message": "slow down", "code": 429}}, Busy, "slow down"),
        ([1], NotTheApi, "no object"),
    ],
)
def test_an_error_told_in_a_stream_is_an_error(document, kind, told):
    with pytest.raises(kind, match=told):
        refuse_error("http://a", document)


def test_an_event_that_tells_none_is_itself():
    assert refuse_error("http://a", {"choices": [], "error": None}) == {"choices": [], "error": None}
