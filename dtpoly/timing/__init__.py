"""How long something takes on a device: clocks, samples, and what can go wrong there."""
