"""The commented `gate.toml` that `draftgate init` prints. Text only: read at every start."""

from __future__ import annotations

_HEAD = """\
# Two arms of {what}: plain decoding, and the same model with speculation.
# Both must be alike in all but speculation: weights, precision, context, template.
# `draftgate doctor gate.toml` tells what each arm offers.
"""
_LAUNCHING = """\
# launching = "in turn"                 # where both do not fit beside each other: one is up at a time, launched A B B A
"""
_ARM = """
[{arm}]
server = "{server}"
url = "{url}"           # or a list of urls: a pool of replicas
# model = "NAME"                        # needed where the server lists several
{own}
# tokenizer = "FOLDER"                  # for a server without token ids: they are then made from its texts
# key_env = "NAME_OF_A_VARIABLE"        # the variable that holds the key; the key itself stands in no file
# ca_file = "authority.pem"             # for https with a certificate of your own
deadline_s = 120                        # one request, from its sending to its end
concurrency = {concurrency}                         # requests under way at once
"""
_LAUNCH = """
[{arm}.launch]                     # leave this table out to use a server that already runs
argv = [
{argv}
]{env}
limit_s = {limit}                           # until it must be ready
grace_s = 20                            # between `stop` and its end by force
stop = "SIGTERM"
# relaunches = 1                        # how often one run launches it anew where it was lost; that is told
"""
_OWN = {
    "baseline": """logprobs = 20                           # best tokens told at each place: answers are scored by them
eos = [2]                               # ids that end an answer: eos_token_id of the model's generation_config.json""",
    "candidate": "draft_length = 4                        # tokens drafted in a round, at most",
}
_ENV = {"vllm": '\nenv = { VLLM_SERVER_DEV_MODE = "1" }    # lets its configuration be read and its cache be reset'}
_COMMANDS = {
    "vllm": (
        "vllm serve MODEL --served-model-name model --host 127.0.0.1 --port {port} --dtype float32 --max-num-seqs 8",
        ("--speculative-config", '{"method": "ngram", "num_speculative_tokens": 4, "prompt_lookup_max": 4}'),
    ),
    "llama_cpp": (
        "llama-server -m MODEL.gguf --host 127.0.0.1 --port {port} -c 4096 -np 1 --metrics --props --offline",
        ("-md", "DRAFT.gguf", "--spec-type", "draft-simple", "--spec-draft-n-max", "4"),
    ),
    "sglang": (
        "python -m sglang.launch_server --model-path MODEL --host 127.0.0.1 --port {port} --enable-metrics",
        ("--speculative-algorithm", "NGRAM", "--speculative-num-draft-tokens", "4"),
    ),
    "tensorrt_llm": (
        "trtllm-serve MODEL --host 127.0.0.1 --port {port}",
        ("--extra_llm_api_options", "speculation.yaml"),
    ),
}
SERVERS = {
    "vllm": "vLLM",
    "llama_cpp": "llama.cpp",
    "sglang": "SGLang",
    "tensorrt_llm": "TensorRT-LLM",
    "openai": "any OpenAI-compatible server",
}
NAMES = tuple(SERVERS)
_PORTS = {"baseline": 8101, "candidate": 8102}
_CONCURRENCY = 8
_LIMIT_S = 300  # a large model is read from a disk in minutes


def template(server: str) -> str:
    """A configuration of both arms that says what to fill in."""
    parts = [_HEAD.format(what=SERVERS[server]), *([_LAUNCHING] if server in _COMMANDS else [])]
    for arm, port in _PORTS.items():
        url = f"http://127.0.0.1:{port}"
        parts.append(_ARM.format(arm=arm, server=server, url=url, own=_OWN[arm], concurrency=_CONCURRENCY))
        if server in _COMMANDS:
            plain, speculation = _COMMANDS[server]
            words = [*plain.format(port=port).split(), *(speculation if arm == "candidate" else ())]
            parts.append(_LAUNCH.format(arm=arm, argv=_argv(words), env=_ENV.get(server, ""), limit=_LIMIT_S))
    return "".join(parts)


def _argv(words: list[str]) -> str:
    """The words of a command, a line for each of its flags."""
    text = ""
    for word in words:
        quote = "'" if '"' in word else '"'
        text += ("\n  " if word.startswith("-") or not text else " ") + f"{quote}{word}{quote},"
    return text.removeprefix("\n")
