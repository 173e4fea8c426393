"""What must be shown of a launch, layer by layer, and what is reported of it."""
