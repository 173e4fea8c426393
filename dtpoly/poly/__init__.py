"""Sets and maps of instances and elements; only this room imports islpy."""
