"""The programs that draw the book's figures."""
