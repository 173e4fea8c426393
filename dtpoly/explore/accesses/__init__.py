"""What a schedule's kernels read and write at given sizes, without running them."""
