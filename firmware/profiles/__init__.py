"""Jurisdictions as data: a file each, read by ``profile``."""
