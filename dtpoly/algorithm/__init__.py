"""The Program is what a .dt file means, apart from how the file was written."""
