"""What can go wrong in the engine, as a user may cause it.

EngineError (ValueError)          exit status 2
  + ModelMissing                  no model in that folder
  + ModelRefused                  the model cannot be scored as the engine needs
  + TemplateUnfit                 a conversation that the model's chat template cannot put into words
  + VocabularyMismatch            a draft that does not speak the target's tokens
  + PromptTooLong                 prompt and answer do not fit the context
  + OutOfBlocks                   the cache's pool has fewer free blocks than a pass needs
  + LogitsNotFinite               the model answered with NaN: exit status 3, nothing could be judged
"""

from __future__ import annotations


class EngineError(ValueError):
    """A caller's mistake; the message is one line that says what, which value and what to do."""

    exit_status = 2


class ModelMissing(EngineError):
    """There is no loadable model where one was named."""


class ModelRefused(EngineError):
    """The mask probe failed, or the architecture cannot be scored at explicit positions."""


class TemplateUnfit(EngineError):
    """The model has no chat template for such a conversation, or one that refuses or drops a part of it."""


class VocabularyMismatch(EngineError):
    """Draft and target number their tokens differently."""


class PromptTooLong(EngineError):
    """Prompt and requested answer exceed the model's context."""


class OutOfBlocks(EngineError):
    """The pool has not as many free blocks as were asked for; nothing was taken."""


class LogitsNotFinite(EngineError):
    """The model returned NaN or +inf, or ruled out every token."""

    exit_status = 3
