"""Ctrl-C and SIGTERM end a command in the same way: at once, with one line about what continues.

Either raises `KeyboardInterrupt` in the main thread, where pools, connections and locks are given back on its way out.
What does not end by itself within `GRACE` seconds (a long computation in C, a thread that still waits for an answer, an
interrupt that a destructor swallowed) is ended by the watch, and a second signal does not wait. This loses nothing:
whatever is written may be killed at any moment (docs/attacks.md)."""

from __future__ import annotations

import atexit
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

GRACE = 3.0  # seconds
SIGNALS = (signal.SIGINT, signal.SIGTERM)
SAID = "stopped; what is done is kept, and the same command goes on from there"


class Stop:
    """Whether a signal has come: `code` is then the exit code that shells expect, 128 plus its number, else 0."""

    def __init__(self):
        self.code, self._interrupted = 0, False
        self._heard, self._writer = socket.socketpair()

    def begin(self) -> None:
        self._writer.setblocking(False)
        signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)  # also while C code holds Python up
        threading.Thread(target=self._watch, daemon=True).start()
        atexit.register(self._leave)  # before all that the block registers, so it runs behind it
        self._hook, sys.unraisablehook = sys.unraisablehook, self._unraisable
        for number in SIGNALS:
            signal.signal(number, self._receive)

    def end(self) -> None:
        """Only the interpreter's own end is left, which no signal need disturb; the watch stays until it is stopped."""
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        sys.unraisablehook = self._hook
        if not self.code:
            signal.set_wakeup_fd(-1)
            self._writer.close()

    def say(self) -> None:
        """Say what goes on, once. It goes past `sys.stderr`, whose lock an interrupted thread may hold."""
        if not self._interrupted:
            self._interrupted = True
            with suppress(OSError):
                os.write(2, f"\n{SAID}\n".encode())

    def _receive(self, number: int, frame: FrameType | None) -> None:
        self.code = 128 + number
        raise KeyboardInterrupt

    def _unraisable(self, what: sys.UnraisableHookArgs) -> None:
        """Show what a destructor or a callback of C swallowed, unless it is the interrupt: the watch sees to that."""
        if not (self.code and issubclass(what.exc_type, KeyboardInterrupt)):
            self._hook(what)

    def _leave(self) -> None:
        """Leave without taking apart, one by one, the modules that were loaded: with torch it takes a second."""
        if self.code:
            with suppress(OSError, ValueError):
                sys.stdout.flush()
            os._exit(self.code)

    def _watch(self) -> None:
        """End the process `GRACE` seconds after the first signal, or at the second one."""
        if not (number := self._next()):
            return
        self._heard.settimeout(GRACE)
        with suppress(TimeoutError):
            self._next()
        self.say()
        os._exit(128 + number)

    def _next(self) -> int:
        """Wait for the next signal that is ours: what runs in the block may have taken one over. 0 when there is none
        to wait for."""
        while number := self._heard.recv(1):
            if signal.getsignal(number[0]) in (self._receive, signal.SIG_IGN):  # the latter if the block has ended
                return number[0]
        return 0


@contextmanager
def stoppable() -> Iterator[None]:
    """Let signals end the block, which is all that its process does: whatever an interrupt becomes on its way leaves
    the block as `SystemExit` with the signal's code. Only a main thread can be interrupted; another is left alone."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    stop = Stop()
    stop.begin()
    try:
        try:
            yield
        finally:
            stop.end()
    except BaseException:
        if not stop.code:
            raise
    if stop.code:
        stop.say()
        raise SystemExit(stop.code)
