"""What was measured, told: numbers, pictures, a page."""
