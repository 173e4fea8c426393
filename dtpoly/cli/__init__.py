"""The command line runs the command that a user names and returns its exit code."""
