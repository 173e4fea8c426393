"""The Program: what a .dt file means, apart from how it was written."""
