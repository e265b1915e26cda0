"""Out again: the screen and its other forms."""
