"""How processes die: signals, aborts, deaths of children."""
