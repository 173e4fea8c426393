"""In which order a space is searched: one strategy a file, all with the same two methods."""
