"""Records of a trace out of what tlparse made of it, where the trace itself is missing."""
