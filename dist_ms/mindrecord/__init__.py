"""MindRecord: files of rows with an index, as MindSpore writes and reads them."""

from dist_ms.mindrecord.encryption import set_dec_mode, set_enc_key, set_enc_mode
from dist_ms.mindrecord.exceptions import *
from dist_ms.mindrecord.page import MindPage
from dist_ms.mindrecord.reader import FileReader
from dist_ms.mindrecord.status import FAILED, SUCCESS
from dist_ms.mindrecord.writer import FileWriter
