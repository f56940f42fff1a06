"""The book: its modules, executed."""
