"""Sets and maps: the only room that imports islpy."""
