"""Where candidates are checked and timed: a GPU, the CPU, or a formula."""
