"""Model: trains, evaluates and runs a network on a dataset."""

from __future__ import annotations

import logging
import math
from typing import Any

from dist_ms.amp.train_network import BOOST_LEVELS, train_network
from dist_ms.common.checks import (
    check_bool,
    check_choice,
    check_int,
    check_non_negative_int,
    check_number,
    check_positive_int,
    check_string,
    check_type,
)
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell import Cell
from dist_ms.nn.optim.optimizer import Optimizer
from dist_ms.nn.wrap.accumulation_step import accumulation_of
from dist_ms.nn.wrap.loss_cells import WithEvalCell, WithLossCell
from dist_ms.parallel.plan import make_plan
from dist_ms.parallel.servers.roles import is_worker
from dist_ms.train.callback.callback import OLD_MOMENTS, CallbackList
from dist_ms.train.callback.ranks import Ranks
from dist_ms.train.loops import Loops, as_list, is_ours
from dist_ms.train.metrics.by_name import get_metrics

_KEYWORDS = ("loss_scale_manager", "keep_batchnorm_fp32", "boost_config_dict", "acc_level")
_log = logging.getLogger("dist_ms")


class Model:
    """A network with what is needed to train and evaluate it.

    Args:
        network: the network; it returns the loss itself when `loss_fn` is None.
        loss_fn: a Cell or function of (network output, label).
        optimizer: updates the parameters it was made with; None to only evaluate or predict.
        metrics: a set of metric names, or a dict name -> Metric.
        eval_network: a Cell that returns what the metrics need.
        eval_indexes: positions of loss, output and label in the eval network's outputs; without,
            each metric gets all outputs (and `Metric.set_indexes` chooses).
        amp_level: "O0", or a level of mixed precision: "O1", "O2", "O3", "auto".
        boost_level: "O0", or the level of `boost.AutoBoost` that changes network and optimizer: "O1", "O2".
        gradient_accumulation_steps: run each batch in so many parts, one after the other, and update once
            with the mean of their gradients: the step of the whole batch, in less memory. A batch's length
            must be a multiple of it; BatchNorm sees the parts.
        gradient_clip_norm: scale all gradients down together where the norm over all of them is larger.
        kwargs: `loss_scale_manager` and `keep_batchnorm_fp32`, as for `amp.build_train_network`; `boost_config_dict`,
            as for `boost.AutoBoost`.

    Raises:
        TypeError, ValueError, KeyError: for arguments of the wrong form.

    Examples:
        >>> import numpy as np
        >>> import dist_ms as ms
        >>> from dist_ms import nn
        >>> net = nn.Dense(2, 1, weight_init="zeros")
        >>> model = ms.train.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1))
        >>> batches = [(np.ones((4, 2), np.float32), np.ones((4, 1), np.float32))]
        >>> model.train(2, batches)
        >>> print(model.predict(ms.Tensor([[1.0, 1.0]])).shape)
        (1, 1)
    """

    def __init__(
        self,
        network: Cell,
        loss_fn: Any = None,
        optimizer: Any = None,
        metrics: set | dict | None = None,
        eval_network: Cell | None = None,
        eval_indexes: list | None = None,
        amp_level: str = "O0",
        boost_level: str = "O0",
        *,
        gradient_accumulation_steps: int = 1,
        gradient_clip_norm: float | None = None,
        **kwargs: Any,
    ) -> None:
        check_type(network, "network", "Model", Cell)
        self._parts = check_positive_int(gradient_accumulation_steps, "gradient_accumulation_steps", "Model")
        self._clip_norm = gradient_clip_norm
        self._network, self._loss_fn, self._optimizer = network, loss_fn, optimizer
        self._amp_level, self._settings = amp_level, kwargs
        self._loss_scale_manager = kwargs.get("loss_scale_manager")
        self._boost_level = kwargs.get("acc_level", boost_level)
        self._check_settings()
        self._check_gradients()
        eval_network = self._boosted(eval_network)
        train_network = self._build_train_network()
        self._metric_fns = get_metrics(metrics)
        evaluated, indexes = self._build_eval_network(eval_network, eval_indexes)
        self._loops = Loops(
            self._network,
            train_network,
            loss_fn,
            self._optimizer,
            self._loss_scale_manager,
            self._metric_fns,
            evaluated,
            indexes,
        )

    # ---- building
    def _check_settings(self) -> None:
        for key in self._settings:
            if key not in _KEYWORDS:
                raise ValueError(f"For 'Model', a keyword must be one of {', '.join(_KEYWORDS)}, but got '{key}'.")
        if self._loss_fn is not None and not callable(self._loss_fn):
            raise TypeError(f"For 'Model', 'loss_fn' must be a Cell or a function, but got {self._loss_fn!r}.")
        if self._optimizer is not None:
            check_type(self._optimizer, "optimizer", "Model", Optimizer)
        elif self._amp_level != "O0":
            raise ValueError(
                f"For 'Model', 'amp_level' must be 'O0' without an 'optimizer', but got {self._amp_level!r}: mixed "
                "precision would not work. Give an 'optimizer'."
            )
        elif self._loss_scale_manager is not None:
            raise ValueError("For 'Model', 'optimizer' must not be None when a 'loss_scale_manager' is given.")
        check_string(self._boost_level, "boost_level", "Model", list(BOOST_LEVELS))

    def _boosted(self, evaluated: Cell | None) -> Cell | None:
        """Change network and optimizer as the boost level says; return the network to evaluate."""
        if self._boost_level == "O0" or self._optimizer is None:
            return evaluated
        from dist_ms.boost.choice import AutoBoost

        boost = AutoBoost(self._boost_level, self._settings.get("boost_config_dict", ""))
        self._network, self._optimizer = boost.network_auto_process_train(self._network, self._optimizer)
        return None if evaluated is None else boost.network_auto_process_eval(evaluated)

    def _check_gradients(self) -> None:
        """Refuse what gradients cannot be accumulated or clipped with."""
        norm = self._clip_norm
        if norm is not None and not (check_number(norm, "gradient_clip_norm", "Model") > 0 and norm < math.inf):
            raise ValueError(f"For 'Model', 'gradient_clip_norm' must be positive and finite, but got {norm!r}.")
        if self._parts > 1 and accumulation_of(self._network) is not None:
            raise ValueError(
                f"For 'Model', 'gradient_accumulation_steps' must be 1, but got {self._parts}: the network has a "
                "GradAccumulationCell already."
            )
        for name, asked in (
            ("gradient_accumulation_steps", self._parts if self._parts > 1 else None),
            ("gradient_clip_norm", norm),
        ):
            if asked is None:
                continue
            if self._optimizer is None:
                raise ValueError(f"For 'Model', 'optimizer' must not be None with '{name}', but got None.")
            plan = make_plan(self._optimizer.parameters, servers=is_worker())
            served = next((row.name for row in plan.rows if row.gradient == "server"), None)
            if served is not None:
                raise ValueError(
                    f"For 'Model', '{name}' must not be set, but got {asked!r}: a server updates '{served}' with "
                    "each worker's gradient, and there is no gradient of all of them."
                )

    def _build_train_network(self) -> Cell:
        if self._optimizer is None:
            return self._network if self._loss_fn is None else WithLossCell(self._network, self._loss_fn)
        passed = {k: v for k, v in self._settings.items() if k in ("loss_scale_manager", "keep_batchnorm_fp32")}
        passed.update(parts=self._parts, clip_norm=self._clip_norm)
        return train_network(
            self._network, self._optimizer, self._loss_fn, self._amp_level, self._boost_level, **passed
        )

    def _build_eval_network(self, network: Cell | None, indexes: list | None) -> tuple[Cell | None, list | None]:
        if not self._metric_fns:
            return None, None
        if network is not None:
            if indexes is not None and not (isinstance(indexes, list) and len(indexes) == 3):
                raise ValueError(f"For 'Model', 'eval_indexes' must be None or a list of three, but got {indexes}.")
            return network, indexes
        if self._loss_fn is None:
            raise ValueError(
                "For 'Model', if 'metrics' is set, 'eval_network' must not be None: give the model a 'loss_fn', or an "
                "'eval_network' that returns what the metrics need, or set no 'metrics'."
            )
        return WithEvalCell(self._network, self._loss_fn, self._amp_level in ("O2", "O3", "auto")), [0, 1, 2]

    @property
    def train_network(self) -> Cell:
        """The cell that runs one training step."""
        return self._loops.train_network

    @property
    def eval_network(self) -> Cell | None:
        """The cell that runs one evaluation step."""
        return self._loops.eval_network

    @property
    def predict_network(self) -> Cell:
        """The cell that `predict` runs."""
        return self._network

    # ---- training
    def train(
        self,
        epoch: int,
        train_dataset: Any,
        callbacks: Any = None,
        dataset_sink_mode: bool = False,
        sink_size: int = -1,
        initial_epoch: int = 0,
        uneven: str | None = None,
        resume: str | None = None,
    ) -> None:
        """Train for some epochs.

        Args:
            epoch: the number of the last epoch.
            train_dataset: a dataset, or any iterable of batches (tuples of Tensors or NumPy arrays);
                with a `loss_fn`, of (data, label).
            callbacks: one Callback or a list. Ranks may have different ones.
            dataset_sink_mode: accepted; on the CPU batches are never sunk.
            sink_size: accepted; belongs to `dataset_sink_mode`.
            initial_epoch: the number of epochs trained already.
            uneven: what the ranks' gradients are averaged to, with `gradients_mean=True`. None: the mean
                of the ranks' means; all have the same number of batches. "exact": the mean over all
                samples, for a loss that is the mean over the samples of a batch: ranks may have
                batches of different sizes, and different numbers of them; those that have none
                left take part until the last one has finished its epoch. A dataset with `num_shards`
                then repeats no row to make the shards of one length.
            resume: go on from the newest state in this folder, which a RunCheckpoint saved, or start anew
                where there is none. On as many ranks as before the weights are bit-equal to those of a run
                that never stopped; on another number no row of an epoch is missed or repeated.

        Raises:
            TypeError: for arguments of the wrong type.
            ValueError: for numbers out of range, an empty dataset, or ranks whose datasets differ in length.
        """
        self._check_run("Model.train", epoch, dataset_sink_mode, sink_size, initial_epoch, resume)
        self._loops.train("Model.train", epoch, train_dataset, callbacks, initial_epoch, uneven=uneven, resume=resume)

    def fit(
        self,
        epoch: int,
        train_dataset: Any,
        valid_dataset: Any = None,
        valid_frequency: int | list = 1,
        callbacks: Any = None,
        dataset_sink_mode: bool = False,
        valid_dataset_sink_mode: bool = False,
        sink_size: int = -1,
        initial_epoch: int = 0,
        uneven: str | None = None,
        resume: str | None = None,
    ) -> None:
        """Train, and evaluate the metrics and the loss after some of the epochs.

        Callbacks find the results in `eval_results` at the end of such an epoch: the metrics, and
        "eval_loss", the mean loss over all batches of all ranks.

        Args:
            epoch: as for `train`.
            train_dataset: as for `train`.
            valid_dataset: evaluated; None: only train.
            valid_frequency: evaluate after every so many epochs, or after the epochs in this list.
            callbacks: as for `train`. During the evaluation only those of classes outside of
                dist_ms, and TimeMonitor, are called.
            dataset_sink_mode: accepted, as for `train`.
            valid_dataset_sink_mode: accepted, as for `train`.
            sink_size: as for `train`.
            initial_epoch: as for `train`.
            uneven: as for `train`.
            resume: as for `train`.

        Raises:
            TypeError: for arguments of the wrong type.
            ValueError: as for `train`; if there are no metrics; if a callback has methods of the older
                names, which would be called for both training and evaluation.
        """
        check_bool(valid_dataset_sink_mode, "valid_dataset_sink_mode", "Model.fit")
        self._check_run("Model.fit", epoch, dataset_sink_mode, sink_size, initial_epoch, resume)
        if not isinstance(valid_frequency, (int, list)):
            found = type(valid_frequency).__name__
            raise TypeError(f"For 'Model.fit', 'valid_frequency' must be an int or a list, but got {found}.")
        if valid_dataset is not None and not self._metric_fns:
            raise ValueError("For 'Model.fit', 'metrics' of the model must not be empty when 'valid_dataset' is given.")
        for callback in as_list(callbacks):
            old = [m for m in OLD_MOMENTS if m in vars(type(callback))]
            if old and not is_ours(callback):
                raise ValueError(
                    f"For 'Model.fit', {type(callback).__name__} must not define {', '.join(old)}: name them "
                    "on_train_... or on_eval_..., to say for which of the two they are."
                )
        self._loops.train(
            "Model.fit", epoch, train_dataset, callbacks, initial_epoch, valid_dataset, valid_frequency, uneven, resume
        )

    @staticmethod
    def _check_run(owner: str, epoch: Any, sink: Any, sink_size: Any, initial_epoch: Any, resume: Any) -> None:
        check_bool(sink, "dataset_sink_mode", owner)
        check_int(sink_size, "sink_size", owner)
        check_positive_int(epoch, "epoch", owner)
        check_non_negative_int(initial_epoch, "initial_epoch", owner)
        if resume is not None:
            check_string(resume, "resume", owner)
            if initial_epoch:
                raise ValueError(
                    f"For '{owner}', 'initial_epoch' must be 0 with 'resume', which knows the epoch, but got "
                    f"{initial_epoch}."
                )
        if initial_epoch >= epoch:
            raise ValueError(
                f"For '{owner}', 'epoch' must be above 'initial_epoch', but got {epoch} and {initial_epoch}."
            )
        if sink_size < -1 or sink_size == 0:
            raise ValueError(f"For '{owner}', 'sink_size' must be -1 or positive, but got {sink_size}.")

    # ---- evaluation
    def eval(self, valid_dataset: Any, callbacks: Any = None, dataset_sink_mode: bool = False) -> dict[str, Any]:
        """Evaluate the metrics on a dataset.

        In a data-parallel job every rank calls this with its shard, which may be smaller than others'
        or empty; the results are those over the batches of all ranks, equal on every rank. A dataset
        with `num_shards` repeats no row here to make the shards of one length (it does where the model
        has parameters that are `layerwise_parallel`, as ranks then need equal numbers of batches).

        Args:
            valid_dataset: a dataset or any iterable of batches.
            callbacks: one Callback or a list.
            dataset_sink_mode: accepted; on the CPU batches are never sunk.

        Returns:
            A dict metric name -> value.

        Raises:
            TypeError: for arguments of the wrong type.
            ValueError: if the model has no metrics or the dataset is empty.
        """
        check_bool(dataset_sink_mode, "dataset_sink_mode", "Model.eval")
        if not self._metric_fns:
            raise ValueError(
                "For 'Model.eval', 'metrics' of the model must not be empty: you should set the argument 'metrics'."
            )
        with CallbackList(callbacks) as all_callbacks:
            ranks = Ranks(all_callbacks.callbacks)
            batches = self._loops.eval_batches(valid_dataset, "Model.eval", ranks)
            run = self._loops.run_facts("eval", ranks, batches, all_callbacks)
            run.update(eval_network=self._loops.eval_network, valid_dataset=valid_dataset)
            return self._loops.evaluate(batches, run, all_callbacks, {})

    # ---- the rest
    def predict(self, *predict_data: Any, backend: str | None = None, config: dict | None = None) -> Any:
        """Run the network in inference mode.

        Args:
            predict_data: its inputs: Tensors, None, int, float or str.
            backend: None, or "lite", which in MindSpore asks for another engine where there is one.
            config: accepted; belongs to `backend`.

        Returns:
            What the network returns.

        Raises:
            TypeError: for an input of another type.
            ValueError: for an empty Tensor or another backend.
            RuntimeError: if the network returns None.
        """
        check_choice(backend, "backend", "Model.predict", (None, "lite"))
        if backend == "lite":
            _log.warning("Model.predict: there is no lite backend here, the network itself runs.")
        for item in predict_data:
            if isinstance(item, Tensor) and item.size == 0:
                raise ValueError("For 'Model.predict', the input data can not be empty, but a Tensor has no element.")
            check_type(item, "predict_data", "Model.predict", (Tensor, type(None), int, float, str, bool))
        self._network.set_train(False)
        result = self._network(*predict_data)
        if result is None:
            raise RuntimeError("For 'Model.predict', the network must return something, but got None.")
        return result

    def build(
        self,
        train_dataset: Any = None,
        valid_dataset: Any = None,
        sink_size: int = -1,
        epoch: int = 1,
        sink_mode: bool = True,
    ) -> None:
        """Check the networks before training: parameter names must be unique.

        Args:
            train_dataset: check the training network.
            valid_dataset: check the evaluation network.
            sink_size: accepted, as for `train`.
            epoch: accepted.
            sink_mode: accepted.

        Raises:
            ValueError: if no dataset is given or two parameters have one name.
            RuntimeError: if there is a `valid_dataset` but there are no metrics.
        """
        check_positive_int(epoch, "epoch", "Model.build")
        if train_dataset is None and valid_dataset is None:
            raise ValueError("For 'Model.build', 'train_dataset' or 'valid_dataset' must be given, but both are None.")
        if train_dataset is not None:
            self._loops.train_network.check_names()
        if valid_dataset is not None:
            net = self._loops.eval_network
            if not self._metric_fns or net is None:
                raise RuntimeError("For 'Model.build', 'metrics' of the model must be set with 'valid_dataset'.")
            net.check_names()
