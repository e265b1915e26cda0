"""Speed and memory, measured side by side with tlparse and with bare readers."""
