"""Words that stand for something else: a fact about "he" is a fact about nobody."""

from __future__ import annotations

PRONOUNS = frozenset(
    "he she it they him them his her hers its their theirs himself herself itself themselves i me "
    "my we us our you your this that these those who whom whose which what one someone somebody "
    "something everyone everybody nobody".split()
)


def is_pronoun(name: str) -> bool:
    """Tell whether a name is nothing but a pronoun, in any letter case.

    Args:
        name: A subject or object.

    Returns:
        True for "She", "its" and the like; False for names that only contain one.
    """
    return name.strip(" .,;:'\"").casefold() in PRONOUNS
