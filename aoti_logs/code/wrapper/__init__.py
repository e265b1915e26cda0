"""What wrappers of both languages share: arguments bound to parameters, operators, torch's C functions."""
