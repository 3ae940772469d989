"""Scores of rows against a query, the best of them, and a ranking completed by the dense one."""
