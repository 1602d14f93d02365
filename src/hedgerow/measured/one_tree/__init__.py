"""Growth and pruning of one tree of soft regions, by the full least-squares problem."""
