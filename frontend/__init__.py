"""The frontend turns the text of a .dt file into a Program, or says what is wrong with the text."""
