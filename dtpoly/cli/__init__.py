"""The command line: it runs the command that a user names and returns an exit code."""
