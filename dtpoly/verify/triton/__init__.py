"""A kernel's text, and what it does when it runs."""
