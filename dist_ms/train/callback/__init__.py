"""Callbacks of Model.train, Model.fit and Model.eval."""

from dist_ms.train.callback._checkpoint import CheckpointConfig
from dist_ms.train.callback.backup_and_restore import BackupAndRestore
from dist_ms.train.callback.callback import Callback, CallbackList, CallbackParameters, RunContext
from dist_ms.train.callback.checkpoint_files import CheckpointFiles
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

# The names by which MindSpore's own tests know these.
_CallbackManager = CallbackList
_CheckpointManager = CheckpointFiles
_InternalCallbackParam = CallbackParameters

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
