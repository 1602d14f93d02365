"""Walks of rows down trees on a GPU, through CuPy, which is imported when a device is opened."""

from hedgerow.gpu.cuda import CudaDevice, NoGPUError, open_device
from hedgerow.gpu.engine import DeviceWalk

__all__ = ["CudaDevice", "DeviceWalk", "NoGPUError", "open_device"]
