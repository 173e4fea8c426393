"""Keeps what differs between operating systems in one room.

What only POSIX has, or what means something else on Windows, is used here and nowhere else: a test
reads all other files for it. Each function says what it does where the system lacks what it needs.
"""
