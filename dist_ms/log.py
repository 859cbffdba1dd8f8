"""Messages of scripts, as `mindspore.log` gives them out: through Python's logging, to standard error.

The level is taken from the environment variable GLOG_v when this module loads: 0 debug, 1 info,
2 warning (the default), 3 error, 4 critical.
"""

from __future__ import annotations

import logging

from dist_ms.common.settings.environment import LOG_LEVEL

_LEVELS = {
    "0": logging.DEBUG,
    "1": logging.INFO,
    "2": logging.WARNING,
    "3": logging.ERROR,
    "4": logging.CRITICAL,
}
_level = LOG_LEVEL if LOG_LEVEL in _LEVELS else "2"


def _logger() -> logging.Logger:
    logger = logging.getLogger("mindspore")
    if not logger.handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(
            logging.Formatter("[%(levelname)s] ME(%(process)d):%(asctime)s [%(pathname)s:%(lineno)d] %(message)s")
        )
        logger.addHandler(handler)
        logger.propagate = False
    logger.setLevel(_LEVELS[_level])
    return logger


def get_level() -> str:
    """The level, as GLOG_v says it.

    Examples:
        >>> from dist_ms import log
        >>> log.get_level() in ("0", "1", "2", "3", "4")
        True
    """
    return _level


def get_log_config() -> dict[str, str]:
    """The settings of logging that are in effect.

    Examples:
        >>> from dist_ms import log
        >>> log.get_log_config()["GLOG_logtostderr"]
        '1'
    """
    return {"GLOG_v": _level, "GLOG_logtostderr": "1"}


def debug(msg: str, *args: object, **kwargs: object) -> None:
    """Log at level 0."""
    _logger().debug(msg, *args, stacklevel=2, **kwargs)


def info(msg: str, *args: object, **kwargs: object) -> None:
    """Log at level 1."""
    _logger().info(msg, *args, stacklevel=2, **kwargs)


def warning(msg: str, *args: object, **kwargs: object) -> None:
    """Log at level 2."""
    _logger().warning(msg, *args, stacklevel=2, **kwargs)


def error(msg: str, *args: object, **kwargs: object) -> None:
    """Log at level 3."""
    _logger().error(msg, *args, stacklevel=2, **kwargs)


def critical(msg: str, *args: object, **kwargs: object) -> None:
    """Log at level 4."""
    _logger().critical(msg, *args, stacklevel=2, **kwargs)
