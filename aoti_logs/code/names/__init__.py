"""What a person calls the inputs and weights of a wrapper, and who says so."""
