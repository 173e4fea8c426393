"""What Triton's operations mean: a table of entries, each checked against Triton itself."""
