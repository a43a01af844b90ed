"""Builds the wheel. What is built against comes from the environment, as cmake/Python.cmake sets it:
MELICIT_INCLUDE, the folder of melicit/melicit.h; MELICIT_LIBRARY, libmelicit.so.0; MELICIT_VERSION."""
import os

from setuptools import setup

setup(
    version=os.environ["MELICIT_VERSION"],
    cffi_modules=["build_native.py:ffi"],
    options={"bdist_wheel": {"py_limited_api": "cp39"}},
)
