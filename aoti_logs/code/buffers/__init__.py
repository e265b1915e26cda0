"""Buffers: which memory a name means, who uses it, who wrote it last, what reaches it, how long it lives."""
