"""What people read: the terminal report, its tables and the progress bar. Decides nothing."""
