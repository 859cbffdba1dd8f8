"""Callback: what training calls at its beginnings and ends, and the run it tells about."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from dist_ms.common.checks import check_type

OLD_MOMENTS = ("begin", "epoch_begin", "step_begin", "step_end", "epoch_end", "end")
MOMENTS = tuple(f"on_{mode}_{moment}" for mode in ("train", "eval") for moment in OLD_MOMENTS)


class Callback:
    """Base class of callbacks: override the moments of interest.

    Each method gets a `RunContext`; `original_args()` has what is known about the run:
    `cur_epoch_num`, `cur_step_num`, `batch_num`, `epoch_num`, `net_outputs`, `network`,
    `train_network`, `optimizer` and so on. The older names without "on_train_"
    (`begin`, `epoch_begin`, `step_begin`, `step_end`, `epoch_end`, `end`) work as well.

    In a data-parallel job every rank calls its own callbacks. When one asks to stop, all ranks
    stop after the same step; what a rank prints or writes is its own affair.

    Attributes:
        meets_ranks: the callback talks to its like on the other ranks.
        stops_steps: it may ask to stop after any step, so ranks must ask each other after every
            step. Classes outside of dist_ms may whenever they override a step's moment.
        comes_last: the others are called before it at every moment.
        state_names: the attributes that change while training, for a run that is saved and resumed.
        in_evaluations_of_fit: whether one of dist_ms' own is told of the evaluations of `Model.fit`; users' all are.

    Examples:
        >>> import dist_ms as ms
        >>> class Steps(ms.train.Callback):
        ...     def on_train_step_end(self, run_context):
        ...         print("step", run_context.original_args().cur_step_num)
    """

    meets_ranks = False
    stops_steps = False
    comes_last = False
    state_names: tuple[str, ...] = ()
    in_evaluations_of_fit = False

    def state_dict(self) -> dict[str, Any]:
        """What a resumed run must know of this one: the attributes in `state_names`; others override it."""
        return {name: getattr(self, name) for name in self.state_names}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go back to what `state_dict` returned; called after `on_train_begin`."""
        for name in self.state_names:
            if name in state:
                setattr(self, name, state[name])

    def __enter__(self) -> Callback:
        return self

    def __exit__(self, *exc: Any) -> Any:
        """Be told that the run is over, also after an exception."""

    def introduce(self) -> tuple[Any, Any]:
        """Return what must be equal on all ranks for them to talk, and what others must know of this rank.

        Both are pickled, once per run.
        """
        return None, None

    def begin(self, run_context: RunContext) -> None:
        """Before the first epoch (older name)."""

    def epoch_begin(self, run_context: RunContext) -> None:
        """Before an epoch (older name)."""

    def epoch_end(self, run_context: RunContext) -> None:
        """After an epoch (older name)."""

    def step_begin(self, run_context: RunContext) -> None:
        """Before a step (older name)."""

    def step_end(self, run_context: RunContext) -> None:
        """After a step (older name)."""

    def end(self, run_context: RunContext) -> None:
        """After the last epoch (older name)."""

    def on_train_begin(self, run_context: RunContext) -> None:
        """Before training."""
        self.begin(run_context)

    def on_train_epoch_begin(self, run_context: RunContext) -> None:
        """Before a training epoch."""
        self.epoch_begin(run_context)

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        """After a training epoch."""
        self.epoch_end(run_context)

    def on_train_step_begin(self, run_context: RunContext) -> None:
        """Before a training step."""
        self.step_begin(run_context)

    def on_train_step_end(self, run_context: RunContext) -> None:
        """After a training step."""
        self.step_end(run_context)

    def on_train_end(self, run_context: RunContext) -> None:
        """After training."""
        self.end(run_context)

    def on_train_interrupted(self, run_context: RunContext) -> None:
        """After the step at which all ranks stop on a signal, before `on_train_end`; then the process ends.

        The fact `interrupted` is True. What saves the run sets the fact `saved_to`, which is shown to the user.
        """

    def on_eval_begin(self, run_context: RunContext) -> None:
        """Before evaluation."""
        self.begin(run_context)

    def on_eval_epoch_begin(self, run_context: RunContext) -> None:
        """Before the evaluation epoch."""
        self.epoch_begin(run_context)

    def on_eval_epoch_end(self, run_context: RunContext) -> None:
        """After the evaluation epoch."""
        self.epoch_end(run_context)

    def on_eval_step_begin(self, run_context: RunContext) -> None:
        """Before an evaluation step."""
        self.step_begin(run_context)

    def on_eval_step_end(self, run_context: RunContext) -> None:
        """After an evaluation step."""
        self.step_end(run_context)

    def on_eval_end(self, run_context: RunContext) -> None:
        """After evaluation."""
        self.end(run_context)


