"""Times things on a device: clocks, samples, and what can go wrong there."""
