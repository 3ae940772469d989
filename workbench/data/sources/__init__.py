"""The publishers' data sets: one file per family, with its entries and the reader of its layout."""
