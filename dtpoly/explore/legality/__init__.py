"""Points in, verdicts out: what rules them out before anything is emitted."""
