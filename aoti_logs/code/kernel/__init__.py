"""One kernel: its text, parameters, accesses and checks; slices of its values; which elements break a check."""
