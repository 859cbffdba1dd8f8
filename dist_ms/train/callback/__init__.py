"""Callbacks of Model.train, Model.fit and Model.eval."""

import typing as _typing

from dist_ms.common.late_names import late_names as _late_names

if _typing.TYPE_CHECKING:
    from dist_ms.train.callback._checkpoint import CheckpointConfig
    from dist_ms.train.callback.backup_and_restore import BackupAndRestore
    from dist_ms.train.callback.callback import Callback, CallbackList, CallbackParameters, RunContext

    # The names by which MindSpore's own tests know these.
    from dist_ms.train.callback.callback import CallbackList as _CallbackManager
    from dist_ms.train.callback.callback import CallbackParameters as _InternalCallbackParam
    from dist_ms.train.callback.checkpoint_files import CheckpointFiles
    from dist_ms.train.callback.checkpoint_files import CheckpointFiles as _CheckpointManager
    from dist_ms.train.callback.early_stopping import EarlyStopping
    from dist_ms.train.callback.history import History
    from dist_ms.train.callback.lambda_callback import LambdaCallback
    from dist_ms.train.callback.learning_rate_scheduler import LearningRateScheduler
    from dist_ms.train.callback.loss_monitor import LossMonitor
    from dist_ms.train.callback.model_checkpoint import ModelCheckpoint
    from dist_ms.train.callback.on_request_exit import OnRequestExit
    from dist_ms.train.callback.progress.progress_bar import ProgressBar
    from dist_ms.train.callback.reduce_lr_on_plateau import ReduceLROnPlateau
    from dist_ms.train.callback.run_checkpoint import RunCheckpoint
    from dist_ms.train.callback.time_monitor import TimeMonitor
    from dist_ms.train.fault_tolerance import TrainFaultTolerance
    from dist_ms.train.flops_collector import FlopsUtilizationCollector

__all__ = [
    "BackupAndRestore",
    "Callback",
    "CheckpointConfig",
    "EarlyStopping",
    "FlopsUtilizationCollector",
    "History",
    "LambdaCallback",
    "LearningRateScheduler",
    "LossMonitor",
    "ModelCheckpoint",
    "OnRequestExit",
    "ProgressBar",
    "ReduceLROnPlateau",
    "RunCheckpoint",
    "RunContext",
    "TimeMonitor",
    "TrainFaultTolerance",
]

_late_names(__name__)
