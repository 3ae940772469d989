"""The publishers' data sets: one file per family, which lists its entries and reads its layout."""
