"""Models for measured inputs: answers, regions, and what errors cost."""
