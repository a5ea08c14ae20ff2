"""What a session knows of its models: token count ratios, smaller context sizes, refused images, how calls are made."""

import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Self

from agentcore.chat.chat_limits import CONTEXT_TOKENS_MIN

_MODELS_KEPT = 8
_REFUSED_KEPT = 64
_COUNTED_FROM = 1000
"""Tokens; in a shorter request, what providers add themselves is too large a share."""

_PLAUSIBLE = (0.4, 4.0)
"""Counts outside this range, relative to the estimate, do not cover the whole request: some omit cached tokens."""

_NEWS = 0.05


class _Learned(NamedTuple):
    scale: float = 1.0
    limit: int | None = None
    takes_pictures: bool = True
    writes_calls: bool = False
    is_known_to_drop_tools: bool = False
    refused: Sequence[str] = ()
    stated: int | None = None


class ModelScales:
    """Token scales and context limits by model; those of the models that were used last are kept.

    Attributes:
        has_news: True if there are changes that are not stored.
    """

    def __init__(self, known: dict[str, _Learned] | None = None) -> None:
        self._known = known or {}
        self.has_news = False

    @classmethod
    def from_json_text(cls, stored: str | None) -> Self:
        """Parse the stored form."""
        entries: dict[str, Any] = json.loads(stored or "{}")
        return cls({model: _Learned(*entry) for model, entry in entries.items()})

    def to_json_text(self) -> str:
        """Serialise to JSON text for the store, and reset `has_news`."""
        self.has_news = False
        return json.dumps(self._known, ensure_ascii=False)

    def find_token_scale(self, model: str) -> float:
        """Return how many tokens the model counts for each estimated one."""
        return self._find_learned(model).scale

    def find_context_limit(self, model: str, stated: int | None) -> int | None:
        """Return the context size in tokens that refusals have shown; None if the model has not refused.

        What was learned applies to the size that was stated then: once the settings or the provider state another one,
        it is forgotten.

        Args:
            stated: The size according to the settings or the provider; None: neither says it.
        """
        learned = self._find_learned(model)
        if learned.limit is not None and stated is not None and stated != learned.stated:
            learned = learned._replace(limit=None, stated=None)
            self._store_learned(model, learned)
        return learned.limit

    def accepts_images(self, model: str) -> bool:
        """True unless the model's provider has refused images."""
        return self._find_learned(model).takes_pictures

    def writes_calls(self, model: str) -> bool:
        """True if the user chose that the model writes its calls."""
        return self._find_learned(model).writes_calls

    def record_written_calls(self, model: str) -> None:
        """Record that the user chose that the model writes its calls."""
        self._store_learned(model, self._find_learned(model)._replace(writes_calls=True))

    def record_dropped_tools(self, model: str) -> bool:
        """Record that the model's server drops tools; return True if that was known."""
        was_known = self._find_learned(model).is_known_to_drop_tools
        self._store_learned(model, self._find_learned(model)._replace(is_known_to_drop_tools=True))
        return was_known

    def record_refused_images(self, model: str) -> None:
        """Record that the provider refuses every image."""
        self._store_learned(model, self._find_learned(model)._replace(takes_pictures=False))

    def find_refused_images(self, model: str) -> Sequence[str]:
        """Return the digests of images that the model's provider has refused, oldest first."""
        return self._find_learned(model).refused

    def record_refused_digests(self, model: str, digests: Iterable[str]) -> None:
        """Record the digests of images that the provider refused, while it accepts others."""
        learned = self._find_learned(model)
        refused = [*dict.fromkeys([*learned.refused, *digests])][-_REFUSED_KEPT:]
        self._store_learned(model, learned._replace(refused=refused))

    def record_token_count(self, model: str, estimated: int, counted: int) -> None:
        """Record the provider's count of a request's tokens, cached ones included, and the estimate."""
        scale = counted / max(estimated, 1)
        if estimated >= _COUNTED_FROM and _PLAUSIBLE[0] <= scale <= _PLAUSIBLE[1]:
            self._store_learned(model, self._find_learned(model)._replace(scale=scale))

    def record_length_refusal(
        self, model: str, estimated: int, limit: int, named: int | None, stated: int | None = None
    ) -> int:
        """Record that the provider refused a request as too long; return the context size assumed from now on.

        Args:
            model: The model.
            estimated: The estimated tokens of the request.
            limit: The context size assumed until now.
            named: The context size that the provider named in the refusal.
            stated: As in `find_context_limit`.
        """
        size = round(estimated * self.find_token_scale(model))
        lowered = max(named if named is not None else min(limit, size * 9 // 10), CONTEXT_TOKENS_MIN)
        # a refused request is longer than the context, whatever the estimate says
        scale = self.find_token_scale(model) if size > lowered else min(lowered / max(estimated, 1), _PLAUSIBLE[1])
        learned = self._find_learned(model)
        self._store_learned(model, learned._replace(scale=max(scale, learned.scale), limit=lowered, stated=stated))
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
