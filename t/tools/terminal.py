#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-only
"""A terminal for tests: a pseudoterminal whose screen pyte keeps. SOCKET names it for the commands that follow `start`.

    terminal.py SOCKET start COLUMNSxLINES COMMAND...  returns when the terminal exists
    terminal.py SOCKET keys KEY...      presses keys: a name of KEYS, or else the characters as they stand
    terminal.py SOCKET has REGEX        returns when the screen matches (Python's, over all lines, "." without line feeds)
    terminal.py SOCKET gone REGEX       returns when it no longer does
    terminal.py SOCKET resize COLUMNSxLINES
    terminal.py SOCKET screen           the lines, without the blanks at their ends
    terminal.py SOCKET colours          the colours of its characters, one a line
    terminal.py SOCKET modes            "main" or "alternate" screen, and "shown" or "hidden" cursor
    terminal.py SOCKET pid              the process id of COMMAND
    terminal.py SOCKET end

`has` and `gone` look whenever the program wrote something: nobody sleeps. On failure, after WAIT_S, the screen is shown. The
terminal ends with COMMAND, and when nobody asked anything for IDLE_S.
"""
import codecs
import copy
import fcntl
import json
import os
import pty
import re
import selectors
import signal
import socket
import struct
import sys
import termios
import time

import pyte

WAIT_S = 60
IDLE_S = 300
KEYS = {"Enter": "\r", "Escape": "\x1b", "Tab": "\t", "Up": "\x1b[A", "Down": "\x1b[B", "Right": "\x1b[C", "Left": "\x1b[D",
        "C-c": "\x03", "C-z": "\x1a"}
ALTERNATE = 1049 << 5  # as pyte stores a private mode


class Screen(pyte.Screen):
    """pyte's, with the alternate screen, which pyte lacks."""

    main = None

    def set_mode(self, *modes, **kwargs):
        super().set_mode(*modes, **kwargs)
        if kwargs.get("private") and 1049 in modes and self.main is None:
            self.main = copy.deepcopy(self.buffer), copy.copy(self.cursor)
            self.erase_in_display(2)

    def reset_mode(self, *modes, **kwargs):
        super().reset_mode(*modes, **kwargs)
        if kwargs.get("private") and 1049 in modes and self.main is not None:
            is_hidden = self.cursor.hidden
            (self.buffer, self.cursor), self.main = self.main, None
            self.cursor.hidden = is_hidden


class Terminal:
    """Owns the program, its screen, and those who wait for something on it."""

    def __init__(self, listener, columns, lines, command):
        self.screen = Screen(columns, lines)
        self.stream = pyte.Stream(self.screen)
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.waiting = []  # (connection, pattern, is_gone, until)
        self.listener = listener
        self.child, self.pty = pty.fork()
        if self.child == 0:
            for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, signal.SIG_DFL)
            self.set_size(0, columns, lines)
            os.environ["TERM"] = "xterm"
            os.execvp(command[0], command)
        self.set_size(self.pty, columns, lines)

    @staticmethod
    def set_size(fd, columns, lines):
        fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def text(self):
        return "\n".join(line.rstrip() for line in self.screen.display)

    def colours(self):
        cells = (self.screen.buffer[y][x] for y in range(self.screen.lines) for x in range(self.screen.columns))
        return "\n".join(sorted({c.fg for c in cells} | {self.screen.default_char.bg}))

    def answer(self, connection, error, text):
        connection.setblocking(True)
        try:
            connection.sendall(json.dumps({"error": error, "text": text}).encode())
        except OSError:
            pass  # who asked has gone
        connection.close()

    def look(self):
        """Answers those whose wait is over."""
        still, text, now = [], self.text(), time.monotonic()
        for connection, pattern, is_gone, until in self.waiting:
            if bool(pattern.search(text)) != is_gone:
                self.answer(connection, False, "")
            elif now >= until:
                self.answer(connection, True, f"{pattern.pattern!r} is {'still' if is_gone else 'not'} on the screen:\n{text}")
            else:
                still.append((connection, pattern, is_gone, until))
        self.waiting = still

    def asked(self, connection):
        name, *words = json.loads(connection.makefile().readline())
        if name in ("has", "gone"):
            self.waiting.append((connection, re.compile(words[0], re.M), name == "gone", time.monotonic() + WAIT_S))
            return
        text = ""
        if name == "keys":
            os.write(self.pty, "".join(KEYS.get(w, w) for w in words).encode())
        elif name == "resize":
            columns, lines = map(int, words[0].split("x"))
            self.screen.resize(lines, columns)
            self.set_size(self.pty, columns, lines)
        elif name == "modes":
            text = f"{'main' if self.screen.main is None else 'alternate'} {'hidden' if self.screen.cursor.hidden else 'shown'}"
        else:
            text = {"screen": self.text, "colours": self.colours, "pid": lambda: str(self.child), "end": str}[name]()
        self.answer(connection, False, text)
        if name == "end":
            raise EOFError

    def written(self):
        try:
            data = os.read(self.pty, 1 << 16)
        except OSError:  # how Linux says that the last process has closed the terminal
            data = b""
        if not data:
            raise EOFError
        self.stream.feed(self.decoder.decode(data))

    def serve(self):
        chosen, idle_until = selectors.DefaultSelector(), time.monotonic() + IDLE_S
        chosen.register(self.listener, selectors.EVENT_READ)
        chosen.register(self.pty, selectors.EVENT_READ)
        try:
            while time.monotonic() < idle_until:
                until = min([idle_until] + [w[3] for w in self.waiting])
                for key, _ in chosen.select(max(0, until - time.monotonic())):
                    if key.fileobj is self.listener:
                        self.asked(self.listener.accept()[0])
                        idle_until = time.monotonic() + IDLE_S
                    else:
                        self.written()
                self.look()
        except EOFError:
            pass
        self.look()
        for connection, pattern, _, _ in self.waiting:
            self.answer(connection, True, f"the terminal has ended; {pattern.pattern!r} was waited for:\n{self.text()}")
        os.close(self.pty)  # hangs up whoever is still there


def start(path, size, *command):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    if os.fork() != 0:
        return 0
    os.setsid()
    nowhere = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nowhere, fd)
    for fd in map(int, os.listdir("/proc/self/fd")):
        if fd > 2 and fd != listener.fileno():
            try:
                os.close(fd)
            except OSError:
                pass  # the listing's own
    columns, lines = map(int, size.split("x"))
    Terminal(listener, columns, lines, command).serve()
    return 0


def ask(path, *words):
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(path)
    except OSError as e:
        print(f"no terminal at {path}: {e}")
        return 1
    connection.sendall(json.dumps(words).encode() + b"\n")
    with connection.makefile() as answers:
        text = answers.read()
    answer = json.loads(text or '{"error": true, "text": "the terminal has ended"}')
    if answer["text"]:
        print(answer["text"])
    return 1 if answer["error"] else 0


if __name__ == "__main__":
    sys.exit(start(sys.argv[1], *sys.argv[3:]) if sys.argv[2] == "start" else ask(sys.argv[1], *sys.argv[2:]))
