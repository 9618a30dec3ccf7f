"""Each way in which a server can fail, on a real socket, is one typed line; nothing that was sent is sent again."""

from __future__ import annotations

import asyncio
import shutil
import socket
import ssl
import subprocess

import httpx
import pytest

from draftgate.canaries.targets.servers.errors import (
    Busy,
    Dropped,
    Garbled,
    Hung,
    NotServed,
    NotTheApi,
    ServerFailed,
    Unauthorised,
    Unreachable,
    Unsupported,
    Untrusted,
)
from draftgate.canaries.targets.servers.transport import Transport
from served import connection
from servers_loopback import CLOSE, DROP, Loopback, event, reply, stream

DOCUMENT = {"choices": [{"index": 0, "text": "é"}]}
FINDINGS = (Garbled,)


async def _streamed(url, path="/x", **changes):
    taken = []
    async with Transport(connection(url, **changes)) as transport:
        await transport.stream(path, {"a": 1}, lambda seconds, document: taken.append((seconds, document)))
    return taken


async def _got(url, method="GET", **changes):
    async with Transport(connection(url, **changes)) as transport:
        return await transport.json(method, "/x", {"a": 1} if method == "POST" else None)


def streamed(parts, **changes):
    """What a stream of `parts` is read as."""
    with Loopback(lambda _: parts()) as loopback:
        return [document for _, document in asyncio.run(_streamed(loopback.url, **changes))]


def got(answer, **changes):
    with Loopback(lambda _: answer()) as loopback:
        return asyncio.run(_got(loopback.url, **changes))


def test_a_document_is_read():
    assert got(lambda: reply(DOCUMENT)) == DOCUMENT


def test_a_stream_is_read_as_it_comes():
    parts = [DOCUMENT, b": ping\r\n\r\n", DOCUMENT, "[DONE]"]

    assert streamed(lambda: stream(*parts)) == [DOCUMENT] * 2


def test_no_compression_is_asked_for():
    with Loopback(lambda _: reply(DOCUMENT)) as loopback:
        asyncio.run(_got(loopback.url))

        assert loopback.asked[0].headers["accept-encoding"] == "identity"


def test_a_stream_cut_within_a_character_is_read():
    data = event('{"a": "é"}')
    at = data.index("é".encode()) + 1

    assert streamed(lambda: stream(data[:at], 0.02, data[at:], "[DONE]")) == [{"a": "é"}]


def test_a_server_that_hangs_up_after_a_stream_is_asked_again_anew():
    """llama.cpp promises `Keep-Alive: timeout=5` with each stream, and ends the connection after it."""

    async def asked_twice(url):
        async with Transport(connection(url)) as transport:
            taken = []
            for _ in range(2):
                await transport.stream("/x", {}, lambda _, document: taken.append(document))
            return taken

    with Loopback(lambda _: [*stream(DOCUMENT, "[DONE]"), 0.2, CLOSE]) as loopback:
        assert asyncio.run(asked_twice(loopback.url)) == [DOCUMENT] * 2


def test_questions_share_a_connection_and_a_stream_has_its_own():
    """Servers queue few new connections: thousands of questions must not each bring one."""

    async def asked(url):
        async with Transport(connection(url)) as transport:
            for _ in range(3):
                await transport.json("GET", "/x")
            await transport.stream("/y", {}, lambda *_: None)
            await transport.stream("/y", {}, lambda *_: None)
            await transport.json("GET", "/x")

    with Loopback(lambda a: stream("[DONE]") if a.path == "/y" else reply({})) as loopback:
        asyncio.run(asked(loopback.url))
        assert loopback.connections <= 4  # one for the questions before, one a stream, at most one for the last
        assert [a.headers.get("connection") for a in loopback.asked if a.path == "/y"] == ["close"] * 2


