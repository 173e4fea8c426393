"""Takes a kernel of Triton out of a module that dtpoly did not write, with all that it uses."""
