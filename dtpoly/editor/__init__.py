"""Answers what an editor asks about a .dt file, by the language server protocol."""
