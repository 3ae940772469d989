"""The command line: a file for each group of verbs, which `app.py` gathers, their options, how they are
stopped, the catalogue, the check of files and the doctor."""
