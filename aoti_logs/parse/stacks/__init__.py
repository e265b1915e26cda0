"""Native stacks of every printer, and names of functions."""
