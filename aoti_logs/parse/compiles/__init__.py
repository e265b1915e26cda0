"""The course of compiles and how they fail, as exceptions and loggers tell it."""
