"""Values that the generated code prints or saves."""
