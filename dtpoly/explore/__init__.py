"""From a space of schedules to a fast one: what is measured, how, and in which order."""
