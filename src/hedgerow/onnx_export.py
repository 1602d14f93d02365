"""Forests as ONNX; see :mod:`hedgerow.exchange`."""

from hedgerow.exchange.onnx import to_onnx

__all__ = ["to_onnx"]
