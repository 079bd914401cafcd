"""llama.cpp's own HTTP server, out of the wheel `xllamacpp`: serve.py MODEL PORT SETTINGS, the last as JSON.

Prints its address when it listens, and runs until a signal.
"""

import json
import signal
import sys

import xllamacpp

model, port, settings = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3])
params = xllamacpp.CommonParams()
params.model.path = model
params.model_alias = {settings["alias"]}
params.hostnames = ["127.0.0.1"]
params.port = port
params.n_ctx = settings["context"]
params.n_parallel = settings["parallel"]
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
params.endpoint_metrics = True
params.endpoint_slots = True
params.use_jinja = True
if settings["embeds"]:
    params.embedding = True
    params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
signal.sigwait({signal.SIGTERM, signal.SIGINT})
