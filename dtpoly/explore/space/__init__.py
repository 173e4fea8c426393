"""What there is to choose: points of a space, counted, numbered, written in a line."""
