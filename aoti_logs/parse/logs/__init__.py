"""A log as lines that are claimed once: what is wrapped around them, messages of torch's loggers, who reads what."""
