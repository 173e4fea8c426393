"""An exploration from its first question to the last answer."""
