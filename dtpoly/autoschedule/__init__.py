"""An algorithm and sizes in; a schedule with the reason for each of its directives, out."""
