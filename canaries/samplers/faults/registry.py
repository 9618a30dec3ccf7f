"""Every wrong sampler with the fault that it stands for, and every innocent one: what the judge is measured with."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ..interface import Pair, Sampler
from . import chance, drafts, innocent, rules

Made = Callable[[], Sampler | Pair]


class Row(NamedTuple):
    """One sampler. `codes`: of the catalogue of faults, A for those of the anchors' table, N for innocent ones."""

    name: str
    codes: tuple[str, ...]
    summary: str
    make: Made
    reference: Sampler | Pair | None = None


def _same(sampler: Sampler | Pair) -> Made:
    return lambda: sampler


def _row(name: str, codes: str, summary: str, sampler: Sampler | Pair) -> Row:
    return Row(name, tuple(codes.split()), summary, _same(sampler))


def _tempered(factor: float, code: str) -> Row:
    made = rules.with_target(rules.tempered(factor))
    return _row(f"temperature-{factor}", code, f"the target's temperature is {factor} times what it should be", made)


def _lenient(more: float) -> Row:
    return _row(f"lenient-{more}", "A", f"accepts {more} times as often as it should", rules.lenient(more))


FAULTS: tuple[Row, ...] = (
    _row("accept-everything", "A F05", "keeps every draft token", rules.accept_everything),
    _row("residual-is-p", "A F06", "after a rejection draws from p", rules.with_residual(lambda p, _: p)),
    _row("residual-is-q", "A F06", "after a rejection draws from q", rules.with_residual(lambda _, q: q)),
    _row("residual-reversed", "A F06", "residual (q - p)+", rules.with_residual(lambda p, q: (q - p).clamp(min=0))),
    _row("residual-absolute", "A F06", "residual |p - q|", rules.with_residual(lambda p, q: (p - q).abs())),
    _row(
        "residual-argmax",
        "A F06",
        "the likeliest of the residual",
        rules.with_residual(lambda p, q: rules.likeliest((p - q).clamp(min=0))),
    ),
    _row("equality-resample", "A F05", "accepts where samples agree, else draws again", rules.equality),
    _row("greedy-draft", "A F03", "drafts the likeliest, reports softmax", Pair(drafts.likeliest, innocent.token)),
    _row("argmax", "A F04", "the target is taken at T = 0", rules.with_target(rules.sharp)),
    _tempered(1.02, "A"),
    _tempered(1.05, "A"),
    _tempered(1.1, "A"),
    _tempered(1.2, "A"),
    _tempered(1.43, "F04"),
    _lenient(1.02),
    _lenient(1.05),
    _lenient(1.1),
    _lenient(1.25),
    _row("bonus-from-draft", "A", "the last token comes from the draft's law", rules.bonus_from_draft),
    _row("uniform-for-all-positions", "A", "one uniform a round", chance.with_uniforms(chance.shared_by_positions)),
    _row("row-before", "A", "laws one position late", rules.with_target(rules.row_before)),
    _row(
        "uniforms-of-every-call", "A F22", "seeds itself anew each call", chance.with_uniforms(chance.shared_by_calls)
    ),
    Row("reused-noise", ("F01",), "accepts by the uniforms that drafted", drafts.reused_noise),
    _row("filtered-draft", "F02", "q stated without the filter", Pair(drafts.drawn_filtered, innocent.token)),
    _row("over-the-largest", "F05", "accepts with p(x) / max(p)", rules.over_the_largest),
    _row("block-token-residual", "F06", "block acceptance, token residual", rules.block_with_token_residual),
    _row("filter-on-last-row", "F07", "filters on the last row only", rules.with_target(rules.unfiltered)),
    _row("left-over-q", "F08", "q of an earlier batch", rules.with_draft(rules.left_over)),
    _row("row-of-another", "F09", "laws of another request", rules.with_target(rules.row_of_another)),
    _row("nan-row", "F10", "a NaN row in a hundred gives token 0", rules.nan_rows),
    Row("bfloat16-draft", ("F11",), "draws in bfloat16", _same(drafts.rounded_pair), drafts.honest_pair),
    _row("half-precision", "F11", "ratios in float16", rules.in_half_precision),
    _row("writes-to-target", "F12", "changes p in place", rules.writes_to_target),
    _row("uniforms-zero", "F13", "u is always 0", chance.with_uniforms(chance.zeros)),
    _row("uniforms-clipped", "F13", "u is never above 0.9", chance.with_uniforms(chance.clipped)),
    _row("first-token-argmax", "F18", "the first position's law at T = 0", rules.with_target(rules.sharp_first)),
    _row("naive-tree", "F19", "siblings tested against the whole of p", drafts.naive_tree),
    _row("tree-not-renormalised", "F19", "distinct siblings, q not renormalised", drafts.not_renormalised),
    _row("last-of-equals", "F20", "at T = 0 takes the last of equal maxima", rules.last_of_equals),
    _row("threshold", "F21", "accepts whatever has p above 0.09", rules.above_a_threshold),
    _row("global-generator", "F22", "ignores its generator", chance.from_the_global_generator),
    _row("clock-seed", "F22", "seeds itself from the system", chance.from_the_clock),
    _row("rows-share-a-stream", "F23", "every row has the same uniforms", chance.with_uniforms(chance.shared_by_rows)),
    _row("antithetic-rows", "F23", "half of the rows have 1 - u", chance.with_uniforms(chance.antithetic)),
    _row("overlapping-streams", "F23", "rows overlap in one stream", chance.with_uniforms(chance.overlapping)),
    _row("rows-repeat", "F23", "uniforms repeat after 1,000 rows", chance.with_uniforms(chance.repeating(1000))),
    _row("last-repeats", "F23", "only the last one does", chance.with_uniforms(chance.repeating_last(1000))),
)
INNOCENT: tuple[Row, ...] = (
    _row("token", "N", "the token rule", innocent.token),
    _row("block", "N", "block verification", innocent.block),
    _row("resample-until-disagree", "N", "the target's own samples while they agree", innocent.resample_until_disagree),
    _row("no-bonus", "N", "nothing after a full acceptance", innocent.no_bonus),
    _row("ignore-draft", "N", "plain decoding", innocent.ignore_draft),
    _row("multi-draft", "N", "siblings with replacement", innocent.multi_draft),
    _row("multi-draft-distinct", "N", "siblings without replacement", innocent.multi_draft_distinct),
    _row("assumed-chosen", "N", "drawn drafts taken for chosen ones: slower, not wrong", innocent.assumed_chosen),
    _row("other-order", "N N06", "chance used in another order", innocent.other_order),
    _row("own-uniforms", "N", "the token rule by inversion", chance.with_uniforms(chance.fresh)),
    _row("honest-pair", "N", "a drafter that reports its law", drafts.honest_pair),
    _row("chosen-pair", "N N13", "drafts chosen and reported as one-hot", drafts.chosen_pair),
    _row("greedy", "N", "at T = 0 takes the first of equal maxima", innocent.greedy_chain),
    _row("honest-tree", "N", "the multi-draft rule in plain Python", drafts.honest_tree),
)
BY_NAME = {row.name: row for row in (*FAULTS, *INNOCENT)}
