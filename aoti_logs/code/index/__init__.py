"""One failed index: the kernel and launch it belongs to, its sizes, the numbers that the run printed."""
