"""FX graphs and exported programs, printed or saved."""
