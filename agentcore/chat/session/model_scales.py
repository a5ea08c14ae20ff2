"""What a session has learned of its models: how they count tokens, shorter contexts, and who takes no pictures."""

import json
from typing import Any, NamedTuple, Self

from agentcore.chat.bounds import CONTEXT_TOKENS_MIN

_MODELS_KEPT = 8
_COUNTED_FROM = 1000
"""Tokens; of a shorter request, what providers add by themselves is too large a share."""

_PLAUSIBLE = (0.4, 4.0)
"""Counts beyond that many times the estimate are none of the whole request: some leave out what was in their cache."""

_NEWS = 0.05


class _Learned(NamedTuple):
    scale: float = 1.0
    limit: int | None = None
    takes_pictures: bool = True


class ModelScales:
    """Scales and contexts by model; those of the models that were asked last are kept.

    Attributes:
        has_news: Whether there is something that is not stored.
    """

    def __init__(self, known: dict[str, _Learned] | None = None) -> None:
        self._known = known or {}
        self.has_news = False

    @classmethod
    def from_json_text(cls, stored: str | None) -> Self:
        """As it was stored."""
        entries: dict[str, Any] = json.loads(stored or "{}")
        return cls({model: _Learned(*entry) for model, entry in entries.items()})

    def to_json_text(self) -> str:
        """As it is stored; JSON text."""
        self.has_news = False
        return json.dumps(self._known, ensure_ascii=False)

    def find_token_scale(self, model: str) -> float:
        """How many tokens the model counts for each that was estimated."""
        return self._find_learned(model).scale

    def find_context_limit(self, model: str) -> int | None:
        """The context that the model's refusals have shown, in tokens; None: it has not refused."""
        return self._find_learned(model).limit

    def accepts_images(self, model: str) -> bool:
        """Whether the model's provider has not refused pictures."""
        return self._find_learned(model).takes_pictures

    def record_refused_images(self, model: str) -> None:
        """The provider has refused a request for its pictures."""
        self._store_learned(model, self._find_learned(model)._replace(takes_pictures=False))

    def record_token_count(self, model: str, estimated: int, counted: int) -> None:
        """The provider has counted the tokens of a request, cached ones included, that were estimated."""
        scale = counted / max(estimated, 1)
        if estimated >= _COUNTED_FROM and _PLAUSIBLE[0] <= scale <= _PLAUSIBLE[1]:
            self._store_learned(model, self._find_learned(model)._replace(scale=scale))

    def record_length_refusal(self, model: str, estimated: int, limit: int, named: int | None) -> int:
        """The provider has refused a request as too long; gives the context that is believed from now on.

        Args:
            model: The model.
            estimated: The tokens of the request, as estimated.
            limit: The context that was believed until now.
            named: The context that the provider named.
        """
        size = round(estimated * self.find_token_scale(model))
        lowered = max(named if named is not None else min(limit, size * 9 // 10), CONTEXT_TOKENS_MIN)
        # what was refused is longer than the context, whatever the estimate says
        scale = self.find_token_scale(model) if size > lowered else min(lowered / max(estimated, 1), _PLAUSIBLE[1])
        self._store_learned(
            model, self._find_learned(model)._replace(scale=max(scale, self.find_token_scale(model)), limit=lowered)
        )
        return lowered

    def _find_learned(self, model: str) -> _Learned:
        return self._known.get(model, _Learned())

    def _store_learned(self, model: str, learned: _Learned) -> None:
        before = self._known.pop(model, None)
        self._known[model] = learned
        while len(self._known) > _MODELS_KEPT:
            del self._known[next(iter(self._known))]
        if before is None or before[1:] != learned[1:] or abs(learned.scale / before.scale - 1) > _NEWS:
            self.has_news = True
