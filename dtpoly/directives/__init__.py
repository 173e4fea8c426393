"""The built-in directives: each has a file here, and `built_in` has the list of them."""
