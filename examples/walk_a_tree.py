"""Should this patient see a specialist? A small tree, written by hand, and five patients who walk down it."""

import math

import numpy as np

from hedgerow.forest.build import build_forest, leaf, multiway, threshold
from hedgerow.walk import LeafTable, fold, spread

COLUMNS = SYMPTOM, TEMPERATURE, AGE = "symptom", "temperature", "age"
SYMPTOMS = RASH, CHEST_PAIN, COUGH = "rash", "chest pain", "cough"
CLASSES = "home", "specialist"

PATIENTS = {
    "Ada": ("cough", 37.2, 34),
    "Ben": ("chest pain", 36.9, 62),
    "Cleo": ("cough", None, 51),
    "Dev": ("toothache", 38.6, 45),
    "Eve": (None, None, None),
}


def write_tree():
    """Each leaf holds what became of the past patients who reached it: (went home, went to a specialist)."""
    return multiway(
        COLUMNS.index(SYMPTOM),
        {
            SYMPTOMS.index(RASH): leaf([19, 1]),
            SYMPTOMS.index(CHEST_PAIN): threshold(COLUMNS.index(AGE), 40, leaf([8, 2]), leaf([3, 27])),
            SYMPTOMS.index(COUGH): threshold(COLUMNS.index(TEMPERATURE), 38, leaf([27, 3]), leaf([3, 7])),
        },
    )


def as_numbers(symptom, temperature, age):
    """A row as trees read it: codes for categories, NaN for what is missing or was never seen."""
    code = SYMPTOMS.index(symptom) if symptom in SYMPTOMS else math.nan
    return [code, *(math.nan if value is None else value for value in (temperature, age))]


def print_tree(forest):
    text = forest.to_text(feature_names=COLUMNS, class_names=CLASSES, categories=(SYMPTOMS, (), ()))
    # In this tree the leaves stand in the text in the order of their numbers.
    leaves = iter(range(forest.n_leaves))
    for line in text.splitlines():
        print(f"  {line:<58}leaf {next(leaves)}" if ":" in line else f"  {line}")


def print_patients(reached, frequencies):
    titles = f"{SYMPTOM:<12}{TEMPERATURE:>11}{AGE:>6}   {'reaches':<19}{CLASSES[0]:>10}{CLASSES[1]:>14}"
    print(" " * 8 + titles)
    for row, (name, values) in enumerate(PATIENTS.items()):
        symptom, temperature, age = ("?" if value is None else value for value in values)
        start = f"  {name:<6}{symptom:<12}{temperature:>11}{age:>6}   "
        home, specialist = frequencies[row]
        answer = f"{home:>10.0%}{specialist:>14.0%}"
        for number in np.flatnonzero(reached[row]):
            weight = reached[row, number]
            way = f"leaf {number}" if weight == 1 else f"leaf {number}, weight {weight:.2f}"
            print(f"{start}{way:<19}{answer}".rstrip())
            start, answer = " " * len(start), ""


forest = build_forest([write_tree()], n_features=len(COLUMNS))
X = np.array([as_numbers(*values) for values in PATIENTS.values()])
frequency = LeafTable.of(forest.leaf_counts / forest.leaf_counts.sum(axis=1, keepdims=True))

print("Should this patient see a specialist? A tree, and what became of 100 past patients:\n")
print_tree(forest)
print("\nFive new patients. Where a value is missing ('?') or a symptom is new to the tree,")
print("the patient goes down all branches at once, weighted by how many past patients took each:\n")
print_patients(spread(forest, X).toarray(), fold(forest, X, [frequency])[0])
print("\nOf Eve nothing is known, so her answer is that of all 100 past patients together.")
