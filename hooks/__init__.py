"""Hooks of the site."""
