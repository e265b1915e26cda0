"""One room of the house; see docs/architecture.md."""
