"""Requests to servers in sandboxes, by the addresses that the clients return."""

import http.client
import socket
import time
from urllib.parse import urlsplit

from session import PATIENCE

# Serves a file at port 8000: Python if its pack is installed, else a server that sends the same to every request.
SERVES = """mkdir -p /tmp/www; cd /tmp/www; echo hello > a.txt
if command -v python3 >/dev/null; then exec python3 -m http.server 8000; fi
while :; do printf 'HTTP/1.0 200 OK\\r\\n\\r\\nhello\\n' | nc -lN 8000 >/dev/null; done"""

# Accepts one WebSocket at port 8001, and returns every byte.
ECHOES = r"""rm -f /tmp/echo; mkfifo /tmp/echo; exec 3<>/tmp/echo; nc -l 8001 <&3 | {
while IFS= read -r line && [ "$line" != $'\r' ]; do :; done
printf 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n'; exec cat; } >&3"""


def split(address):
    """Host and port of the emulator, and the host to name in a request. Not every resolver knows names below `localhost`."""
    parts = urlsplit(address if "//" in address else f"http://{address}")
    host = "127.0.0.1" if parts.hostname.endswith("localhost") else parts.hostname
    return host, parts.port, parts.netloc


def request(address, path="/a.txt", headers={}, method="GET", body=None):
    """Status and body of one request to a preview."""
    host, port, name = split(address)
    connection = http.client.HTTPConnection(host, port, timeout=PATIENCE)
    try:
        connection.request(method, path, body, {"Host": name, **headers})
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def fetch(address, path="/a.txt", headers={}):
    """The body, when the server has started."""
    patience = time.monotonic() + PATIENCE
    while True:
        status, body = request(address, path, headers)
        if status == 200:
            return body
        assert status == 502 and time.monotonic() < patience, (status, body)
        time.sleep(0.1)


def upgrade(address, headers={}):
    """An upgraded connection, when the server has started, after an exchange of bytes."""
    host, port, name = split(address)
    lines = {"Host": name, "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", **headers}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    patience = time.monotonic() + PATIENCE
    while True:
        connection = socket.create_connection((host, port), PATIENCE)
        connection.sendall(f"GET /socket HTTP/1.1\r\n{head}\r\n".encode())
        reply, piece = b"", b"-"
        while b"\r\n\r\n" not in reply and piece:
            piece = received(connection, 1)
            reply += piece
        if reply.startswith(b"HTTP/1.1 101 "):
            break
        # A tunnel of Modal closes the connection.
        assert (not reply or reply.startswith(b"HTTP/1.1 502 ")) and time.monotonic() < patience, reply
        connection.close()
        time.sleep(0.1)
    for frame in [b"\x81\x85mask\x05\x04\x1f\x07\x02", bytes(range(256)) * 1000]:
        connection.sendall(frame)
        back = b""
        while len(back) < len(frame):
            back += connection.recv(65536)
        assert back == frame
    return connection


def received(connection, length):
    """Bytes of a connection; none at its end."""
    try:
        return connection.recv(length)
    except ConnectionResetError:
        return b""


def ended(connection):
    """Whether the other side has ended a connection, within the time of the tests."""
    return received(connection, 1) == b""
