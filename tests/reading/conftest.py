from small import tiny_index  # noqa: F401
