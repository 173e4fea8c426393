"""Say what Triton's operations mean, in a table whose entries were each checked against Triton."""
