"""The loops of Model: over epochs and batches, telling callbacks and, after all, metrics."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from contextlib import ExitStack
from time import perf_counter
from typing import Any, NoReturn

import numpy as np

from dist_ms import elastic, interruption
from dist_ms.common.lanes import lanes, span
from dist_ms.common.progress import progress
from dist_ms.common.settings.parallel_context import ParallelMode, get_auto_parallel_context, is_set
from dist_ms.common.tensor import Tensor
from dist_ms.communication import get_group_size, rank_has_died
from dist_ms.nn.cell import Cell
from dist_ms.nn.wrap.train_step import TrainOneStepCell
from dist_ms.parallel import status_file
from dist_ms.train.batches import Batches
from dist_ms.train.callback.callback import Callback, CallbackList, CallbackParameters, RunContext
from dist_ms.train.callback.outputs import number_of
from dist_ms.train.callback.ranks import Ranks
from dist_ms.train.metrics import Loss, Metric
from dist_ms.train.metrics.merging import merge_metrics
from dist_ms.train.state.model_run import goes_on, resume_run
from dist_ms.train.survival import Survival


class Loops:
    """What runs batches for a Model.

    Args:
        network: the network of the model.
        train_network: runs one training step.
        loss_fn, optimizer, loss_scale_manager: the model's, or None.
        metrics: by name.
        eval_network: runs one evaluation step.
        eval_indexes: positions of loss, output and label in what it returns, or None.
    """

    def __init__(
        self,
        network: Cell,
        train_network: Cell,
        loss_fn: Any,
        optimizer: Any,
        loss_scale_manager: Any,
        metrics: dict[str, Metric],
        eval_network: Cell | None,
        eval_indexes: list | None,
    ) -> None:
        self.network, self.train_network, self.eval_network = network, train_network, eval_network
        self.loss_fn, self.optimizer, self.loss_scale_manager = loss_fn, optimizer, loss_scale_manager
        self.metrics, self.eval_indexes = metrics, eval_indexes

    def train(
        self,
        owner: str,
        epoch: int,
        dataset: Any,
        callbacks: Any,
        initial_epoch: int,
        valid: Any = None,
        frequency: int | list = 1,
        uneven: str | None = None,
        resume: str | None = None,
    ) -> None:
        """Train for some epochs, and evaluate after those that `frequency` names if there is a `valid` dataset."""
        together = self._set_uneven(owner, uneven)
        batches = Batches(dataset, owner, may_be_empty=together, whole=together)
        if resume is None:
            batches.begin_at(initial_epoch, epoch - initial_epoch)
        with interruption.watch() as told, CallbackList(as_list(callbacks)) as all_callbacks:
            ranks = Ranks(all_callbacks.callbacks)
            told.comm = ranks.comm
            run = self.run_facts("train", ranks, batches, all_callbacks)
            run.update(
                train_network=self.train_network,
                train_dataset=dataset,
                train_dataset_element=None,
                epoch_num=epoch - initial_epoch,
                initial_epoch=initial_epoch,
                initial_step=None,
                optimizer=self.optimizer,
                loss_fn=self.loss_fn,
                loss_scale_mananger=self.loss_scale_manager,
                parallel_mode=get_auto_parallel_context("parallel_mode"),
                device_number=_device_number(),
                last_save_ckpt_step=None,
                latest_ckpt_file=None,
                interrupted=False,
                saved_to=None,
            )
            if valid is not None:
                run.valid_dataset = valid
            context = RunContext(run)
            self.train_network.set_train()
            status_file.begin(ranks.rank)
            all_callbacks.on_train_begin(context)
            first, done, over = initial_epoch + 1, 0, False
            if resume is not None:
                first, done, over = resume_run(resume, run)
                batches.resume_at(first - 1 + over, epoch - first + 1 - over, 0 if over else done)
            run.cur_epoch_num, run.epoch_over = first - 1, True
            survival = Survival(run, owner, first, done)
            while True:
                try:
                    self._train_epochs(first, done, over, epoch, batches, run, all_callbacks, context, told, frequency)
                    return
                except Exception as error:
                    if elastic.running() or not rank_has_died(error):
                        raise
                first, done, over = survival.go_back()
                batches = Batches(dataset, owner, may_be_empty=together, whole=together)
                batches.resume_at(first - 1 + over, epoch - first + 1 - over, 0 if over else done)
                told.begin_anew()

    def _train_epochs(
        self,
        first: int,
        done: int,
        over: bool,
        last: int,
        batches: Batches,
        run: CallbackParameters,
        callbacks: CallbackList,
        context: RunContext,
        told: interruption.Watch,
        frequency: int | list,
    ) -> None:
        """Train for the epochs from `first` on, of which `done` steps are done, all of them if it is `over`."""
        for number in range(first, last + 1):
            run.cur_epoch_num, run.epoch_over = number, False
            run.step_in_epoch, run.batches_over, done, over = done, over, 0, False
            self._train_epoch(batches, run, callbacks, context, told)
            valid = run.get("valid_dataset")
            if valid is not None and _is_due(number, frequency) and not run.interrupted:
                with span("evaluation"):
                    self._eval_in_fit(valid, run, callbacks, told)
            if run.interrupted:
                _leave(run, callbacks, context)
            callbacks.on_train_epoch_end(context)
            run.epoch_over = True
            run.pop("metrics", None)
            run.pop("eval_results", None)
            if run.ranks.any(context.get_stop_requested()):
                break
        callbacks.on_train_end(context)

    def _train_epoch(
        self,
        batches: Batches,
        run: CallbackParameters,
        callbacks: CallbackList,
        context: RunContext,
        told: interruption.Watch,
    ) -> None:
        ranks = run.ranks
        self.train_network.set_train()
        callbacks.on_train_epoch_begin(context)
        if run.batches_over:  # before the run was broken off
            return
        uneven = getattr(self.train_network, "uneven", None) == "exact"
        asked = perf_counter()
        for count, batch in enumerate(batches.on_all(ranks, uneven), run.step_in_epoch + 1):
            if batch is not None and self.loss_fn is not None and len(batch) != 2:
                raise ValueError(
                    f"For '{batches.owner}', when 'loss_fn' is given the dataset should return two elements, data and "
                    f"label, but got {len(batch)}."
                )
            came = perf_counter()
            progress.data_seconds += came - asked
            if lanes.on:
                lanes.add("data", "next batch", int(asked * 1e9), int(came * 1e9))
            run.cur_step_num += 1
            run.step_in_epoch = count
            run.batch_num = max(run.batch_num, count)  # an iterable without a length is counted
            run.train_dataset_element = batch
            with span("callbacks", "step begin"):
                callbacks.on_train_step_begin(context)
            run.net_outputs = self.train_network(*batch) if batch is not None else self._idle(run)
            self._update_loss_scale(run.net_outputs)
            _count_step(run, batch)
            with span("callbacks", "step end"):
                callbacks.on_train_step_end(context)
            stop = context.get_stop_requested()
            if ranks.stops_steps:
                stop = ranks.any(stop)
            if stop:
                context.request_stop()
                break
            if told.agreed():
                run.interrupted = True
                break
            asked = perf_counter()
        else:
            run.batches_over = True

    def _set_uneven(self, owner: str, uneven: str | None) -> bool:
        """Tell the training network what gradients are a mean of; return whether ranks may run out of batches."""
        if uneven is None:
            return False
        if not isinstance(self.train_network, TrainOneStepCell):
            raise ValueError(f"For '{owner}', 'uneven' needs a model with an 'optimizer', but it has none.")
        self.train_network.uneven = uneven
        self.train_network._check_idle()
        return self.train_network.session.comm.size > 1

    def _idle(self, run: CallbackParameters) -> Any:
        """Take part in a step without a batch; the loss stays that of the last one, 0 before the first."""
        last = run.get("net_outputs")
        loss = last[0] if isinstance(last, tuple) else last
        return self.train_network.idle_step(Tensor(np.float32(0)) if loss is None else loss)

    def _update_loss_scale(self, outputs: Any) -> None:
        """Tell the manager of the loss scale whether the step overflowed."""
        manager = self.loss_scale_manager
        if manager is not None and manager.get_drop_overflow_update():
            manager.update_loss_scale(bool(np.all(outputs[1].asnumpy())))

    def _eval_in_fit(
        self, dataset: Any, run: CallbackParameters, callbacks: CallbackList, told: interruption.Watch
    ) -> None:
        """Evaluate between two epochs, with the facts of the training run."""
        batches = self.eval_batches(dataset, "Model.fit", run.ranks)
        before = {name: run[name] for name in ("batch_num", "cur_step_num", "mode", "net_outputs")}
        run.update(
            eval_network=self.eval_network,
            valid_dataset=dataset,
            batch_num=batches.size or 0,
            mode="eval",
            cur_step_num=0,
        )
        called = CallbackList([c for c in callbacks.callbacks if not is_ours(c) or c.in_evaluations_of_fit])
        loss = {} if self.eval_indexes is None else {"eval_loss": Loss()}
        position = dataset.state_dict() if goes_on(dataset) else None
        try:
            self.evaluate(batches, run, called, loss, told)
            if run.interrupted and position is not None:
                dataset.load_state_dict(position)  # the resumed run evaluates anew
        finally:
            run.update(before)

    def eval_batches(self, dataset: Any, owner: str, ranks: Ranks) -> Batches:
        """The batches to evaluate; ranks whose layers are not cut read every row of a sharded dataset once."""
        net = self.eval_network
        assert net is not None
        cut = len(net.parameters_broadcast_dict() or ()) < len(net.parameters_dict())
        return Batches(dataset, owner, may_be_empty=ranks.size > 1, whole=ranks.size > 1 and not cut)

    def evaluate(
        self,
        batches: Batches,
        run: CallbackParameters,
        callbacks: CallbackList,
        loss: dict[str, Loss],
        told: interruption.Watch | None = None,
    ) -> dict[str, Any]:
        """Evaluate the metrics, and the loss if there is one, over all ranks; what is interrupted has no results.

        What callbacks enter in `run.during_evaluation` is left when it ends, in whatever way.
        """
        with ExitStack() as run.during_evaluation:
            return self._evaluate(batches, run, callbacks, loss, told)

    def _evaluate(
        self,
        batches: Batches,
        run: CallbackParameters,
        callbacks: CallbackList,
        loss: dict[str, Loss],
        told: interruption.Watch | None,
    ) -> dict[str, Any]:
        for metric in self.metrics.values():
            metric.clear()
        context, net = RunContext(run), self.eval_network
        assert net is not None
        callbacks.on_eval_begin(context)
        net.set_train(False)
        callbacks.on_eval_epoch_begin(context)
        for batch in batches:
            run.cur_step_num += 1
            run.batch_num = max(run.batch_num, run.cur_step_num)
            run.eval_dataset_element = batch
            callbacks.on_eval_step_begin(context)
            run.net_outputs = net(*batch)
            callbacks.on_eval_step_end(context)
            self._update_metrics(run.net_outputs, loss)
            if context.get_stop_requested() or (told is not None and interruption.requested() is not None):
                break
        if told is not None and told.agreed_now():
            run.interrupted = True
            return {}
        callbacks.on_eval_epoch_end(context)
        if run.ranks.size > 1:
            merge_metrics({**self.metrics, **loss}, run.ranks.add, run.ranks.gather)
        run.metrics = {name: metric.eval() for name, metric in self.metrics.items()}
        if loss:
            run.eval_results = {**copy.deepcopy(run.metrics), **{n: metric.eval() for n, metric in loss.items()}}
        callbacks.on_eval_end(context)
        return run.metrics

    def _update_metrics(self, outputs: Any, loss: dict[str, Loss]) -> None:
        if isinstance(outputs, Tensor):
            outputs = (outputs,)
        if not isinstance(outputs, tuple):
            raise ValueError(f"For 'Model.eval', 'eval_network' must return a tuple, but got {type(outputs).__name__}.")
        indexes = self.eval_indexes
        if indexes is not None and len(outputs) < 3:
            raise ValueError(f"For 'Model.eval', 'eval_network' must return 3 outputs or more, but got {len(outputs)}.")
        for metric in (*self.metrics.values(), *loss.values()):
            if indexes is None:
                metric.update(*outputs)
            elif metric.needs_loss:
                metric.update(outputs[indexes[0]])
            else:
                metric.update(outputs[indexes[1]], outputs[indexes[2]])

    def run_facts(self, mode: str, ranks: Ranks, batches: Batches, callbacks: CallbackList) -> CallbackParameters:
        """Return what callbacks are told about every run."""
        return CallbackParameters(
            mode=mode,
            ranks=ranks,
            network=self.network,
            batch_num=batches.size or 0,
            cur_step_num=0,
            dataset_sink_mode=False,
            list_callback=callbacks.callbacks,
        )


def _count_step(run: CallbackParameters, batch: Any) -> None:
    """Tell what is shown of this process from outside."""
    progress.steps += 1
    progress.epoch, progress.epochs = run.cur_epoch_num, run.initial_epoch + run.epoch_num
    progress.batch, progress.batches = run.step_in_epoch, run.batch_num
    first = batch[0] if batch else None
    progress.samples += len(first) if isinstance(first, Tensor) and first.ndim else 0
    if progress.wants_loss:
        progress.wants_loss = False
        loss = number_of(run.net_outputs)
        progress.loss = loss if isinstance(loss, float) else None


def _leave(run: CallbackParameters, callbacks: CallbackList, context: RunContext) -> NoReturn:
    """Have callbacks save and complete what they write, and end the process."""
    callbacks.on_train_interrupted(context)
    callbacks.on_train_end(context)
    interruption.leave(run.saved_to, f"after step {run.cur_step_num} in epoch {run.cur_epoch_num}")


def as_list(callbacks: Any) -> list:
    """Return callbacks as a list."""
    if callbacks is None:
        return []
    if isinstance(callbacks, Callback) or not isinstance(callbacks, Iterable):
        return [callbacks]
    return list(callbacks)


def is_ours(callback: Callback) -> bool:
    """Whether a callback's class is one of dist_ms."""
    return type(callback).__module__.split(".")[0] == "dist_ms"


def _is_due(number: int, frequency: int | list) -> bool:
    """Whether an epoch is followed by an evaluation."""
    return number in frequency if isinstance(frequency, list) else number % frequency == 0


def _device_number() -> int:
    """Return how many ranks train together."""
    if get_auto_parallel_context("parallel_mode") == ParallelMode.STAND_ALONE:
        return 1
    return get_auto_parallel_context("device_num") if is_set("device_num") else get_group_size()
