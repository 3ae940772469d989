"""Loaded first by the worker processes of `local[n]`: Ctrl-C reaches every process of a terminal, and they leave it to
the one that started them."""

import signal

signal.signal(signal.SIGINT, signal.SIG_IGN)
