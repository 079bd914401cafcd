"""What Python makes of the OpenAPI documents: its own validator of them, and its own regular expressions."""

import re

from openapi_schema_validator import OAS31Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from scenarios import play


def validate(document):
    """What is wrong with the document, one text for each error."""
    return [
        f"{'/'.join(str(step) for step in error.absolute_path)}: {error.message}"
        for error in OpenAPIV31SpecValidator(document).iter_errors()
    ]


def check(given):
    """What of the value is not as the schema of the document says that the reference leads to."""
    schema = {**given["document"], "$ref": given["reference"]}
    errors = OAS31Validator(schema).iter_errors(given["value"])
    return [f"{'/'.join(str(step) for step in error.absolute_path)}: {error.message}" for error in errors]


def match(given):
    """For each pattern, which of the texts it finds itself in; a pattern that does not compile is a failure."""
    patterns = [re.compile(pattern) for pattern in given["patterns"]]
    return [[pattern.search(text) is not None for text in given["texts"]] for pattern in patterns]


if __name__ == "__main__":
    play({"validate": validate, "check": check, "match": match})
