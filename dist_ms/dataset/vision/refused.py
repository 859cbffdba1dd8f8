"""What needs a decoder of video; using one of these raises an error."""

from __future__ import annotations

from typing import Any, NoReturn

from dist_ms.common.refusing import refused

_LACKS = "has no decoder of video"
_REMEDY = "Read the frames with OpenCV's VideoCapture or PyAV in a dataset of your own."

DecodeVideo = refused("DecodeVideo", _LACKS, _REMEDY)
VideoDecoder = refused("VideoDecoder", _LACKS, _REMEDY)


def read_video(filename: str, start_pts: Any = 0, end_pts: Any = None, pts_unit: str = "pts") -> NoReturn:
    """Refuse: dist_ms has no decoder of video.

    Raises:
        NotImplementedError: always.
    """
    raise NotImplementedError(f"'read_video' is not available: dist_ms {_LACKS}. {_REMEDY}")


def read_video_timestamps(filename: str, pts_unit: str = "pts") -> NoReturn:
    """Refuse: dist_ms has no decoder of video.

    Raises:
        NotImplementedError: always.
    """
    raise NotImplementedError(f"'read_video_timestamps' is not available: dist_ms {_LACKS}. {_REMEDY}")