def test_arrivals_are_seconds_since_the_request_was_sent():
    with Loopback(lambda _: stream(0.05, DOCUMENT, 0.5, DOCUMENT, "[DONE]")) as loopback:
        (first, _), (last, _) = asyncio.run(_streamed(loopback.url))

    assert 0.04 <= first < last
    assert last - first >= 0.25


BAD = {
    "401": (lambda: reply("no", 401), Unauthorised, "key_env"),
    "403": (lambda: reply("no", 403), Unauthorised, "key_env"),
    "404: a model that is not served": (
        lambda: reply({"error": {"message": "model 'm' does not exist"}}, 404), NotServed, "model 'm' does not exist"
    ),
    "429 with Retry-After": (lambda: reply("no", 429, Retry_After="7"), Busy, "wait 7 s"),
    "400": (lambda: reply("no such field", 400), Unsupported, "no such field"),
    "500": (lambda: reply("out of memory", 500), ServerFailed, "out of memory"),
    "a redirect": (lambda: reply("", 307, Location="https://elsewhere/"), NotTheApi, "307 to https://elsewhere/"),
    "a web page": (lambda: reply("<html>hello", kind="text/html"), NotTheApi, "web page"),
    "another content type": (lambda: reply("hello", kind="text/plain"), NotTheApi, "text/plain, not"),
    "closed before it answers": (lambda: iter([CLOSE]), Dropped, "after 0 bytes"),
    "killed before it answers": (lambda: iter([DROP]), Dropped, "after 0 bytes"),
    "silence": (lambda: iter([]), Hung, "no end within"),
}  # fmt: skip
STREAMS = {
    "a hung stream": (lambda: stream(DOCUMENT, 20.0), Hung, r"no end within 0.2 s; \d+ bytes came"),
    "half an event": (lambda: stream(DOCUMENT, event(DOCUMENT)[:20]), Garbled, "half an event"),
    "killed mid-stream": (lambda: stream(DOCUMENT, 0.05, DROP), Dropped, "connection ended after"),
    "closed mid-stream": (lambda: stream(DOCUMENT, 0.05, CLOSE), Dropped, "connection ended after"),
    "closed within a chunk": (
        lambda: iter([*stream(DOCUMENT, ends=False), b"ff\r\ndata", CLOSE]),
        Dropped,
        "ended after",
    ),
    "invalid JSON": (lambda: stream('{"a": '), Garbled, "no valid JSON"),
    "non-UTF-8": (lambda: stream(b"data: \xff\xfe\n\n"), Garbled, "not UTF-8"),
}
DOCUMENTS = {
    "invalid JSON": (lambda: reply(b'{"a": '), Garbled, "no valid JSON"),
    "a number that is none": (lambda: reply(b'{"a": NaN}'), Garbled, "NaN is no number of JSON"),
    "non-UTF-8": (lambda: reply(b'{"a": "\xff"}'), Garbled, "not UTF-8"),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("read", [got, streamed], ids=["document", "stream"])
def test_a_bad_answer_is_one_typed_line(name, read):
    answer, kind, told = BAD[name]
    with pytest.raises(kind, match=told) as caught:
        read(answer, deadline_s=0.2 if kind is Hung else 20.0)
    assert type(caught.value) is kind
    assert str(caught.value).startswith("http://127.0.0.1:")
    assert "\n" not in str(caught.value)
    assert not caught.value.finding


@pytest.mark.parametrize("name", STREAMS)
def test_a_bad_stream_is_one_typed_line(name):
    parts, kind, told = STREAMS[name]
    with pytest.raises(kind, match=told) as caught:
        streamed(parts, deadline_s=0.2 if kind is Hung else 20.0)
    assert type(caught.value) is kind
    assert caught.value.finding is (kind in FINDINGS)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_that_cannot_be_read_is_a_finding(name):
    answer, kind, told = DOCUMENTS[name]
    with pytest.raises(kind, match=told) as caught:
        got(answer)
    assert caught.value.finding


def test_a_refused_connection_names_the_url():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(Unreachable, match="start the server, or correct url"):
            asyncio.run(_got(url))


def test_a_connection_that_could_not_be_set_up_is_tried_again():
    async def late(loopback):
        asked = asyncio.ensure_future(_got(f"http://127.0.0.1:{loopback.port}"))
        await asyncio.sleep(0.1)
        with loopback:
            return await asked

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    assert asyncio.run(late(Loopback(lambda _: reply(DOCUMENT), port=port))) == DOCUMENT


@pytest.mark.parametrize("answer", [lambda: iter([DROP]), lambda: reply("no", 503), lambda: stream(DOCUMENT, DROP)])
def test_a_request_that_was_sent_is_never_sent_again(answer):
    with Loopback(lambda _: answer()) as loopback:
        with pytest.raises((Dropped, ServerFailed)):
            asyncio.run(_streamed(loopback.url))

        assert len(loopback.asked) == 1


def test_no_more_requests_are_under_way_than_allowed():
    under_way, most = 0, 0

    def answer(_):
        nonlocal under_way, most
        under_way, most = under_way + 1, max(most, under_way + 1)
        yield 0.1
        under_way -= 1
        yield from reply(DOCUMENT)

    async def many(url):
        async with Transport(connection(url, concurrency=3)) as transport:
            await asyncio.gather(*(transport.json("GET", "/x") for _ in range(9)))

    with Loopback(answer) as loopback:
        asyncio.run(many(loopback.url))
    assert most == 3


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """(certificate, key) of an authority that nobody knows."""
    openssl = shutil.which("openssl")
    if not openssl:
        pytest.skip("openssl is not installed")
    folder = tmp_path_factory.mktemp("tls")
    pem, key = folder / "cert.pem", folder / "key.pem"
    words = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=127.0.0.1"
    extension = "-addext subjectAltName=IP:127.0.0.1 -addext basicConstraints=critical,CA:TRUE"
    command = [openssl, *words.split(), *extension.split(), "-keyout", key, "-out", pem]
    subprocess.run(command, check=True, capture_output=True)
    return pem, key


@pytest.fixture
def secured(certificate):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    with Loopback(lambda _: reply(DOCUMENT), ssl=context) as loopback:
        yield loopback


def test_an_unknown_authority_is_a_tls_error(secured):
    with pytest.raises(Untrusted, match=r"TLS failed .*ca_file"):
        asyncio.run(_got(secured.url))


def test_a_named_authority_is_trusted(secured, certificate):
    assert asyncio.run(_got(secured.url, ca_file=str(certificate[0]))) == DOCUMENT


def test_tls_with_a_server_that_speaks_none_is_a_tls_error():
    with Loopback(lambda _: reply(DOCUMENT)) as loopback, pytest.raises(Untrusted, match="check http or https"):
        asyncio.run(_got(loopback.url.replace("http:", "https:")))


def test_the_clock_starts_when_the_request_is_sent_and_not_while_its_connection_is_made(monkeypatch):
    connect = httpx.AsyncHTTPTransport.handle_async_request

    async def slowly(self, request):
        await asyncio.sleep(2.0)
        return await connect(self, request)

    monkeypatch.setattr(httpx.AsyncHTTPTransport, "handle_async_request", slowly)
    with Loopback(lambda _: stream(0.05, DOCUMENT, "[DONE]")) as loopback:
        ((seconds, _),) = asyncio.run(_streamed(loopback.url))

    assert 0.04 <= seconds < 2.0


def test_a_whole_answer_tells_when_it_was_there():
    async def asked(url):
        async with Transport(connection(url)) as transport:
            return await transport.reply("POST", "/x", {"a": 1})

    def answer(_):
        yield 0.05
        yield from reply(DOCUMENT)

    with Loopback(answer) as loopback:
        seconds, document = asyncio.run(asked(loopback.url))

    assert document == DOCUMENT
    assert seconds >= 0.04
