"""Steps that methods share: pure functions on arrays, in the notation of the papers."""
