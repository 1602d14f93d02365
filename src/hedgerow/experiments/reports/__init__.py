"""Tables, figures, claims and known differences of each study, from its stored scores."""
