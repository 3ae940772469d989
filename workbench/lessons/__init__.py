"""What each notebook checks and concludes."""
