"""Every kind of server by name. One line a kind."""

from __future__ import annotations

from .llama_cpp import LlamaCpp
from .openai import OpenAI
from .sglang import SGLang
from .tensorrt_llm import TensorRTLLM
from .vllm import VLLM

APIS: dict[str, OpenAI] = {api.name: api for api in (VLLM(), LlamaCpp(), SGLang(), TensorRTLLM(), OpenAI())}
