"""What was asked and what came of it, in a file."""
