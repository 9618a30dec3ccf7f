"""What data can show: designs before data, evidence from data, findings from both.

Knows arrays of numbers and nothing about engines, prompts or servers.
"""
