"""The control program of an electronic gaming machine."""
