"""A page that a domain expert can read: what was learned, how well, which rows are in doubt, and "what if"."""
