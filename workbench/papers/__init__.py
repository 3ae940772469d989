"""The papers' tables: what they print (`published/`), and our numbers beside theirs, with the conditions of both."""
