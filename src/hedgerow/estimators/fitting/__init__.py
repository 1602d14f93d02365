"""What `fit` needs beside growth: bags and held-out rows, costs, progress."""
