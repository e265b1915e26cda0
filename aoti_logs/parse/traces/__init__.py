"""What only traces hold: compiles, events, metrics, provenance."""
