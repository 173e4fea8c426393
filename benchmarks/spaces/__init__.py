"""The example spaces at sizes for an H200: what is prepared, run and told of each."""
