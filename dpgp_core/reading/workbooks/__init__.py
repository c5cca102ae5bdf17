"""Workbooks by strangers as text: read as they unpack, within limits, with nothing but the standard library."""
