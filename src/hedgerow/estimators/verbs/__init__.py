"""Verbs that estimators share, as abstract classes: answers, set-valued answers, pruning."""
