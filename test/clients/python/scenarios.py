"""Plays scenarios for the tests: each line of stdin is {"scenario": ..., "input": {...}}, each line of stdout what it
gave, {"result": ...} or {"failure": ...}. One process serves a whole test file, since importing an SDK takes seconds; its
first line, {"result": "ready"}, says that this is done."""

import json
import sys
import traceback


def play(scenarios):
    out, sys.stdout = sys.stdout, sys.stderr  # What a package prints is not an answer.
    print(json.dumps({"result": "ready"}), file=out, flush=True)
    for line in sys.stdin:
        given = json.loads(line)
        try:
            answer = {"result": scenarios[given["scenario"]](given["input"])}
        except Exception:
            answer = {"failure": traceback.format_exc()}
        print(json.dumps(answer), file=out, flush=True)
