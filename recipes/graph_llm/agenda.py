"""What is still to be found out for a question, and how to ask for it next."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ras_flow.formats.normalize import has_name, normalize_question
from ras_flow.formats.plan import format_plan, parse_plan
from ras_flow.training.data.records import Target
from recipes.graph_llm.case import Case


class Agenda:
    """Which steps of a case were asked for so far, in which words; no words are used twice.

    With ``give_up``, a step is asked for so many times at most, and [NOT FOUND] ends the search.
    """

    def __init__(self, case: Case, give_up: int | None = None) -> None:
        self._case, self._steps, self._give_up = case, case.steps, give_up
        self._asked: set[str] = set()
        self._times = [0] * len(case.steps)

    def askable(self, missing: Collection[int]) -> list[int]:
        """Return the missing steps whose subqueries can be put into words by now."""
        return [at for at in sorted(missing) if not set(missing) & set(self._steps[at].needs)]

    def next(
        self, missing: Collection[int], seen: Iterable[str] = ()
    ) -> tuple[Target | None, int | None]:
        """Return the plan for what is missing, and the step that it asks for.

        ``seen`` are the triples that were found: no search is given up where they hold an answer
        that the question does not name.
        """
        if not missing:
            return {"label": "SUFFICIENT"}, None
        askable = self.askable(missing)
        phrased = [(at, words) for at in askable if (words := self._phrasing(at))]
        if not phrased:
            over = self._give_up is not None and all(self._times[at] for at in askable)
            over = over and (
                has_name(self._case.question, self._case.answer)
                or not any(has_name(triple, self._case.answer) for triple in seen)
            )
            return {"label": "NOT_FOUND"} if over else None, None
        step, words = min(phrased, key=lambda one: (self._times[one[0]], one[0]))
        return {"label": "SUBQ", "subquery": words}, step

    def ask(self, subquery: str, step: int | None) -> None:
        """Note that a subquery is searched for."""
        self._asked.add(normalize_question(subquery))
        if step is not None:
            self._times[step] += 1

    def was_asked(self, subquery: str) -> bool:
        """Tell whether a subquery was searched for."""
        return normalize_question(subquery) in self._asked

    def _phrasing(self, at: int) -> str | None:
        """Return the best usable phrasing of a step that was not asked yet; none once given up."""
        if self._give_up is not None and self._times[at] >= self._give_up:
            return None
        for phrasing in self._steps[at].phrasings:
            plan = parse_plan(f"[SUBQ] {phrasing}")
            if plan.label == "SUBQ" and not self.was_asked(plan.subquery):
                return format_plan("SUBQ", plan.subquery).removeprefix("[SUBQ] ")
        return None