class _UnknownFact(AttributeError, KeyError):
    """A fact that a run does not have: MindSpore raises KeyError, `hasattr` needs AttributeError."""

    __str__ = Exception.__str__


class CallbackParameters(dict):
    """What callbacks know about a run, readable as attributes."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise _UnknownFact(
                f"For 'original_args', '{name}' must be a fact of this run, one of {sorted(self)}."
            ) from None

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value


class RunContext:
    """Tells callbacks about a run and lets them end it.

    Args:
        original_args: the run's facts.

    Raises:
        TypeError: if they are no dict.

    Examples:
        >>> import dist_ms as ms
        >>> context = ms.train.RunContext({"cur_epoch_num": 4})
        >>> context.request_stop()
        >>> context.get_stop_requested(), context.original_args()["cur_epoch_num"]
        (True, 4)
    """

    def __init__(self, original_args: dict) -> None:
        check_type(original_args, "original_args", "RunContext", dict)
        self._original_args = original_args
        self._stop_requested = False

    def original_args(self) -> Any:
        """Return the run's facts."""
        return self._original_args

    def request_stop(self) -> None:
        """End the run after this step."""
        self._stop_requested = True

    def get_stop_requested(self) -> bool:
        """Return whether a callback asked to end the run."""
        return self._stop_requested


class CallbackList(Callback):
    """Calls several callbacks in order: it has every method of theirs.

    A callback whose `__enter__` returns another callback is replaced by that one.

    Args:
        callbacks: one callback, a list of them, or None.

    Raises:
        TypeError: if something is no Callback.
    """

    def __init__(self, callbacks: Any) -> None:
        if isinstance(callbacks, Callback):
            callbacks = [callbacks]
        if callbacks is not None and not isinstance(callbacks, list):
            found = type(callbacks).__name__
            raise TypeError(f"The 'callbacks' must be a Callback or a list of them, but got {found}.")
        self.callbacks: list[Callback] = sorted(callbacks or (), key=lambda c: getattr(c, "comes_last", False))
        for callback in self.callbacks:
            if not isinstance(callback, Callback):
                raise TypeError(
                    "When the 'callbacks' is a list, the elements in 'callbacks' must be Callback functions, but got "
                    f"{type(callback).__name__}."
                )
        self._stack = ExitStack()

    def __enter__(self) -> CallbackList:
        with ExitStack() as stack:
            entered = [(callback, stack.enter_context(callback)) for callback in self.callbacks]
            self.callbacks = [new if isinstance(new, Callback) else old for old, new in entered]
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *exc: Any) -> Any:
        return self._stack.__exit__(*exc)


def _to_all(moment: str) -> Callable:
    def call(self: CallbackList, run_context: RunContext) -> None:
        for callback in self.callbacks:
            getattr(callback, moment)(run_context)

    call.__doc__ = f"Call `{moment}` of every callback."
    return call


for _moment in (*OLD_MOMENTS, *MOMENTS, "on_train_interrupted"):
    setattr(CallbackList, _moment, _to_all(_moment))
