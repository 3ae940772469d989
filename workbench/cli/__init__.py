"""The command line: the verbs (`app.py`), their options, how they are stopped, the doctor."""
