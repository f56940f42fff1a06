"""Annotated Python in, side-by-side pages out."""
