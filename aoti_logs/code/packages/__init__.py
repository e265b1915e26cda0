"""Packages: which models are in them, what belongs to each, what is missing, where the weights are."""
