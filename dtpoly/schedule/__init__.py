"""The directives of a .dt file as data, and what is wrong with them as they stand."""
