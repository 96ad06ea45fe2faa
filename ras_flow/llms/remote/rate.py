"""A chat model's own limit of calls a second."""

from __future__ import annotations

from langchain_core.rate_limiters import BaseRateLimiter

from ras_flow.llms.remote.retry import untimed


class UntimedRate(BaseRateLimiter):
    """A rate limiter that is waited for outside of the model's time.

    LangChain waits for it within each call that its cache does not answer.
    """

    def __init__(self, limiter: BaseRateLimiter) -> None:
        self._limiter = limiter

    def acquire(self, *, blocking: bool = True) -> bool:
        """Wait as the limiter does."""
        return self._limiter.acquire(blocking=blocking)

    async def aacquire(self, *, blocking: bool = True) -> bool:
        """Wait as the limiter does, while the attempt's time stands still."""
        with untimed():
            return await self._limiter.aacquire(blocking=blocking)
