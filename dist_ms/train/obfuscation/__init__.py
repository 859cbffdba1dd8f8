"""Obfuscated weights: checkpoints whose values are changed at random, and networks that compute with them."""

from dist_ms.train.obfuscation.files import obfuscate_ckpt
from dist_ms.train.obfuscation.network import load_obf_params_into_net

__all__ = ["load_obf_params_into_net", "obfuscate_ckpt"]
