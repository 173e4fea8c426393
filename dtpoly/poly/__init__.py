"""Holds the sets and relations of instances and elements; only this room imports islpy."""
