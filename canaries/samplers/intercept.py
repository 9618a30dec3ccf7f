"""Runs a torch sampler on symbolic chance: its random tensors hold symbols, and each comparison is taken both ways.

A TorchFunctionMode sees every torch function that the sampler calls. Random tensors are ordinary tensors full of NaN
whose storage has a shadow: the number of a symbol for each element. What moves elements about moves those numbers;
arithmetic with known numbers makes new symbols; comparisons, an argmax over a race and draws from known laws are forks.
Whatever else touches a random tensor raises NotEnumerable, and so does chance that was drawn past the mode: never a
proof by oversight.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np
import torch
from torch import Generator, Tensor
from torch.overrides import TorchFunctionMode

from ...stats.generator import SymbolicGenerator
from ...stats.rounding import RoundingRandomness
from ...stats.symbolic import NotEnumerable
from .draws import SOURCES, names
from .nested import mapped, tensors

Operator = Callable[..., Any]

JOINS = names("cat concat concatenate stack vstack hstack")
CASTS = names("to float double cpu type type_as")
MOVES = JOINS | names(
    "__getitem__ select unsqueeze squeeze view reshape expand expand_as transpose permute t flatten contiguous "
    "clone detach unfold gather index_select take_along_dim narrow chunk split unbind movedim repeat "
    "repeat_interleave flip roll broadcast_to broadcast_tensors unflatten swapaxes"
)
LOOKS = names(
    "__get__ size dim numel nelement stride is_contiguous is_floating_point element_size __len__ get_device "
    "new_zeros new_ones new_full new_empty zeros_like ones_like full_like empty_like result_type"
)
PAIRS: dict[str, Operator] = {
    **dict.fromkeys(("lt", "less", "__lt__"), operator.lt),
    **dict.fromkeys(("le", "less_equal", "__le__"), operator.le),
    **dict.fromkeys(("gt", "greater", "__gt__"), operator.gt),
    **dict.fromkeys(("ge", "greater_equal", "__ge__"), operator.ge),
    **dict.fromkeys(("add", "__add__", "__radd__"), operator.add),
    **dict.fromkeys(("sub", "subtract", "__sub__"), operator.sub),
    **dict.fromkeys(("rsub", "__rsub__"), lambda a, b: b - a),
    **dict.fromkeys(("mul", "multiply", "__mul__", "__rmul__"), operator.mul),
    **dict.fromkeys(("div", "divide", "true_divide", "__truediv__"), operator.truediv),
    **dict.fromkeys(("__rdiv__", "__rtruediv__"), lambda a, b: b / a),
}
SINGLES: dict[str, Operator] = {
    **dict.fromkeys(("neg", "negative", "__neg__"), operator.neg),
    "log": lambda x: x.log(),
}
WIDE = frozenset({torch.float32, torch.float64})
"""Types in which a random number is near enough to the one that is meant."""
COMPARES = frozenset({operator.lt, operator.le, operator.gt, operator.ge})


class Intercept(TorchFunctionMode):
    """The mode, for one path."""

    def __init__(self, chance: RoundingRandomness, generator: Generator | None) -> None:
        super().__init__()
        self.chance = chance
        self._generator = generator  # where chance must come from; None: from anywhere
        self._symbols: list[Any] = []
        self._shadows: dict[int, tuple[Tensor, Tensor]] = {}  # the tensor is kept, so that its storage is not used anew

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """What `func` does, on symbols where an argument is random."""
        del types
        kwargs, name = dict(kwargs or {}), getattr(func, "__name__", str(func))
        if name in SOURCES:
            if self._generator not in (None, kwargs.get("generator")):
                raise NotEnumerable(f"the sampler calls torch's {name} without the generator that it was given")
            return SOURCES[name](self, func, *args, **kwargs)
        if name in LOOKS or not any(self.random(x) for x in tensors((args, kwargs))):
            return func(*args, **kwargs)
        if name in MOVES | CASTS:
            return self._moved(func, name, args, kwargs)
        bare = name.removesuffix("_") if not name.startswith("__") else name
        if bare in PAIRS and len(args) == 2 and not kwargs:  # noqa: PLR2004 - both sides
            return self._pair(PAIRS[bare], args, in_place=bare != name)
        if bare in SINGLES and not kwargs:
            found = [SINGLES[bare](element) for element in self.elements(args[0])]
            return self.hold(args[0] if bare != name else torch.empty_like(args[0]), found)
        if name in OTHERS:
            return OTHERS[name](self, *args, **kwargs)
        raise NotEnumerable(f"the sampler calls torch's {name} on random numbers, which cannot be followed exactly")

    def random(self, x: Tensor) -> bool:
        """Whether `x` holds symbols."""
        return x.numel() > 0 and x.untyped_storage().data_ptr() in self._shadows

    def elements(self, x: Tensor) -> list[Any]:
        """The symbols or numbers of `x`, flat."""
        if not self.random(x):
            return list(x.detach().reshape(-1).tolist())
        return [self._symbols[number] for number in self._numbers(x).reshape(-1).tolist()]

    def hold(self, x: Tensor, elements: Sequence[Any]) -> Tensor:
        """`x`, which holds these from now on; views of it see them too."""
        if not x.numel():
            return x
        if x.dtype not in WIDE:
            raise NotEnumerable(f"the sampler holds random numbers as {x.dtype}, whose rounding cannot be followed")
        self._numbers(x).copy_(self._numbered(elements).reshape(x.shape))
        x.detach().fill_(float("nan"))
        return x

    def _numbered(self, elements: Sequence[Any]) -> Tensor:
        first = len(self._symbols)
        self._symbols.extend(elements)
        return torch.arange(first, len(self._symbols))

    def _numbers(self, x: Tensor) -> Tensor:
        """The number of each element of `x`: a view into the shadow of its storage."""
        storage = x.untyped_storage()
        key = storage.data_ptr()
        if key not in self._shadows:
            whole = torch.empty(0, dtype=x.dtype).set_(storage)
            self._shadows[key] = x, self._numbered(whole.tolist())
        return self._shadows[key][1].as_strided(x.shape, x.stride(), x.storage_offset())

    def _moved(self, func: Any, name: str, args: Any, kwargs: Any) -> Any:
        """`func`, which changes where elements stand and nothing else."""
        out = func(*args, **kwargs)
        if all(self.random(x) for x in tensors(out)):
            return out  # views
        if name in CASTS:
            if out.dtype not in WIDE:
                raise NotEnumerable("the sampler rounds random numbers, which cannot be followed exactly")
            numbers = self._numbers(args[0])
        else:
            numbers = func(*mapped(args, lambda x: self._as_numbers(x, joined=name in JOINS)), **kwargs)
        self._numbers(out).copy_(numbers)
        return out

    def _as_numbers(self, x: Tensor, *, joined: bool) -> Tensor:
        """What stands for `x` when numbers are moved: known values that are joined get numbers, indices stay."""
        if self.random(x):
            return self._numbers(x)
        return self._numbered(x.reshape(-1).tolist()).reshape(x.shape) if joined else x

    def _pair(self, op: Operator, args: Any, *, in_place: bool) -> Tensor:
        left, right = (x if isinstance(x, Tensor) else torch.as_tensor(x, dtype=torch.float64) for x in args)
        shape = _shape(left.shape, right.shape)
        pairs = zip(*(self.elements(x.expand(shape)) for x in (left, right)), strict=True)
        found = [op(a, b) for a, b in pairs]
        if op in COMPARES:
            return torch.tensor(found, dtype=torch.bool).reshape(shape)
        dtype = torch.result_type(*args)
        return self.hold(args[0] if in_place else torch.empty(shape, dtype=dtype), found)

    def item(self, x: Tensor) -> Any:
        """The one element, as the symbol that it is."""
        (element,) = self.elements(x)
        return element

    def tolist(self, x: Tensor) -> Any:
        """The elements as symbols, in lists as deep as `x`."""
        return self.item(x) if not x.dim() else [self.tolist(row) if row.dim() else self.item(row) for row in x]

    def max(self, x: Tensor, *args: Any, **kwargs: Any) -> Any:
        """`torch.max` along a dimension."""
        return self._extreme(x, operator.gt, torch.return_types.max, *args, **kwargs)

    def min(self, x: Tensor, *args: Any, **kwargs: Any) -> Any:
        """`torch.min` along a dimension."""
        return self._extreme(x, operator.lt, torch.return_types.min, *args, **kwargs)

    def _extreme(self, x: Tensor, better: Operator, made: Any, dim: Any = None, keepdim: bool = False) -> Any:  # noqa: FBT001, FBT002
        """Values and places. The value of one that won is itself; of a pair of tensors nothing is known."""
        if not isinstance(dim, int):
            raise NotEnumerable("the sampler takes the largest or smallest of random numbers without a dimension")
        places = self._best(x, dim, better, keepdim=True)
        values = self._moved(torch.take_along_dim, "take_along_dim", (x, places, dim), {})
        return made((values, places) if keepdim else (values.squeeze(dim), places.squeeze(dim)))

    def where(self, condition: Tensor, x: Any, y: Any) -> Tensor:
        """Elements of one or the other; `x.where(condition, y)` comes in another order."""
        if condition.dtype is not torch.bool:
            condition, x = x, condition
        left, right = (v if isinstance(v, Tensor) else torch.as_tensor(v, dtype=torch.float64) for v in (x, y))
        shape = _shape(condition.shape, left.shape, right.shape)
        a, b = (self.elements(v.expand(shape)) for v in (left, right))
        picked = [i if c else j for c, i, j in zip(condition.expand(shape).reshape(-1).tolist(), a, b, strict=True)]
        return self.hold(torch.empty(shape, dtype=torch.result_type(left, right)), picked)

    def masked_fill(self, x: Tensor, mask: Tensor, value: Any) -> Tensor:
        """`x` with `value` where `mask` says so."""
        return self.where(mask, value, x)

    def clamp(self, x: Tensor, min: Any = None, max: Any = None) -> Tensor:  # noqa: A002 - torch's
        """`x` held between two numbers: a fork at each."""
        found = self.elements(x)
        for bound, beyond in ((min, operator.lt), (max, operator.gt)):
            if bound is not None:
                edge = bound if isinstance(bound, Tensor) else torch.as_tensor(bound, dtype=torch.float64)
                edges = self.elements(edge.expand(x.shape))
                found = [b if beyond(a, b) else a for a, b in zip(found, edges, strict=True)]
        return self.hold(torch.empty_like(x), found)

    def write(self, x: Tensor, place: Any, value: Any) -> None:
        """`x[place] = value`."""
        view = x[place]
        if view.untyped_storage().data_ptr() != x.untyped_storage().data_ptr():
            raise NotEnumerable("the sampler writes random numbers to places that it looks up")
        known = value if isinstance(value, Tensor) else torch.as_tensor(value, dtype=torch.float64)
        self.hold(view, self.elements(known.expand(view.shape)))

    def copy(self, x: Tensor, value: Tensor) -> Tensor:
        """`x.copy_(value)`."""
        self.write(x, ..., value)
        return x

    def argmax(self, x: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:  # noqa: FBT001, FBT002
        """The place of the largest, one comparison after the other."""
        return self._best(x, dim, operator.gt, keepdim=keepdim)

    def argmin(self, x: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:  # noqa: FBT001, FBT002
        """The place of the smallest."""
        return self._best(x, dim, operator.lt, keepdim=keepdim)

    def _best(self, x: Tensor, dim: int | None, better: Operator, *, keepdim: bool) -> Tensor:
        rows = x.reshape(1, -1) if dim is None else x.movedim(dim, -1)
        elements, size = self.elements(rows), rows.shape[-1]
        found = []
        for start in range(0, len(elements), size):
            best = start
            for place in range(start + 1, start + size):
                best = place if better(elements[place], elements[best]) else best
            found.append(best - start)
        out = torch.tensor(found).reshape(rows.shape[:-1])
        if dim is None:
            return out.reshape(())
        return out.unsqueeze(dim) if keepdim else out

    def searchsorted(self, edges: Tensor, x: Tensor, *, right: bool = False, side: str = "left") -> Tensor:
        """How many of the sorted `edges` lie below each element."""
        if self.random(edges):
            raise NotEnumerable("the sampler searches among random numbers")
        above = operator.ge if right or side == "right" else operator.gt
        rows = edges.expand(*x.shape[:-1], edges.shape[-1]).reshape(-1, edges.shape[-1]).tolist()
        elements, width = self.elements(x), x.shape[-1] if x.dim() else 1
        found = [sum(above(element, edge) for edge in rows[i // width]) for i, element in enumerate(elements)]
        return torch.tensor(found).reshape(x.shape)


OTHERS: dict[str, Operator] = {
    "item": Intercept.item,
    "tolist": Intercept.tolist,
    "max": Intercept.max,
    "min": Intercept.min,
    "where": Intercept.where,
    "masked_fill": Intercept.masked_fill,
    **dict.fromkeys(("clamp", "clip", "clamp_min"), Intercept.clamp),
    "__setitem__": Intercept.write,
    "copy_": Intercept.copy,
    "argmax": Intercept.argmax,
    "argmin": Intercept.argmin,
    "searchsorted": Intercept.searchsorted,
}


class SymbolicSource(Generator):
    """A torch generator that nothing is drawn from; adapters for numpy take its `numpy_generator` instead."""

    numpy_generator: SymbolicGenerator

    def _read(self, *_: Any) -> NoReturn:
        raise NotEnumerable("the sampler reads or sets the state of its generator, which cannot be followed exactly")

    get_state = initial_seed = seed = clone_state = _read
    set_state = manual_seed = _read  # type: ignore[assignment]


def intercepted(call: Callable[[Generator], Any], chance: RoundingRandomness, *, strict: bool = True) -> Any:
    """What `call(generator)` returns on symbolic chance. Raises NotEnumerable where it cannot be followed.

    Unless not `strict`, all chance must come from that generator: of another's stream nothing is known.
    """
    generator = SymbolicSource()
    generator.numpy_generator = SymbolicGenerator(chance)
    before = Generator.get_state(generator), torch.get_rng_state()
    with Intercept(chance, generator if strict else None) as mode:
        out = call(generator)
    after = Generator.get_state(generator), torch.get_rng_state()
    if not all(torch.equal(a, b) for a, b in zip(before, after, strict=True)):
        raise NotEnumerable("the sampler draws chance in a way that cannot be seen from outside")
    if any(mode.random(x) for x in tensors(out)):
        raise NotEnumerable("the sampler returns random numbers, not tokens")
    return out


def _shape(*shapes: torch.Size) -> torch.Size:
    return torch.Size(np.broadcast_shapes(*shapes))  # torch's own imports seconds of its compiler
