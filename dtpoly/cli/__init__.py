"""The command line: words of a user in, work done and an exit code out."""
