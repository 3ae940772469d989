"""English as spaCy reads it: parses, names, spans, quantities, families of relations. No Step has its rule here."""
