# SPDX-License-Identifier: LGPL-3.0-only
"""A client of `weir serve` for tests: answers, and events as they come. Nothing waits for time: the socket's timeout and the
stream's only end a test that would hang.

    serve_client.py URL get PATH [HEADER...]        prints the status, the headers and a blank line, then the body
    serve_client.py URL events EXPRESSION           prints events as lines of JSON until EXPRESSION holds for one of them:
                                                    `name` and `data` are its parts, `seen` maps names to the last data
URL: http://HOST:PORT/#TOKEN, https://…, or unix:PATH."""
import gzip
import http.client
import json
import socket
import ssl
import sys
import time
import urllib.parse

PATIENCE_S = 60
STREAM_PATIENCE_S = 240  # for what a test waits for: comments keep a stream alive in which nothing comes


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=PATIENCE_S)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(PATIENCE_S)
        self.sock.connect(self.path)


def connection(url):
    """And the headers that the URL's token asks for."""
    if url.startswith("unix:"):
        return UnixConnection(url[5:]), {}
    parts = urllib.parse.urlsplit(url)
    headers = {"Authorization": "Bearer " + parts.fragment} if parts.fragment else {}
    if parts.scheme == "https":
        trusting = ssl._create_unverified_context()
        return http.client.HTTPSConnection(parts.hostname, parts.port, timeout=PATIENCE_S, context=trusting), headers
    return http.client.HTTPConnection(parts.hostname, parts.port, timeout=PATIENCE_S), headers


def get(url, path, headers=(), method="GET", body=None):
    """(status, headers, body)"""
    link, own = connection(url)
    link.request(method, path, body=body, headers={**own, **dict(h.split(": ", 1) for h in headers)})
    answer = link.getresponse()
    text = answer.read()
    if answer.getheader("Content-Encoding") == "gzip":
        text = gzip.decompress(text)
    return answer.status, answer.getheaders(), text


def lines(answer):
    """Of a stream, as they come. TimeoutError: the test still waits after STREAM_PATIENCE_S."""
    end = time.monotonic() + STREAM_PATIENCE_S
    for line in answer:
        if time.monotonic() > end:
            raise TimeoutError(f"what the test waits for did not come in {STREAM_PATIENCE_S} s; last: {line[:200]}")
        yield line


def events(url, path="/api/events", headers=()):
    """(name, data) as they come. Ends with the stream; a refusal is an OSError with its text."""
    link, own = connection(url)
    link.request("GET", path, headers={**own, **dict(h.split(": ", 1) for h in headers)})
    answer = link.getresponse()
    if answer.status != 200:
        raise OSError(f"{answer.status} {answer.read().decode()}")
    name = None
    for line in lines(answer):
        if line.startswith(b"event: "):
            name = line[7:].strip().decode()
        elif line.startswith(b"data: "):
            yield name, json.loads(line[6:])


def until(url, holds, headers=()):
    """All events up to the first for which holds(name, data, seen) is true."""
    seen, had = {}, []
    for name, data in events(url, headers=headers):
        seen[name] = data
        had.append((name, data))
        if holds(name, data, seen):
            return had
    raise OSError("the stream has ended")


def main():
    url, what, *rest = sys.argv[1:]
    if what == "get":
        status, headers, body = get(url, rest[0], rest[1:])
        print(status)
        for name, value in headers:
            print(f"{name.lower()}: {value}")
        print()
        sys.stdout.flush()
        sys.stdout.buffer.write(body)
        return
    for name, data in until(url, lambda name, data, seen: eval(rest[0], {"name": name, "data": data, "seen": seen}), rest[1:]):
        print(json.dumps([name, data]))


if __name__ == "__main__":
    try:
        main()
    except OSError as failure:
        sys.exit(f"serve_client: {failure}")
