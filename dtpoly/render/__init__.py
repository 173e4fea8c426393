"""Turns diagnostics and pictures into text for people (terminal, HTML, SVG) or data for scripts."""
