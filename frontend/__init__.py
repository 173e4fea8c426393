"""Text in, Program out."""
