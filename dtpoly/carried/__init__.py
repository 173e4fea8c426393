"""The runtime of generated files: it carries out plans. A file has its text, or imports it."""
