"""Trees and small forests as rules and as code in other languages, which answers as the model does, to the last bit."""

from hedgerow.codegen.c import c_code
from hedgerow.codegen.dot import dot_text
from hedgerow.codegen.finish import Step, steps_of_rule
from hedgerow.codegen.leaf_rules import LeafRule, LeafRules, leaf_rules
from hedgerow.codegen.program import Program, make_program
from hedgerow.codegen.python import python_code
from hedgerow.codegen.sql import DIALECTS, OUTPUTS, sql_expression

__all__ = [
    "DIALECTS",
    "OUTPUTS",
    "LeafRule",
    "LeafRules",
    "Program",
    "Step",
    "c_code",
    "dot_text",
    "leaf_rules",
    "make_program",
    "python_code",
    "sql_expression",
    "steps_of_rule",
]
