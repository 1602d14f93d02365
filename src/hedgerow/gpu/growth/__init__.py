"""Growth of trees on a GPU."""

from hedgerow.gpu.growth.grow import CodedTraining, grow_trees
from hedgerow.gpu.growth.trees import GrownTrees

__all__ = ["CodedTraining", "GrownTrees", "grow_trees"]
