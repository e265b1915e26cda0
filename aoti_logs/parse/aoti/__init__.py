"""Texts of AOTInductor's runtime, its shims and its loader."""
