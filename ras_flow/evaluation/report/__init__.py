"""The report of an evaluation: tables as Markdown, and the same as one HTML page."""

from ras_flow.evaluation.report.writing import write_report

__all__ = ["write_report"]
